/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports RayJobs whose cluster stays after the job. KubeRay keeps the cluster
 * for inspection unless shutdownAfterJobFinishes is set, or a deletionStrategy
 * deletes it, or its workers if the head has no devices, after both success and
 * failure. Skips jobs that select an existing cluster, and interactive mode,
 * which needs the cluster.
 * Source: KubeRay rayjob_types.go, rayjob_controller.go.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/operators.h"

/* True for a policy that leaves the workers running, or a head with devices.
 * KubeRay rejects a policy that is not set. */
static bool keeps(const struct node *policy, bool head)
{
	return node_eq(policy, "DeleteNone") ||
	       (head && node_eq(policy, "DeleteWorkers"));
}

/* True if a rule deletes workers or the cluster, or may do so, after the end of
 * the job that status and deployment name (SUCCEEDED and Complete, or FAILED
 * and Failed). */
static bool rules_end(const struct node *rules, const char *status,
		      const char *deployment, bool head)
{
	FOR_EACH_CHILD(rules, rule) {
		const struct node *condition = node_get(rule, "condition");
		const struct node *job = node_get(condition, "jobStatus");
		const struct node *other =
			node_get(condition, "jobDeploymentStatus");

		if (keeps(node_get(rule, "policy"), head))
			continue;
		if (node_is_unknown(rule) || node_is_unknown(job) ||
		    node_is_unknown(other) || node_eq(job, status) ||
		    node_eq(other, deployment))
			return true;
	}
	return node_is_unknown(rules);
}

/* head: count a head with devices as kept if only the workers are deleted. */
static unsigned ray_ends_kept(const struct node *strategy, bool head)
{
	const struct node *rules = node_get(strategy, "deletionRules");
	unsigned kept = 0;

	if (node_is_unknown(strategy))
		return 0;
	if (node_is_unset(rules)) {
		if (keeps(node_path(strategy, "onSuccess.policy"), head))
			kept |= RAY_KEPT_SUCCESS;
		if (keeps(node_path(strategy, "onFailure.policy"), head))
			kept |= RAY_KEPT_FAILURE;
		return kept;
	}
	if (!rules_end(rules, "SUCCEEDED", "Complete", head))
		kept |= RAY_KEPT_SUCCESS;
	if (!rules_end(rules, "FAILED", "Failed", head))
		kept |= RAY_KEPT_FAILURE;
	return kept;
}

/* True if the job's cluster is or may be shut down, or the job has a ttl or
 * suspend without shutdownAfterJobFinishes, which kuberay-rejects reports
 * (KubeRay feeaf72f, ValidateRayJobSpec). */
static bool ends_it(const struct node *spec)
{
	const struct node *shutdown =
		node_get(spec, "shutdownAfterJobFinishes");
	const struct node *policy = node_get(spec, "deletionPolicy");
	int64_t ttl;

	return node_is_true(shutdown) || node_is_unknown(shutdown) ||
	       node_is_true(node_get(spec, "suspend")) ||
	       (!node_is_unset(policy) && !node_eq(policy, "DeleteNone")) ||
	       (node_int(node_get(spec, "ttlSecondsAfterFinished"), &ttl) &&
		ttl > 0);
}

static bool head_has_devices(const struct object *object)
{
	FOR_EACH_POD(object, pod)
		if (text_eq(pod->role, "Head") && !pod->gpus.unknown &&
		    pod->gpus.n > 0)
			return true;
	return false;
}

/* Reports a strategy that leaves the cluster running after success or failure.
 * The author must add the missing rules, so gpugate cannot fix the finding. */
static void check_strategy(struct rule_run *run, const struct object *object,
			   const struct node *strategy)
{
	static const char *const after[] = {
		[RAY_KEPT_SUCCESS] = "succeeded",
		[RAY_KEPT_FAILURE] = "failed",
		[RAY_KEPT_SUCCESS | RAY_KEPT_FAILURE] = "ended"};
	unsigned cluster = ray_ends_kept(strategy, false);
	unsigned kept = ray_ends_kept(strategy, head_has_devices(object));
	struct finding *f;

	if (kept) {
		f = report_object(run, object, strategy,
				  "the deletionStrategy leaves the Ray %s "
				  "with its %ss running after the job has %s",
				  cluster ? "cluster" : "head",
				  object_device(object), after[kept]);
		finding_help(
			run, f,
			"Add a deletion rule that deletes the cluster in that case.");
	}
}

static void repair(struct rule_run *run, struct finding *f,
		   const struct node *spec)
{
	bool wait = node_is_unset(node_get(spec, "ttlSecondsAfterFinished"));
	struct fix *fix = finding_fix(
		run, f, false, "set `shutdownAfterJobFinishes: true`%s",
		wait ? " and `ttlSecondsAfterFinished: 600`" : "");
	struct arena *arena = rule_arena(run);

	fix_set(fix, spec, "shutdownAfterJobFinishes", edit_bool(arena, true));
	/* Leave time to read the logs. */
	if (wait)
		fix_set(fix, spec, "ttlSecondsAfterFinished",
			edit_int(arena, 600));
}

static void check(struct rule_run *run, const struct object *object)
{
	const struct node *spec = ray_job_spec(object);
	const struct node *mode = node_get(spec, "submissionMode");
	const struct node *shutdown =
		node_get(spec, "shutdownAfterJobFinishes");
	const struct node *strategy = node_get(spec, "deletionStrategy");
	struct finding *f;

	/* For a RayJob in a queue, kueue-rejects reports it. */
	if (!spec || (object->kueue && text_eq(object->kind, "RayJob")) ||
	    !object_gpu_pod(object) || ends_it(spec) ||
	    !node_is_unset(node_get(spec, "clusterSelector")) ||
	    node_eq(mode, "InteractiveMode") || node_is_unknown(mode) ||
	    (object->fragment && node_is_unset(shutdown)))
		return;
	if (!node_is_unset(strategy)) {
		check_strategy(run, object, strategy);
		return;
	}
	f = report_object(
		run, object, node_is_unset(shutdown) ? spec : shutdown,
		"`shutdownAfterJobFinishes` is not true: the Ray cluster keeps its %ss after the job has ended",
		object_device(object));
	if (node_is_unset(shutdown))
		finding_missing(f, object, object->root,
				"shutdownAfterJobFinishes");
	if (node_is_unset(node_get(spec, "deletionPolicy")))
		repair(run, f, spec);
}

const struct rule rule_rayjob_no_shutdown = {
	.name = "rayjob-no-shutdown",
	.category = "lifecycle",
	.severity = SEVERITY_WARNING,
	.flags = RULE_OPT_IN_PATCH,
	.scope = GPU_PODS,
	.summary = "a GPU RayJob leaves its cluster running after it has ended",
	.why = "The cluster keeps its GPUs until it is deleted.",
	.remedy =
		"Set shutdownAfterJobFinishes: true and ttlSecondsAfterFinished: 600.",
	.evidence =
		"https://github.com/ray-project/kuberay/blob/master/ray-operator/apis/ray/v1/rayjob_types.go (default false)",
	.check_object = check,
};
