/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports InferenceServices and LLMInferenceServices that KServe rejects, by
 * the table in rules/engine/rejections/kserve.c.
 */
#include "engine/rule.h"

const struct rule rule_kserve_rejects = {
	.name = "kserve-rejects",
	.category = "serving",
	.severity = SEVERITY_ERROR,
	.flags = RULE_ABSENCE,
	.summary =
		"an InferenceService or LLMInferenceService that KServe rejects",
	.why = "The webhook of KServe rejects the object.",
	.evidence =
		"https://github.com/kserve/kserve/blob/v0.20.0/pkg/apis/serving/v1beta1/inference_service_validation.go; https://github.com/kserve/kserve/blob/v0.20.0/pkg/apis/serving/v1beta1/component.go",
	.rejections = &kserve_rejections,
	.check_object = rule_check_rejections,
};
