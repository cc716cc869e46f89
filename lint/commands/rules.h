/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rule as JSON, the same in `gpugate rules` and `gpugate explain`.
 */
#ifndef LINT_RULES_H
#define LINT_RULES_H

#include <jansson.h>

#include "engine/rule.h"

#include "lint/settings/policies.h"

/* Loads the rules of the policy of the current folder, including custom ones;
 * release the policies afterward. Returns 0, or 2 after messages with only the
 * built-in rules. */
int rules_here(struct policies *policies, struct options *options,
	       struct rule_set *rules);
/* Adds the text of `gpugate explain --format markdown`. */
void explain_markdown(struct buf *out, const struct rule *rule);
/* Makes a new object; its strings are copies. */
json_t *rule_json(const struct rule *rule);
/* Appends the JSON and a line end; takes over the reference. */
void add_json(struct buf *out, json_t *json);

#endif
