/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports pods, and workloads in the steady state, with more accelerators than
 * the policy allows. The rule is off until the policy sets a number. A
 * LimitRange cannot set such a limit for extended resources.
 */
#include "engine/rule.h"

static void check(struct rule_run *run, const struct object *o)
{
	int64_t pod_max = rule_param_int(run, "pod");
	int64_t max = rule_param_int(run, "workload");

	FOR_EACH_POD(o, pod)
		if (rule_param_given(run, "pod") && pod->gpus.n > pod_max)
			report_pod(
				run, pod, NULL,
				"a pod requests %s; the policy allows at most %s",
				rule_count(run, pod->gpus.n, "accelerator"),
				rule_number(run, pod_max));
	if (rule_param_given(run, "workload") && !o->parent && o->gpus.n > max)
		report_object(run, o, NULL,
			      "%s requests %s; the policy allows at most %s",
			      rule_title(run, o->kind, o->name),
			      rule_count(run, o->gpus.n, "accelerator"),
			      rule_number(run, max));
}

static const struct rule_param params[] = {
	{"pod", "int", "",
	 "maximum number of accelerators that a pod may request"},
	{"workload", "int", "",
	 "maximum number of accelerators that a workload may request"},
	{0},
};

const struct rule rule_gpu_count_max = {
	.name = "gpu-count-max",
	.category = "quota",
	.severity = SEVERITY_ERROR,
	.needs = NEEDS_PARAM,
	.summary =
		"more accelerators than the policy allows for a pod or a workload",
	.why = "Without a maximum, one workload can take the accelerators that were meant for many.",
	.remedy =
		"Request fewer accelerators, or ask for a larger maximum in the policy.",
	.evidence = "the site's own policy",
	.params = params,
	.check_object = check,
};
