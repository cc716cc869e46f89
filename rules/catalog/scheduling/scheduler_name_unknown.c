/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Off until the policy lists the schedulers. Volcano gives the pods of a Job
 * the scheduler of the Job (pkg/controllers/job/job_controller_util.go).
 */
#include "base/text.h"
#include "engine/rule.h"

static const struct node *scheduler(const struct pod *pod)
{
	const struct node *own = pod_field(pod, "schedulerName");

	if (!node_is_unset(own) ||
	    !object_is(pod->object, "batch.volcano.sh", "Job"))
		return own;
	return node_path(pod->object->root, "spec.schedulerName");
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const char *known = rule_param(run, "schedulers");
	const struct node *at = scheduler(pod);

	if (!*known || !node_str(at) || !*node_str(at) ||
	    pod_uses_gpu(pod) != TRI_YES ||
	    !strcmp(node_str(at), "default-scheduler") ||
	    text_lists(known, node_str(at)))
		return;
	report_pod(run, pod, at, "the site runs no scheduler `%s`",
		   node_str(at));
}

static const struct rule_param params[] = {
	{"schedulers", "string", "",
	 "names of the site's schedulers, NAME,..."},
	{0},
};

const struct rule rule_scheduler_name_unknown = {
	.name = "scheduler-name-unknown",
	.category = "scheduling",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_PARAM,
	.flags = RULE_PREVIEW,
	.since = "1.0",
	.summary = "a pod names a scheduler that the site does not run",
	.why = "No scheduler handles the pod: it stays Pending without an event.",
	.remedy = "Name one of the schedulers of the cluster.",
	.evidence =
		"https://kubernetes.io/docs/tasks/extend-kubernetes/configure-multiple-schedulers/",
	.params = params,
	.check_pod = check,
};
