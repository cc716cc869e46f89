/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An elastic job may start with fewer. Volcano replaces 0 by the sum of the
 * tasks' own minimums: pkg/webhooks/admission/jobs/mutate/mutate_job.go.
 */
#include <inttypes.h>

#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/operators/kubeflow.h"

/* The ranks of one program: MPI, PyTorch, TensorFlow. */
static bool has_ranks(const struct object *object)
{
	const struct node *plugins = node_path(object->root, "spec.plugins");

	if (object_is_kubeflow(object))
		return node_is_unset(
			node_path(object->root, "spec.elasticPolicy"));
	return object_is(object, "batch.volcano.sh", "Job") &&
	       (node_get(plugins, "pytorch") || node_get(plugins, "mpi") ||
		node_get(plugins, "tensorflow"));
}

/* Of Volcano's tasks: pods that must run at least, and where one has fewer. */
static struct amount least_of_tasks(const struct object *object,
				    const struct node **at)
{
	struct amount sum = {0};

	*at = NULL;
	FOR_EACH_POD(object, pod) {
		const struct node *least = node_get(pod->group, "minAvailable");
		struct amount n = pod->steady;

		if (!node_is_unset(least))
			n = amount_min(n, amount_int(least, 0));
		if (n.n < pod->steady.n && !*at)
			*at = least;
		sum = amount_add(sum, n);
	}
	return sum;
}

static void check(struct rule_run *run, const struct object *object)
{
	bool kubeflow = object_is_kubeflow(object);
	const struct node *at = node_path(
		object->root,
		kubeflow ? "spec.runPolicy.schedulingPolicy.minAvailable"
			 : "spec.minAvailable");
	struct amount least = amount_int(at, 0), all = {0};

	if (!has_ranks(object) || !object_gpu_pod(object))
		return;
	if (!kubeflow && !least.n && !least.unknown)
		least = least_of_tasks(object, &at);
	FOR_EACH_POD(object, pod)
		all = amount_add(all, pod->steady);
	if (node_is_unset(at) || all.unknown || least.unknown ||
	    least.n >= all.n)
		return;
	report_object(run, object, at,
		      "the gang starts with %" PRId64 " of %" PRId64
		      " pods, which wait for the others",
		      least.n, all.n);
}

const struct rule rule_gang_min_below_replicas = {
	.name = "gang-min-below-replicas",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW,
	.wants = FACT_GPU,
	.wants_any = FACT_KUBEFLOW | FACT_VOLCANO,
	.since = "1.0",
	.summary = "a gang that starts before all of its ranks fit",
	.why = "The ranks that start wait for the others at the rendezvous, and hold their GPUs meanwhile.",
	.remedy =
		"Set the minimum to the number of pods, or remove it, which has the same effect.",
	.evidence =
		"https://volcano.sh/docs/vcjob/; https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/job-scheduling/",
	.check_object = check,
};
