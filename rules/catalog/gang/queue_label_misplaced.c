/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports queue names in a place where Kueue or KAI does not read them. Kueue
 * manages the owner and ignores the labels of its pods. Before 0.15 it read an
 * annotation if the label was missing (kubernetes-sigs/kueue#7271). For a
 * CronJob it manages the Jobs, which get only the labels of their template
 * (kubernetes pkg/controller/cronjob/utils.go, copyLabels).
 */
#include "engine/rule.h"

static const char label[] = "kueue.x-k8s.io/queue-name";

static void check_metadata(struct rule_run *run, const struct object *object,
			   const struct node *at, const char *who,
			   const char *where)
{
	struct finding *f = report_object(
		run, object, at,
		"if %s manages this kind, it reads the queue name from a label of the %s, not from %s",
		who, object->kind, where);

	finding_at_key(run, f, at);
}

/* True for a CronJob whose Jobs lack the label. */
static bool is_unqueued_cron_job(const struct object *object)
{
	return object_is(object, "batch", "CronJob") && !object->kueue &&
	       !object->parent;
}

static const char kai_label[] = "kai.scheduler/queue";

/* Reports a queue in an annotation, because KAI's scheduler reads it only from
 * labels of the owner and of the pod
 * (pkg/podgrouper/podgrouper/plugins/defaultgrouper, CalcPodGroupQueue;
 * 72de64fc). */
static void check_kai(struct rule_run *run, const struct pod *pod)
{
	const struct object *object = pod->object;
	const struct node *at = pod_annotation(pod, kai_label);

	if (!at)
		at = object_annotation(object, kai_label);
	if (!at || pod_label(pod, kai_label) ||
	    object_label(object, kai_label) || object->parent ||
	    !node_eq(pod_field(pod, "schedulerName"), "kai-scheduler"))
		return;
	finding_at_key(
		run,
		report_pod(
			run, pod, at,
			"KAI reads the queue from a label, not from an annotation: the pods get its default queue"),
		at);
}

static void check(struct rule_run *run, const struct object *object)
{
	const struct node *annotation = object_annotation(object, label);

	if (is_unqueued_cron_job(object) && object_label(object, label)) {
		finding_at_key(
			run,
			report_object(
				run, object, object_label(object, label),
				"the Jobs that the CronJob creates do not get this label"),
			object_label(object, label));
		return;
	}
	if (object->kueue || object->parent ||
	    !object_kind_has(object, KIND_QUEUED) ||
	    object_label(object, label) ||
	    node_count(node_path(object->root, "metadata.ownerReferences")))
		return;
	if (annotation) {
		check_metadata(run, object, annotation, "Kueue 0.15 or later",
			       "an annotation");
		return;
	}
	FOR_EACH_POD(object, pod)
		if (pod_label(pod, label) &&
		    !pod_label(pod, "kueue.x-k8s.io/pod-group-name")) {
			check_metadata(run, object, pod_label(pod, label),
				       "Kueue", "its pod template");
			return;
		}
}

const struct rule rule_queue_label_misplaced = {
	.name = "queue-label-misplaced",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.flags = RULE_ABSENCE,
	.summary =
		"a queue name in a place where Kueue or KAI does not read it",
	.why = "The job does not belong to the queue: it starts at once, outside the quota, is never admitted, or gets the default queue of KAI.",
	.remedy =
		"Set the queue name as a label in metadata.labels of the object, or in spec.jobTemplate.metadata.labels of a CronJob. For KAI, set it as a label of the object or of the pod template.",
	.evidence = "https://kueue.sigs.k8s.io/docs/tasks/run/jobs/",
	.check_object = check,
	.check_pod = check_kai,
};
