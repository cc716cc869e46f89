/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kueue also validates a Job without a queue. It checks the topology of pods of
 * other kinds, and Ray clusters, only in a queue.
 */
#include "base/text.h"
#include "engine/rejections.h"
#include "engine/rule.h"

static bool names_kueue(const struct node *map)
{
	FOR_EACH_CHILD(map, child)
		if (text_starts(child->key, "kueue.x-k8s.io/"))
			return true;
	return false;
}

static void check_object(struct rule_run *run, const struct object *object)
{
	const struct node *metadata = node_get(object->root, "metadata");

	if (text_eq(object->group, kueue_rejections.group) ||
	    names_kueue(node_get(metadata, "labels")) ||
	    names_kueue(node_get(metadata, "annotations")))
		rule_check_rejections(run, object);
}

static void check_pod(struct rule_run *run, const struct pod *pod)
{
	bool validated =
		pod->object->kueue || object_is(pod->object, "batch", "Job");

	if (validated && pod->steady.n && names_kueue(pod->annotations))
		rule_check_pod_rejections(run, pod);
}

static const char *const aliases[] = {"kueue-topology-twice",
				      "kueue-unsupported-shape", NULL};

const struct rule rule_kueue_rejects = {
	.name = "kueue-rejects",
	.category = "gang",
	.severity = SEVERITY_ERROR,
	.flags = RULE_ABSENCE,
	.since = "1.0",
	.aliases = aliases,
	.summary = "a job, a queue or a flavor that Kueue rejects",
	.why = "The webhooks of Kueue reject jobs whose annotations exclude each other, and queues whose quotas contradict each other.",
	.remedy = "Change or remove the field that the message names.",
	.evidence =
		"https://github.com/kubernetes-sigs/kueue/tree/ff69552e79ad21652c36caa97038382e55625cf7/pkg/webhooks; https://github.com/kubernetes-sigs/kueue/tree/ff69552e79ad21652c36caa97038382e55625cf7/pkg/controller/jobframework",
	.rejections = &kueue_rejections,
	.check_pod = check_pod,
	.check_object = check_object,
};
