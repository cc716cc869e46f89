/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports gangs that start before there are resources for all of their ranks.
 * An elastic job may start with fewer pods. If the launcher of the ranks is
 * unknown, the job may be elastic, and the finding is an info. Volcano replaces
 * a minimum of 0 by the sum of the tasks' minimums
 * (pkg/webhooks/admission/jobs/mutate/mutate_job.go).
 */
#include <string.h>

#include "engine/rule.h"
#include "kube/command/parallel.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/operators.h"
#include "kube/purpose/purpose.h"

/* True for ranks of a program that waits for all of them: MPI, PyTorch, JAX.
 * TensorFlow workers of a parameter server do not wait for each other. */
static bool has_ranks(const struct object *object)
{
	const struct node *plugins;

	if (object_is_kubeflow(object))
		return strcmp(object->kind, "TFJob") != 0 &&
		       strcmp(object->kind, "MXJob") != 0 &&
		       strcmp(object->kind, "XGBoostJob") != 0 &&
		       strcmp(object->kind, "PaddleJob") != 0 &&
		       node_is_unset(
			       node_path(object->root, "spec.elasticPolicy"));
	if (!object_is(object, "batch.volcano.sh", "Job"))
		return false;
	plugins = node_path(object->root, "spec.plugins");
	return node_get(plugins, "pytorch") || node_get(plugins, "mpi");
}

/* True for a rank. A task without devices is a launcher or a monitor, which
 * Volcano's guide of the MPI plugin, and mpi-operator#608, exclude from the
 * minimum. */
static bool is_rank(const struct pod *pod)
{
	return pod_uses_gpu(pod) == TRI_YES && !pod_is_infrastructure(pod);
}

/* True if a command can run with fewer ranks, because of `--nnodes=2:4` or
 * `--min-np`, or if its number of nodes is unknown. */
static bool may_be_elastic(const struct object *object)
{
	FOR_EACH_POD(object, pod)
		FOR_EACH_CONTAINER(pod, c) {
			struct parallel_list list = container_parallel(c);

			for (size_t i = 0; i < list.n; i++) {
				const struct degree *nodes =
					&list.items[i].degrees[DEGREE_NODES];

				if (nodes->given &&
				    (nodes->unknown || nodes->n != nodes->max))
					return true;
				if (list.items[i].type == PARALLEL_MPI &&
				    list.items[i].spread)
					return true;
			}
		}
	return false;
}

/* True if the launcher of the ranks is known. A script may start fewer. */
static bool has_launcher(const struct object *object)
{
	FOR_EACH_POD(object, pod)
		FOR_EACH_CONTAINER(pod, c)
			if (container_parallel(c).n)
				return true;
	return false;
}

/*
 * Returns the sum of minAvailable over the tasks of a Volcano Job that run
 * ranks. Sets *at to the first minAvailable that is below the number of pods of
 * its task, else to NULL.
 */
static struct amount least_of_tasks(const struct object *object,
				    const struct node **at)
{
	struct amount sum = {0};

	*at = NULL;
	FOR_EACH_POD(object, pod) {
		const struct node *least = node_get(pod->group, "minAvailable");
		struct amount n = pod->steady;

		if (!is_rank(pod))
			continue;
		if (!node_is_unset(least))
			n = amount_min(n, amount_int(least, 0));
		if (n.n < pod->steady.n && !*at)
			*at = least;
		sum = amount_add(sum, n);
	}
	return sum;
}

static void report(struct rule_run *run, const struct object *object,
		   const struct node *at, int64_t least, int64_t all)
{
	bool known = has_launcher(object);
	struct finding *f = report_object(
		run, object, at,
		known ? "the gang may start with %s of %s with devices, which then wait for the others"
		      : "the gang may start with %s of %s with devices: if the program is not elastic, these wait for the others",
		rule_number(run, least), rule_count(run, all, "pod"));

	if (!known)
		finding_severity(f, SEVERITY_INFO);
}

static void check(struct rule_run *run, const struct object *object)
{
	bool kubeflow = object_is_kubeflow(object);
	struct amount least, all = {0};
	const struct node *at;

	if (!has_ranks(object) || !object_gpu_pod(object) ||
	    may_be_elastic(object))
		return;
	at = node_path(object->root,
		       kubeflow ? "spec.runPolicy.schedulingPolicy.minAvailable"
				: "spec.minAvailable");
	least = amount_int(at, 0);
	if (!kubeflow && !least.n && !least.unknown)
		least = least_of_tasks(object, &at);
	FOR_EACH_POD(object, pod)
		if (is_rank(pod))
			all = amount_add(all, pod->steady);
	if (node_is_unset(at) || all.unknown || least.unknown ||
	    least.n >= all.n)
		return;
	report(run, object, at, least.n, all.n);
}

const struct rule rule_gang_min_below_replicas = {
	.name = "gang-min-below-replicas",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW | RULE_ABSENCE,
	.scope = GPU_PODS,
	.summary =
		"a gang that may start before all of its ranks have resources",
	.why = "The ranks that have started wait for the others at the rendezvous and hold their GPUs meanwhile.",
	.remedy =
		"Set the minimum to the number of pods, or remove it, which has the same effect.",
	.evidence =
		"https://volcano.sh/docs/vcjob/; https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/job-scheduling/",
	.check_object = check,
};
