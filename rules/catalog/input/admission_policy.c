/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports an object that fails a validation of the cluster's
 * ValidatingAdmissionPolicies. The finding is an error, a warning or an info
 * for a binding with Deny, Warn or Audit. The engine makes the check
 * (rules/engine/admission_policy).
 */
#include "engine/rule.h"

const struct rule rule_admission_policy = {
	.name = "admission-policy",
	.category = "input",
	.severity = SEVERITY_ERROR,
	.flags = RULE_INTERNAL | RULE_LOCKED,
	.summary =
		"the object fails a validation of the cluster's own admission policies",
	.why = "The API server checks every object against its ValidatingAdmissionPolicies and rejects an object that fails a validation bound with Deny. If the binding has Warn or Audit, the object is accepted, and the finding is a warning or an info.",
	.remedy =
		"Change the field that the policy checks, or ask the policy's owner for a binding that excludes the object.",
	.evidence =
		"https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/",
};
