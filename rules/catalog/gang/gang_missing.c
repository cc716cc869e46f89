/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports objects whose pods need each other (gang.c) without a gang scheduler.
 * Jobs with parameter servers (TFJob) are skipped, because their workers do not
 * wait for one another. Pods of a Job or a JobSet may be independent, so the
 * message about them says "if".
 */
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"

/* Returns "16 GPU pods", or for an elastic job "at least 4 of 16 GPU pods". If
 * only the pods of one group need each other, returns "16 GPU pods in groups of
 * up to 4". */
static const char *title(struct rule_run *run, const struct object *object,
			 int64_t pods)
{
	struct arena *arena = rule_arena(run);
	const char *device = object_device(object);

	if (object->gang.unknown || object->gang.n >= pods)
		return arena_printf(arena, "%s %s pods", rule_number(run, pods),
				    device);
	if (!node_is_unset(node_path(object->root, "spec.elasticPolicy")))
		return arena_printf(arena, "at least %s of %s %s pods",
				    rule_number(run, object->gang.n),
				    rule_number(run, pods), device);
	return arena_printf(arena, "%s %s pods in groups of up to %s",
			    rule_number(run, pods), device,
			    rule_number(run, object->gang.n));
}

static void check(struct rule_run *run, const struct object *object)
{
	struct amount pods = object_gpu_pods(object);

	if (object->gang_kind != GANG_NEEDED || object->gang.n < 2 ||
	    pods.unknown || pods.n < 2 || object_is_queued(object) ||
	    object->pods_inferred || object_has_role(object, "PS"))
		return;
	report_object(run, object, NULL,
		      object->class == KIND_BATCH
			      ? "if %s need each other and no scheduler starts "
				"all or none of them, some can hold their %ss "
				"and wait"
			      : "%s need each other: if no scheduler starts "
				"all or none of them, some can hold their %ss "
				"and wait",
		      title(run, object, pods.n), object_device(object));
}

const struct rule rule_gang_missing = {
	.name = "gang-missing",
	.category = "gang",
	.severity = SEVERITY_INFO,
	.summary =
		"pods that need each other, without a scheduler that starts all or none of them",
	.why = "When GPUs are short, some pods start, hold their GPUs and wait for the others: two such jobs can deadlock.",
	.remedy =
		"Submit the job to a queue or a gang scheduler: set the label kueue.x-k8s.io/queue-name or a schedulingPolicy, or use Volcano.",
	.evidence =
		"https://github.com/kubeflow/trainer/issues/948; https://github.com/kubernetes-sigs/kueue/issues/2796",
	.check_object = check,
};
