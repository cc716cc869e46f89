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
	.since = "1.0",
	.summary = "a suppression that the policy does not grant",
	.why = "The finding still counts: admission honors an annotation only if the policy's `suppressions:` grant it, and never sees comments.",
	.remedy =
		"Ask the owners of the policy to grant it, or fix the manifest.",
	.evidence = "gpugate-policy(5), suppressions and locked",
};
