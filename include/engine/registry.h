/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All rules, sorted by name; generated from the files of rules/catalog. The
 * engine does not refer to this list; the programs pass it in. Also the custom
 * rules of a policy.
 */
#ifndef ENGINE_REGISTRY_H
#define ENGINE_REGISTRY_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "engine/rule.h"

extern const struct rule *const all_rules[];
extern const size_t all_rules_count;

struct rule_set {
	/* Built-in rules sorted by name, followed by `added` custom rules of a
	 * policy's files in any order. A built-in rule has the same index in
	 * all sets. */
	const struct rule *const *items;
	size_t n, added;
	/* An entry for each kind that a custom rule checks, sorted by hash. */
	const struct rule_kind *kinds;
	size_t nkinds;
};

struct rule_kind {
	uint64_t hash; /* hash of the kind's name; 0 for rules of all kinds */
	unsigned rule;
};
/* Returns the custom rules that name this kind in rule.kinds; if kind is NULL,
 * those that check all kinds. Sets *n to their number. A rule may occur twice
 * in a row. */
const struct rule_kind *rule_set_of_kind(const struct rule_set *rules,
					 const char *kind, size_t *n);

/* Readers of the files listed in `custom:`, by kind; ends with NULL. */
struct custom_reader;
extern const struct custom_reader *const custom_readers[];

/* Returns the index of a rule by name or alias; -1 if there is none. */
int rule_set_find(const struct rule_set *rules, const char *name);
/* Returns the nearest name for "did you mean", or NULL. */
const char *rule_set_nearest(const struct rule_set *rules, const char *name);

/*
 * The tests of custom rules (kind Rules, in the files listed in a policy's
 * `custom:`), and their export as ValidatingAdmissionPolicies.
 */

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
