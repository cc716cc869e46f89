/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports Jobs that request more or fewer TPUs than their multi-host slice has.
 * A slice of several hosts is one node pool, which one Job uses completely: one
 * pod on each host, with all of its chips. A single host has at most 8 chips (4
 * for topologies with three dimensions); pods may share them.
 */
#include <stdlib.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"

enum { CHIPS_MAX = 1 << 20 };

/* Returns the number of chips of `8x8` or `4x4x8`; 0 if one host may have all
 * of them, or the text is not a topology. */
static int64_t chips_of_hosts(const char *text)
{
	int64_t chips = 1;
	int sides = 0;

	for (const char *at = text; at; sides++) {
		char *end;
		long side = strtol(at, &end, 10);

		if (end == at || side < 1 || side > CHIPS_MAX || sides > 2 ||
		    (*end && *end != 'x'))
			return 0;
		chips *= side;
		if (chips > CHIPS_MAX)
			return 0;
		at = *end ? end + 1 : NULL;
	}
	return chips > (sides == 3 ? 4 : 8) ? chips : 0;
}

static bool has_tpus_alone(const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		if (c->accelerator &&
		    !text_eq(c->accelerator->vendor, "google"))
			return false;
	return pod->gpus.n > 0 && !pod->gpus.unknown;
}

/* Returns how many pods of one Job run at the same time. */
static struct amount pods_of_job(const struct node *job)
{
	const struct node *completions = node_get(job, "completions");
	struct amount n = amount_int(node_get(job, "parallelism"), 1);

	return node_is_unset(completions)
		       ? n
		       : amount_min(n, amount_int(completions, 1));
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *at = node_get(pod->node_selector,
					 "cloud.google.com/gke-tpu-topology");
	const struct node *job = pod_job_spec(pod);
	int64_t chips = chips_of_hosts(node_str(at));
	struct amount pods;

	/* A training runtime has no replicas: the TrainJob that uses it sets
	 * them. */
	if (!chips || !job || !pod->steady.n || !has_tpus_alone(pod) ||
	    pod_annotation(pod, "cloud.google.com/gke-tpu-slice-topology"))
		return;
	pods = pods_of_job(job);
	if (pods.unknown || !pods.n || pods.n * pod->gpus.n == chips)
		return;
	report_pod(run, pod, at,
		   "a slice of `%s` has %s, but the %s of %s request%s %s",
		   node_str(at), rule_count(run, chips, "TPU"),
		   rule_count(run, pods.n, "pod"),
		   object_is_job(pod->object) ? "the Job" : "each Job",
		   pods.n == 1 ? "s" : "",
		   rule_number(run, pods.n * pod->gpus.n));
}

const struct rule rule_tpu_slice_mismatch = {
	.name = "tpu-slice-mismatch",
	.category = "scheduling",
	.severity = SEVERITY_WARNING,
	.summary =
		"a Job requests more or fewer TPUs than its multi-host slice has",
	.why = "All hosts of a slice start together. With too few pods, they wait for each other; with too many, some stay Pending.",
	.remedy =
		"Set parallelism and completions to the number of hosts, and google.com/tpu to the number of chips per host.",
	.evidence =
		"https://cloud.google.com/kubernetes-engine/docs/how-to/tpu-multislice; https://cloud.google.com/kubernetes-engine/docs/concepts/plan-tpus",
	.check_pod = check,
};
