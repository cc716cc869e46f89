/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports Volcano Jobs that never complete because their MPI workers run an ssh
 * server. A Job has succeeded when all of its pods, or minSuccess of them, have
 * succeeded (pkg/controllers/job/state/running.go). A Job with a single task is
 * skipped, because users log in to it.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/operators.h"

static bool completes(const struct node *policies)
{
	FOR_EACH_CHILD(policies, policy) {
		const struct node *action = node_get(policy, "action");

		if (node_eq(action, "CompleteJob") || node_is_unknown(action))
			return true;
		if ((node_eq(action, "TerminateJob") ||
		     node_eq(action, "AbortJob")) &&
		    volcano_policy_is(policy, "TaskCompleted"))
			return true;
	}
	return node_is_unknown(policies);
}

static bool job_completes(const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");

	if (completes(node_get(spec, "policies")) ||
	    !node_is_unset(node_get(spec, "minSuccess")))
		return true;
	FOR_EACH_CHILD(node_get(spec, "tasks"), task)
		if (completes(node_get(task, "policies")))
			return true;
	return false;
}

/* Returns the ssh server if it is the last command. Before other commands it
 * may run in the background. */
static const struct node *ssh_server(const struct container *c)
{
	struct argv argv = container_argv(c);
	const struct node *at = NULL;

	if (!argv_have(&argv, "sshd") || !argv_have(&argv, "-D"))
		return NULL;
	for (size_t i = 0; i < argv.n; i++) {
		if (argv.items[i].first)
			at = NULL;
		if (text_eq(argv.items[i].base, "sshd"))
			at = argv.items[i].node;
	}
	return at;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (!object_is(pod->object, "batch.volcano.sh", "Job") ||
	    pod->object->npods < 2 || job_completes(pod->object))
		return;
	FOR_EACH_CONTAINER(pod, c) {
		const struct node *at = ssh_server(c);

		if (at)
			report_container(
				run, c, at,
				"container `%s` runs sshd forever, and no "
				"policy completes the job",
				container_title(c));
	}
}

const struct rule rule_volcano_mpi_workers_hold = {
	.name = "volcano-mpi-workers-hold",
	.category = "lifecycle",
	.severity = SEVERITY_WARNING,
	.scope = GPU_PODS,
	.summary =
		"MPI workers that never end, in a Volcano Job that waits for them",
	.why = "The workers run sshd forever: after the launcher has succeeded, they keep their GPUs.",
	.remedy =
		"Give the launcher's task the policy {event: TaskCompleted, action: CompleteJob}.",
	.evidence =
		"https://github.com/volcano-sh/volcano/tree/master/example/integrations/mpi",
	.check_pod = check,
};
