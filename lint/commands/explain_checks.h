/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LINT_COMMANDS_EXPLAIN_CHECKS_H
#define LINT_COMMANDS_EXPLAIN_CHECKS_H

#include <jansson.h>

#include "base/buf.h"
#include "engine/rule.h"

/* Adds each check of the rule with the caller's function. */
void explain_checks(struct buf *out, const struct rule *rule,
		    void (*add)(struct buf *out, const char *id,
				const char *text));
json_t *explain_checks_json(const struct rule *rule);

#endif
