/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text that readers of Kubernetes manifests understand differently.
 * Reported by the engine itself while it reads a file; there is nothing to
 * check here.
 */
#include "engine/rule.h"

const struct rule rule_reader_disagreement = {
	.name = "reader-disagreement",
	.category = "input",
	.severity = SEVERITY_WARNING,
	.flags = RULE_INTERNAL,
	.since = "1.0",
	.summary = "kubectl reads this text differently, or drops part of it",
	.why = "kubectl, Helm, kustomize and Argo CD split and parse files differently: one applies an object that another drops.",
	.remedy =
		"Write the text so that all readers agree: one document per chunk, and --- alone on its line.",
	.evidence =
		"https://github.com/kubernetes/apimachinery/tree/master/pkg/util/yaml; https://github.com/kubernetes/cli-runtime/tree/master/pkg/resource",
};
