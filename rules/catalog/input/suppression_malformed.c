/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports a suppression with an unknown rule, a bad date or no reason. The
 * engine makes the check when all rules have checked the file.
 */
#include "engine/rule.h"

const struct rule rule_suppression_malformed = {
	.name = "suppression-malformed",
	.category = "input",
	.severity = SEVERITY_WARNING,
	.flags = RULE_INTERNAL,
	.summary =
		"a suppression that cannot be parsed, names an unknown rule or has no reason",
	.why = "A suppression with a misspelled rule name or a bad date hides fewer findings than its author intends. One without a reason still hides them, but does not say why.",
	.remedy =
		"Write `# gpugate: ignore[RULE] until=YYYY-MM-DD -- REASON`; `until` is optional.",
	.evidence = "grammar of suppression comments",
};
