/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A comment or annotation that suppressed nothing.
 * Reported by the engine itself while it reads a file; there is nothing to
 * check here.
 */
#include "engine/rule.h"

const struct rule rule_suppression_unused = {
	.name = "suppression-unused",
	.category = "input",
	.severity = SEVERITY_WARNING,
	.flags = RULE_INTERNAL,
	.since = "1.0",
	.summary = "a suppression matches no finding",
	.why = "It would hide the next real finding at this place.",
	.remedy = "Remove the comment or the annotation.",
	.evidence =
		"eslint reportUnusedDisableDirectives, https://docs.astral.sh/ruff/rules/unused-noqa/",
};
