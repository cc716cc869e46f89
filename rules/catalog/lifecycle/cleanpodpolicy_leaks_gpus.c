/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports Kubeflow jobs that leave pods behind. When a job has succeeded or
 * failed, the training operator leaves its other pods running unless
 * cleanPodPolicy is Running or All: workers that wait for a lost peer,
 * parameter servers and idle MPI workers keep running and hold their GPUs. The
 * same holds for mpi-operator (v2beta1), whose workers are ssh servers that
 * never end: its API documentation gives Running as the default, its code sets
 * None. A job with one pod leaves nothing behind. Source: training-operator
 * v1.9 pytorch_defaults.go, pkg/controller.v1/common/job.go
 * DeletePodsAndServices, pkg/controller.v1/pytorch pytorchjob_controller.go
 * UpdateJobStatus; mpi-operator v2beta1/default.go setDefaultsRunPolicy,
 * mpi_job_controller.go isCleanUpPods; trainer#1579. If the training operator
 * runs the job, a time to live of up to an hour is enough: it deletes the job
 * with its pods (common/job.go CleanupJob). mpi-operator passes it to the
 * launcher's Job, which does not delete the workers (newLauncherJob). Operators
 * of earlier versions of a kind have other defaults, such as All for MXJob
 * (mxnet-operator pkg/apis/mxnet/v1/defaults.go).
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/operators.h"

enum { AN_HOUR = 3600 };

static const struct node *clean_policy(const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");
	const struct node *policy =
		node_get(node_get(spec, "runPolicy"), "cleanPodPolicy");

	/* In MPIJob v1 the field may also be in spec, as in early versions of
	 * all kinds. */
	return node_is_unset(policy) ? node_get(spec, "cleanPodPolicy")
				     : policy;
}

/* True if the default of cleanPodPolicy is None. */
static bool defaults_to_none(const struct object *object)
{
	return !object->fragment && (text_eq(object->version, "v1") ||
				     text_eq(object->version, "v2beta1"));
}

static bool is_single(const struct object *object)
{
	int64_t pods = 0;

	FOR_EACH_POD(object, pod) {
		if (pod->steady.unknown)
			return false;
		pods += pod->steady.n;
	}
	return pods <= 1;
}

static bool has_workers_only(const struct object *object)
{
	return object->npods == 1 && !strcmp(object->pods->role, "Worker");
}

/* True for an elastic PyTorchJob without a master, which succeeds with its
 * first worker. A worker that fails later waits for peers that are gone. */
static bool ends_with_first(const struct object *object)
{
	return has_workers_only(object) &&
	       !node_is_unset(node_path(object->root, "spec.elasticPolicy"));
}

/*
 * True if the job ends only when all of its pods have succeeded: workers
 * without a master that are restarted until they succeed.
 */
static bool ends_with_all(const struct object *object,
			  const struct run_policy *policy)
{
	return has_workers_only(object) && !ends_with_first(object) &&
	       object->pods->restart == RESTART_ON_FAILURE &&
	       !run_policy_get(object, policy, RUN_RETRIES) &&
	       !run_policy_get(object, policy, RUN_DEADLINE);
}

/* True if the pods are deleted, or may be, soon after the job has finished. */
static bool is_deleted_soon(const struct object *object,
			    const struct run_policy *policy)
{
	const struct node *ttl = run_policy_get(object, policy, RUN_TTL);
	struct amount seconds = amount_int(ttl, 0);

	return ttl && !object_is_mpi_v2(object) &&
	       (seconds.unknown || seconds.n <= AN_HOUR);
}

static void repair(struct rule_run *run, struct finding *f,
		   const struct object *object, const struct node *policy)
{
	struct fix *fix =
		finding_fix(run, f, true, "set `cleanPodPolicy: Running`");
	struct node *running = edit_string(rule_arena(run), "Running");

	if (policy)
		fix_set(fix, policy, "", running);
	else
		fix_set(fix, object->root, "spec.runPolicy.cleanPodPolicy",
			running);
}

static void check(struct rule_run *run, const struct object *object)
{
	const struct node *policy;
	struct run_policy place;
	struct finding *f;
	bool unset;

	if (!object_is_kubeflow(object) || !object_gpu_pod(object) ||
	    !object_run_policy(object, &place) ||
	    object_stops_workers(object) || is_single(object) ||
	    ends_with_all(object, &place) || is_deleted_soon(object, &place))
		return;
	policy = clean_policy(object);
	unset = node_is_unset(policy);
	if (unset ? !defaults_to_none(object) : !node_eq(policy, "None"))
		return;
	f = report_object(
		run, object, unset ? run_policy_place(object, &place) : policy,
		"cleanPodPolicy is `None`%s: %s keep running with their %ss",
		unset ? " by default" : "",
		ends_with_first(object)
			? "the job ends when its first worker has succeeded, and the others"
			: "pods that outlive the job",
		object_device(object));
	if (unset)
		finding_missing(f, object, object->root, "cleanPodPolicy");
	repair(run, f, object, unset ? NULL : policy);
}

const struct rule rule_cleanpodpolicy_leaks_gpus = {
	.name = "cleanpodpolicy-leaks-gpus",
	.category = "lifecycle",
	.severity = SEVERITY_WARNING,
	.flags = RULE_SAFE_PATCH,
	.scope = GPU_PODS,
	.summary =
		"a Kubeflow job whose cleanPodPolicy is None, set or by default",
	.why = "Pods that still run when the job ends hold their GPUs until the job is deleted. An elastic PyTorchJob without a master ends as soon as one worker has succeeded.",
	.remedy =
		"Set runPolicy.cleanPodPolicy: Running. Finished pods and their logs are kept.",
	.evidence =
		"https://github.com/kubeflow/trainer/blob/release-1.9/pkg/apis/kubeflow.org/v1/pytorch_defaults.go; https://github.com/kubeflow/trainer/blob/release-1.9/pkg/controller.v1/pytorch/pytorchjob_controller.go UpdateJobStatus; https://github.com/kubeflow/mpi-operator/blob/master/pkg/apis/kubeflow/v2beta1/default.go; https://github.com/kubeflow/trainer/issues/1579",
	.check_object = check,
};
