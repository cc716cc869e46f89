/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports text that readers of Kubernetes manifests understand differently. The
 * engine makes the check while it reads a file.
 */
#include "engine/rule.h"

const struct rule rule_reader_disagreement = {
	.name = "reader-disagreement",
	.category = "input",
	.severity = SEVERITY_WARNING,
	.flags = RULE_INTERNAL,
	.summary =
		"kubectl or another program reads this text differently, or drops part of it",
	.why = "kubectl, Helm, kustomize and Argo CD split and parse files differently: one applies an object that another drops.",
	.remedy =
		"Write the text so that all programs read the same: write each --- alone on its line, and only one document between two of them.",
	.evidence =
		"https://github.com/kubernetes/apimachinery/tree/master/pkg/util/yaml; https://github.com/kubernetes/cli-runtime/tree/master/pkg/resource",
};
