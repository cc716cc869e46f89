/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ValidatingAdmissionPolicy of the cluster refuses the object. Judged by the
 * engine itself (rules/engine/admission_policy); there is nothing to check
 * here.
 */
#include "engine/rule.h"

const struct rule rule_admission_policy = {
	.name = "admission-policy",
	.category = "input",
	.severity = SEVERITY_ERROR,
	.flags = RULE_INTERNAL | RULE_LOCKED,
	.since = "1.0",
	.summary = "the cluster's own admission policies refuse the object",
	.why = "The API server judges every object by its ValidatingAdmissionPolicies: what fails a validation that is bound with Deny is not created.",
	.remedy =
		"Change what the policy names, or ask its owner for a binding that leaves the object out.",
	.evidence =
		"https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/",
};
