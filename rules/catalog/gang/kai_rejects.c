/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports pods that KAI-Scheduler rejects:
 * pkg/binder/plugins/gpusharing/gpu-request at 0192ad9a, ValidateGpuRequests();
 * its webhook checks only pods that name its scheduler (pod_validator.go).
 */
#include "engine/rule.h"

#define ANNOTATIONS "self.?metadata.annotations.orValue({})"
#define SET(name)   ANNOTATIONS "[?'" name "'].orValue('') != ''"
#define MATCHES(name, pattern)                                                 \
	"!(" SET(name) ") || " ANNOTATIONS "['" name                           \
		       "'].matches('[$<{]|" pattern "')"
#define WHOLE                                                                      \
	"(self.spec.containers + self.spec.?initContainers.orValue([])).exists(c," \
	" c.?resources.limits[?'nvidia.com/gpu'].hasValue())"

static const struct rejection items[] = {
	REJECTION("fraction-and-gpu", NULL, "metadata.annotations.gpu-fraction",
		  "!(" SET("gpu-fraction") " && " WHOLE ")",
		  "'it has the annotation `gpu-fraction` and a limit of"
		  " nvidia.com/gpu'"),
	REJECTION(
		"memory-and-gpu", NULL, "metadata.annotations.gpu-memory",
		"!(" SET("gpu-memory") " && " WHOLE ")",
		"'it has the annotation `gpu-memory` and a limit of nvidia.com/gpu'"),
	REJECTION("fraction-and-memory", NULL,
		  "metadata.annotations.gpu-fraction",
		  "!(" SET("gpu-fraction") " && " SET("gpu-memory") ")",
		  "'it has both annotations `gpu-fraction` and `gpu-memory`'"),
	REJECTION(
		"devices-alone", NULL,
		"metadata.annotations.gpu-fraction-num-devices",
		"!(" SET(
			"gpu-fraction-num-devices") ") || " ANNOTATIONS
						    ".exists(k, k != 'gpu-fraction-num-devices' &&"
						    " k.matches('fraction|gpu-memory'))",
		"'`gpu-fraction-num-devices` is set without a fraction'"),
	REJECTION(
		"fraction-range", NULL, "metadata.annotations.gpu-fraction",
		"!(" SET(
			"gpu-fraction") ") || (double(" ANNOTATIONS
					"['gpu-fraction']) > 0.0 && double(" ANNOTATIONS
					"['gpu-fraction']) < 1.0)",
		"'`gpu-fraction` is ' + " ANNOTATIONS
		"['gpu-fraction'] + ', not between 0 and 1'"),
	REJECTION(
		"fraction-number", NULL, "metadata.annotations.gpu-fraction",
		MATCHES("gpu-fraction",
			"^[+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$"),
		"'`gpu-fraction` is not a decimal number'"),
	REJECTION("memory-number", NULL, "metadata.annotations.gpu-memory",
		  MATCHES("gpu-memory", "^0*[1-9][0-9]*$"),
		  "'`gpu-memory` is not a positive whole number of MiB'"),
	REJECTION(
		"devices-number", NULL,
		"metadata.annotations.gpu-fraction-num-devices",
		MATCHES("gpu-fraction-num-devices", "^0*[1-9][0-9]*$"),
		"'`gpu-fraction-num-devices` is not a positive whole number'"),
	{0},
};

static const struct rejections rejections = {
	.by = "the KAI webhook",
	NULL,
	NULL,
	items,
	.component = OPERATOR_KAI,
};

static void check(struct rule_run *run, const struct pod *pod)
{
	if (node_eq(node_get(pod->spec, "schedulerName"), "kai-scheduler"))
		rule_check_pod_rejections(run, pod);
}

const struct rule rule_kai_rejects = {
	.name = "kai-rejects",
	.category = "gang",
	.severity = SEVERITY_ERROR,
	.flags = RULE_ABSENCE,
	.since = "1.0",
	.summary = "annotations of a GPU share that KAI rejects",
	.why = "The webhook of the KAI scheduler rejects pods that request both a share and a whole GPU, a share in two ways, or an invalid share.",
	.remedy = "Request the GPU in one way only.",
	.evidence =
		"https://github.com/kai-scheduler/KAI-Scheduler/blob/0192ad9a539ffaa6d65837104ab57fd40894a0b3/pkg/binder/plugins/gpusharing/gpu-request/gpu_request_validator.go",
	.rejections = &rejections,
	.check_pod = check,
};
