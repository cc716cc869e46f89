/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kueue pkg/controller/jobframework/tas_validation.go: it asks if they are
 * there, whatever they say. On by default since 0.14.
 */
#include "engine/rule.h"

static const char *const keys[] = {
	"kueue.x-k8s.io/podset-required-topology",
	"kueue.x-k8s.io/podset-preferred-topology",
	"kueue.x-k8s.io/podset-unconstrained-topology",
};

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *first = NULL;

	if (!pod->object->kueue || !pod->steady.n)
		return;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const struct node *at = node_get(pod->annotations, keys[i]);

		if (node_is_unset(at) || node_is_unknown(at))
			continue;
		if (first) {
			report_pod(run, pod, at,
				   "Kueue refuses pods with `%s` beside `%s`",
				   at->key, first->key);
			return;
		}
		first = at;
	}
}

const struct rule rule_kueue_topology_twice = {
	.name = "kueue-topology-twice",
	.category = "gang",
	.severity = SEVERITY_ERROR,
	.wants = FACT_ANNOTATED,
	.since = "1.0",
	.summary = "pods with two of Kueue's requests for a topology",
	.why = "The webhook of Kueue rejects the object: they exclude each other.",
	.remedy = "Keep one of the annotations.",
	.evidence =
		"https://github.com/kubernetes-sigs/kueue/blob/main/pkg/controller/jobframework/tas_validation.go",
	.check_pod = check,
};
