/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports GPU workloads without a queue, in the namespaces that the policy
 * lists. The rule is off without a list. If Kueue does not manage objects of a
 * kind, it manages their pods by the pods' labels. A LocalQueue `default` takes
 * objects without a queue.
 */
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/purpose/purpose.h"

static void check(struct rule_run *run, const struct object *object)
{
	const char *namespaces = rule_param(run, "namespaces");
	const struct pod *pod = object_gpu_pod(object);

	if (!*namespaces || !pod || object->parent || object->kueue ||
	    object->class == KIND_TEMPLATE || object->class == KIND_DAEMON ||
	    (!object_kind_has(object, KIND_QUEUED) &&
	     pod_label(pod, "kueue.x-k8s.io/queue-name")) ||
	    !pod_in_namespaces(rule_arena(run), pod, namespaces))
		return;
	report_object(
		run, object, NULL,
		"%s names no Kueue queue, but the policy requires one for GPU work in namespace `%s`",
		rule_title(run, object->kind, object->name), object->namespace);
}

static const struct rule_param params[] = {
	{"namespaces", "string", "",
	 "namespaces in which Kueue queues GPU work: NAME,... (a name may end in *)"},
	{0},
};

const struct rule rule_queue_bypass = {
	.name = "queue-bypass",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_PARAM,
	.flags = RULE_PREVIEW | RULE_ABSENCE,
	.scope = GPU_PODS,
	.summary = "GPU work that bypasses the queue of its namespace",
	.why = "Unless the namespace has a LocalQueue `default`, the work runs outside the queue's quota and fair share, and others wait for GPUs that the queue counts as free.",
	.remedy =
		"Add the label kueue.x-k8s.io/queue-name to the object, or to spec.jobTemplate.metadata.labels of a CronJob.",
	.evidence =
		"https://kueue.sigs.k8s.io/docs/tasks/manage/enforce_job_management/manage_jobs_without_queue_name/",
	.params = params,
	.check_object = check,
};
