/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports a suppression that the policy does not allow. The engine makes the
 * check when all rules have checked the file.
 */
#include "engine/rule.h"

const struct rule rule_suppression_refused = {
	.name = "suppression-refused",
	.category = "input",
	.severity = SEVERITY_WARNING,
	.flags = RULE_INTERNAL,
	.summary = "a suppression that the policy does not allow",
	.why = "The finding still counts. The policy locks the rule, does not grant the annotation in `suppressions:`, or denies the object at admission, where comments are not visible.",
	.remedy =
		"Ask the owners of the policy to allow the suppression, or fix the manifest.",
	.evidence = "gpugate-policy(5), suppressions and locked",
};
