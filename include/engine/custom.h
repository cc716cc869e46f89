/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tests of custom rules (kind Rules, in the files listed in a policy's
 * `custom:`), and their export as ValidatingAdmissionPolicies.
 */
#ifndef ENGINE_CUSTOM_H
#define ENGINE_CUSTOM_H

#include <stddef.h>

#include "base/buf.h"
#include "engine/rule.h"

/* finding.check of a finding about an expression of the rule that fails. */
#define CUSTOM_ERROR "evaluation error"

/* An entry of a rule's `tests:`: the lines of a file where the rule must report
 * a finding. */
struct custom_test {
	const char *file;     /* path as written, relative to `from` */
	const char *from;     /* file that contains the rule */
	unsigned line;	      /* line of the entry in from */
	const unsigned *want; /* expected lines, ascending */
	size_t n;
};
/* Sets *tests to a rule's tests and returns their number; 0 for built-in
 * rules. */
size_t custom_tests(const struct rule *rule, const struct custom_test **tests);

struct setting;
/*
 * Appends the rule as a ValidatingAdmissionPolicy and its binding, two
 * documents. Returns false if the API server cannot express it; *why is the
 * reason, in the arena.
 */
bool custom_export(struct arena *arena, const struct rule *rule,
		   const struct setting *setting, struct buf *out,
		   const char **why);

#endif
