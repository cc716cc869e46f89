/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports a suppression past its date. The engine makes the check when all
 * rules have checked the file.
 */
#include "engine/rule.h"

const struct rule rule_suppression_expired = {
	.name = "suppression-expired",
	.category = "input",
	.severity = SEVERITY_WARNING,
	.flags = RULE_INTERNAL,
	.summary = "a suppression whose `until` date has passed",
	.why = "The suppression no longer has any effect.",
	.remedy = "Fix the manifest, or renew the date with a reason.",
	.evidence = "until= of the suppression itself",
};
