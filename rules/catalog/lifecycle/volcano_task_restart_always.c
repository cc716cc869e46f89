/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports tasks of Volcano Jobs without a restartPolicy. Volcano sets none, so
 * that the pod's default, Always, applies: the task's pods never succeed, and
 * the job never completes and keeps its GPUs. A TaskCompleted policy of that
 * task never fires. Another task that ends may complete the job: by its own
 * policy, or the job's, with the action CompleteJob (mpi's master, a chief),
 * or by minSuccess. Skips jobs that consist of servers, and the cluster of the
 * plugin ray, whose commands block, because they are not meant to complete. If
 * Always is explicit, the fix is opt-in. Source: volcano
 * pkg/webhooks/admission/jobs/mutate, pkg/controllers/job (no restartPolicy
 * there), its state/running.go (minSuccess) and
 * plugins/distributed-framework/ray (OnPodCreate);
 * pkg/apis/core/v1/defaults.go; volcano pkg/webhooks/admission/jobs/validate
 * validateTaskTemplate.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/command/command.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/operators.h"
#include "kube/purpose/purpose.h"

static bool completes_job(const struct node *policies)
{
	if (node_is_unknown(policies))
		return true;
	FOR_EACH_CHILD(policies, policy)
		if (volcano_policy_is(policy, "TaskCompleted") &&
		    node_eq(node_get(policy, "action"), "CompleteJob"))
			return true;
	return false;
}

/* Returns the map that contains `tasks`. */
static const struct node *job_of(const struct pod *pod)
{
	const struct node *tasks = pod->group ? pod->group->parent : NULL;

	return tasks ? tasks->parent : NULL;
}

/* True if another task ends and completes the job, or enough pods may end.
 */
static bool ends_elsewhere(const struct pod *pod)
{
	const struct node *least = node_get(job_of(pod), "minSuccess");
	bool by_job = completes_job(node_get(job_of(pod), "policies"));
	struct amount need = amount_int(least, 0), ending = {0};

	FOR_EACH_POD(pod->object, other) {
		if (other == pod || other->restart == RESTART_ALWAYS)
			continue;
		if (by_job || completes_job(node_get(other->group, "policies")))
			return true;
		ending = amount_add(ending, other->steady);
	}
	return !node_is_unset(least) &&
	       (need.unknown || ending.unknown || need.n <= ending.n);
}

static bool is_ray_cluster(const struct pod *pod)
{
	return node_get(node_get(job_of(pod), "plugins"), "ray");
}

static bool is_server(const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		struct argv argv;

		if (container_uses_gpu(c) != TRI_YES)
			continue;
		argv = container_argv(c);
		if (container_loads_model(&argv, c) != TRI_YES)
			return false;
	}
	return true;
}

static bool only_serves(const struct object *object)
{
	FOR_EACH_POD(object, pod)
		if (pod_uses_gpu(pod) != TRI_YES || !is_server(pod))
			return false;
	return true;
}

static void check(struct rule_run *run, const struct object *object)
{
	if (!text_ends(object->group, ".volcano.sh") ||
	    object->class == KIND_SERVING || !object_gpu_pod(object))
		return;
	FOR_EACH_POD(object, pod) {
		struct finding *f;

		if (pod->restart != RESTART_ALWAYS ||
		    (object->fragment && !pod->restart_node) ||
		    ends_elsewhere(pod) || is_ray_cluster(pod) ||
		    only_serves(object))
			continue;
		f = report_pod(run, pod, pod->restart_node,
			       "task `%s` always restarts its pods%s: the job "
			       "never completes",
			       pod->role,
			       pod->restart_node
				       ? ""
				       : ", because restartPolicy is not set");
		finding_help(run, f,
			     "Set `restartPolicy: OnFailure` in the pod "
			     "template of `%s`.",
			     pod->role);
		if (!pod->flat)
			fix_set(finding_fix(run, f, true,
					    "set `restartPolicy: OnFailure`"),
				pod->spec, "restartPolicy",
				edit_string(rule_arena(run), "OnFailure"));
	}
}

const struct rule rule_volcano_task_restart_always = {
	.name = "volcano-task-restart-always",
	.category = "lifecycle",
	.severity = SEVERITY_ERROR,
	.flags = RULE_SAFE_PATCH | RULE_OPT_IN_PATCH,
	.scope = GPU_PODS,
	.summary =
		"a task of a Volcano Job always restarts its pods, as set or by default",
	.why = "Its pods never succeed, so the job never completes and keeps its GPUs.",
	.remedy = "Set restartPolicy: OnFailure in the task's pod template.",
	.evidence =
		"https://github.com/volcano-sh/volcano/tree/master/pkg/controllers/job sets no restartPolicy; pod default Always",
	.check_object = check,
};
