/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports a comment or annotation that suppressed nothing. The engine makes the
 * check when all rules have checked the file.
 */
#include "engine/rule.h"

const struct rule rule_suppression_unused = {
	.name = "suppression-unused",
	.category = "input",
	.severity = SEVERITY_WARNING,
	.flags = RULE_INTERNAL,
	.summary = "a suppression matches no finding",
	.why = "The suppression would hide a later finding at this place.",
	.remedy = "Remove the comment or the annotation.",
	.evidence =
		"eslint reportUnusedDisableDirectives, https://docs.astral.sh/ruff/rules/unused-noqa/",
};
