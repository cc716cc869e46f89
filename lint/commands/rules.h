/* SPDX-License-Identifier: Apache-2.0 */
/* Rules as JSON, in the form of `gpugate rules` and `gpugate explain`. */
#ifndef LINT_RULES_H
#define LINT_RULES_H

#include <jansson.h>

#include "engine/rule.h"

#include "lint/settings/policies.h"

/* Loads the rules of the current folder's policy, including custom ones; the
 * caller releases the policies. Returns 0; or 2 after messages, with only the
 * built-in rules. */
int rules_here(struct policies *policies, struct options *options,
	       struct rule_set *rules);
/* Adds the text of `gpugate explain --format markdown`. */
void explain_markdown(struct buf *out, const struct rule *rule);
/* Makes a new JSON object with copies of the texts. */
json_t *rule_json(const struct rule *rule);
/* Appends the JSON and a newline, and releases the reference. */
void add_json(struct buf *out, json_t *json);

#endif
