/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports queues and PodGroups of KAI and Volcano on pods of the default
 * scheduler. KAI and Volcano handle only pods with their schedulerName, and
 * their webhooks do not set it. Operators may set it for their kinds, so only
 * native kinds and JobSets are checked and, for KAI, also LeaderWorkerSets
 * (their operator knows only Volcano and Kubernetes: lws 09c433b8
 * pkg/schedulerprovider/interface.go) and Kubeflow's jobs. The latter are an
 * info, because their operator may have been started with a scheduler. Source:
 * kai-scheduler pkg/podgrouper/pod_controller.go (pods of another scheduler are
 * filtered out); volcano pkg/controllers/podgroup/pg_controller.go (filter by
 * schedulerNames).
 */
#include "base/array.h"
#include "base/text.h"
#include "engine/rule.h"

static const struct {
	const char *key, *scheduler;
	bool annotation, group;
} queues[] = {
	{"kai.scheduler/queue", "kai-scheduler", false, false},
	{"scheduling.volcano.sh/queue-name", "volcano", true, false},
	{"scheduling.k8s.io/group-name", "volcano", true, true},
};

/* Returns the annotation of the pod, or the label of the pod or its object,
 * that names the queue or PodGroup; NULL if there is none. */
static const struct node *queue_of(const struct pod *pod, size_t i)
{
	const struct node *at;

	if (queues[i].annotation)
		return pod_annotation(pod, queues[i].key);
	at = pod_label(pod, queues[i].key);
	return at ? at : object_label(pod->object, queues[i].key);
}

/* True if the operator of the kind cannot set the scheduler of this queue. */
static bool keeps_scheduler(const struct object *object, size_t i)
{
	return object_kind_has(object, KIND_NATIVE) ||
	       object_is(object, "jobset.x-k8s.io", "JobSet") ||
	       (text_eq(queues[i].scheduler, "kai-scheduler") &&
		object_is(object, "leaderworkerset.x-k8s.io",
			  "LeaderWorkerSet"));
}

/* True for kinds whose operator sets a scheduler only if it was started with
 * --gang-scheduler-name (training-operator 1.9 pkg/controller.v1/pytorch/
 * pytorchjob_controller.go; mpi-operator 0.8.2 pkg/controller/podgroup.go). */
static bool is_kubeflow(const struct object *object)
{
	return text_eq(object->group, "kubeflow.org") &&
	       text_ends(object->kind, "Job");
}

static bool is_default(const struct node *scheduler)
{
	return node_is_unset(scheduler) || node_eq(scheduler, "") ||
	       node_eq(scheduler, "default-scheduler");
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct object *object = pod->object;
	const struct node *scheduler = pod_field(pod, "schedulerName");

	if (object->parent || !is_default(scheduler))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(queues); i++) {
		const struct node *queue = queue_of(pod, i);
		bool kai = text_eq(queues[i].scheduler, "kai-scheduler");
		bool keeps = keeps_scheduler(object, i);
		struct finding *f;

		if (!node_str(queue) ||
		    (!keeps && !(kai && is_kubeflow(object))))
			continue;
		f = report_pod(
			run, pod, queue,
			queues[i].group
				? "PodGroup `%s` has no effect on pods of the default scheduler: unless something sets `schedulerName`, they start one by one"
				: "queue `%s` has no effect on pods of the default scheduler: unless something sets `schedulerName`, they start outside its quota",
			node_str(queue));
		if (!keeps)
			finding_severity(f, SEVERITY_INFO);
		finding_help(run, f, "Set `schedulerName: %s`.",
			     queues[i].scheduler);
		return;
	}
}

const struct rule rule_queue_without_scheduler = {
	.name = "queue-without-scheduler",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.flags = RULE_ABSENCE,
	.scope = GPU_PODS | PODSPEC,
	.summary =
		"a queue or PodGroup of KAI or Volcano on pods of the default scheduler",
	.why = "The default scheduler places the pods one by one, without a gang or a quota, and the queue counts their GPUs as free.",
	.remedy = "Set schedulerName to the scheduler of the queue.",
	.evidence =
		"https://github.com/NVIDIA/KAI-Scheduler/tree/main/docs/queues; https://volcano.sh/en/docs/podgroup/",
	.check_pod = check,
};
