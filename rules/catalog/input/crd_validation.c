/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports a custom resource that the validation rules of its definition reject.
 * The engine makes the check (rules/engine/admission_policy).
 */
#include "engine/rule.h"

const struct rule rule_crd_validation = {
	.name = "crd-validation",
	.category = "input",
	.severity = SEVERITY_ERROR,
	.flags = RULE_INTERNAL | RULE_LOCKED,
	.summary =
		"a custom resource breaks a validation rule of its definition",
	.why = "The API server rejects a custom resource for which a rule of x-kubernetes-validations is false.",
	.remedy = "Change the fields that the validation rule checks.",
	.evidence =
		"https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-rules",
};
