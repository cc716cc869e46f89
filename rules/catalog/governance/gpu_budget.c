/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports runs that may use more GPU hours than the site allows. The rule is
 * off until the policy sets the hours; runs without a deadline are not counted.
 * All roles of a job have the same deadline and count as one run.
 */
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"

/* Returns the GPUs of all roles that have the pod's deadline; 0 if they are
 * counted with an earlier role. */
static struct amount gpus_of_run(const struct pod *pod,
				 const struct node *deadline)
{
	struct amount all = {0};
	bool counted = false;

	/* Each Job of a JobSet has its own deadline and pods. */
	if (node_get(pod_job_spec(pod), "activeDeadlineSeconds") == deadline)
		return amount_mul(pod->steady, pod->gpus);
	FOR_EACH_POD(pod->object, other) {
		struct amount n = amount_mul(other->steady, other->gpus);

		if (!n.n || pod_run_deadline(other) != deadline)
			continue;
		if (other == pod)
			counted = true;
		else if (!counted)
			return (struct amount){0};
		all = amount_add(all, n);
	}
	return all;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	int64_t most = rule_param_int(run, "hours");
	const struct node *deadline = most < 1 ? NULL : pod_run_deadline(pod);
	struct amount gpus;
	int64_t seconds;

	if (!node_int(deadline, &seconds) || seconds < 1)
		return;
	gpus = gpus_of_run(pod, deadline);
	if (gpus.unknown || gpus.n < 1 || seconds > INT64_MAX / gpus.n ||
	    most > INT64_MAX / 3600 || gpus.n * seconds <= most * 3600)
		return;
	report_pod(
		run, pod, deadline,
		"the run may use up to %s (%s for %s s), but the budget is %s",
		rule_count(run, (gpus.n * seconds - 1) / 3600 + 1, "GPU hour"),
		rule_count(run, gpus.n, pod_device(pod)),
		rule_number(run, seconds), rule_count(run, most, "GPU hour"));
}

static const struct rule_param params[] = {
	{"hours", "int", "", "GPU hours that one run may use"},
	{0},
};

const struct rule rule_gpu_budget = {
	.name = "gpu-budget",
	.category = "governance",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_PARAM,
	.flags = RULE_PREVIEW,
	.summary = "a run that may use more GPU hours than the site allows",
	.why = "A run this long can cost more GPU hours than the site allows; a run that hangs holds its GPUs until its deadline.",
	.remedy =
		"Lower the deadline or the number of GPUs, or ask for a larger budget.",
	.evidence = "https://www.opencost.io/docs/specification",
	.params = params,
	.check_pod = check,
};
