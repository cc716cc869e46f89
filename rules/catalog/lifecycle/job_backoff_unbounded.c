/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports GPU work that is retried without limit, or more often than useful. By
 * default, a Job retries 6 times, but a Kubeflow job endlessly: the operator's
 * default is unlimited, and PyTorch and Paddle replicas restart on failure by
 * default. A deadline also limits retries; elastic maxRestarts counts restarts
 * inside of a pod. One fault of a gang counts once for each pod. Source:
 * batch/v1 types.go; training-operator core/job.go, pytorch_defaults.go;
 * trainer#1589; Argo docs.
 */
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/operators.h"

static struct amount all_pods(const struct object *object)
{
	struct amount sum = {0};

	FOR_EACH_POD(object, pod)
		sum = amount_add(sum, pod->steady);
	return sum;
}

/* Returns the number of pods of the largest role; for a Job all of its
 * completions, which count together even if few run at once. */
static struct amount object_most_pods(const struct object *object)
{
	struct amount most = {0};

	FOR_EACH_POD(object, pod) {
		const struct node *job = pod_job_spec(pod);

		most = amount_max(most, pod->steady);
		most = amount_max(most,
				  amount_int(node_get(job, "completions"), 0));
	}
	return most;
}

/* Returns the number of pods whose failures the field (such as backoffLimit)
 * counts together, because one fault of a gang fails all of them. A launcher, a
 * Ray cluster or a Volcano Job counts as one. PastBackoffLimit of the training
 * operator adds up all replica types. */
static int64_t object_counted_pods(const struct object *object,
				   const char *field)
{
	const struct pod *pod = object_gpu_pod(object);
	bool kubeflow = object_is_kubeflow(object);
	struct amount counted;

	if (text_eq(field, "backoffLimitPerIndex") ||
	    text_eq(object->kind, "MPIJob") ||
	    (!kubeflow && (!pod || !pod_job_spec(pod))))
		return 1;
	counted = kubeflow ? all_pods(object) : object_most_pods(object);
	return counted.n > 1 ? counted.n : 1;
}

/* Returns the first GPU pod that is restarted after failures, else the first
 * other one, or NULL. */
static const struct pod *object_restarting_pod(const struct object *object)
{
	const struct pod *found = NULL;

	FOR_EACH_POD(object, pod) {
		if (pod->restart != RESTART_ON_FAILURE &&
		    pod->restart != RESTART_ALWAYS)
			continue;
		if (pod_uses_gpu(pod) == TRI_YES)
			return pod;
		found = found ? found : pod;
	}
	return found;
}

/* Adds help and a fix that set a limit. An elastic job gets help without a
 * number, because it loses pods in normal operation and only its author knows
 * the number. */
static void limit(struct rule_run *run, struct finding *f,
		  const struct object *object, const struct node *base,
		  const char *key)
{
	const char *dotted = base == object->root ? "spec.runPolicy" : "";
	int64_t max = rule_param_int(run, "max");
	int64_t n = rule_param_int(run, "limit");
	struct fix *fix;
	bool clean;

	n = (n < max ? n : max) * object_counted_pods(object, key);
	if (!node_is_unset(node_path(base, "spec.elasticPolicy"))) {
		finding_help(
			run, f,
			"Set `%s.%s`, which counts the restarts of all pods.",
			dotted, key);
		return;
	}
	finding_help(run, f, "Set `%s%s%s`, for example to %s.", dotted,
		     *dotted ? "." : "", key, rule_number(run, n));
	clean = *dotted && object_leaks_if_bounded(object);
	fix = finding_fix(run, f, false, "set `%s: %s`%s", key,
			  rule_number(run, n),
			  clean ? " and `cleanPodPolicy: Running`" : "");
	fix_set_key(fix, base, dotted, key, edit_int(rule_arena(run), n));
	if (clean)
		fix_set_key(fix, base, dotted, "cleanPodPolicy",
			    edit_string(rule_arena(run), "Running"));
}

/* Returns the end of the message, a condition under which the number may be
 * right, or "". A launcher fails until its workers answer, so it needs some
 * retries. */
static const char *condition(const struct object *object, struct amount pods,
			     int64_t n)
{
	if (object_launches_early(object))
		return n <= 30 ? ", some of which the launcher needs until its workers answer"
			       : "";
	return pods.unknown && n <= 1000
		       ? ", which is too often unless the job has as many pods"
		       : "";
}

/* Reports a number of retries above the maximum per pod. pods is the result of
 * object_most_pods(). */
static void too_many(struct rule_run *run, const struct object *object,
		     struct amount pods, const struct node *value,
		     const char *field)
{
	const char *known;
	struct finding *f;
	int64_t n;

	if (!value || !node_int(value, &n) || n <= pods.n ||
	    n <= rule_param_int(run, "max") *
			    object_counted_pods(object, field))
		return;
	known = condition(object, pods, n);
	f = report_object(run, object, value,
			  "`%s: %s` retries failing %s work up to %s%s", field,
			  rule_number(run, n), object_device(object),
			  rule_count(run, n, "time"), known);
	if (*known)
		finding_severity(f, SEVERITY_INFO);
	if (object_launches_early(object))
		finding_help(
			run, f,
			"Set `launcherCreationPolicy: WaitForWorkersReady`, and lower `%s`.",
			field);
	else if (!pods.unknown)
		limit(run, f, object, value->parent, value->key);
}

static void check_jobs(struct rule_run *run, const struct object *object)
{
	struct amount pods = object_most_pods(object);

	FOR_EACH_POD(object, pod) {
		const struct node *spec = pod_job_spec(pod);
		const struct node *value =
			node_get(spec, "backoffLimitPerIndex");
		const struct pod_handling *handling = pod_handling(pod);
		const struct node *endless =
			handling->endless ? handling->endless(pod) : NULL;

		if (pod_uses_gpu(pod) != TRI_YES)
			continue;
		if (endless)
			report_object(run, object, endless,
				      "failing %s work is retried endlessly",
				      object_device(object));
		if (node_is_unset(value))
			value = node_get(spec, "backoffLimit");
		too_many(run, object, pods, value, value ? value->key : "");
	}
}

static void check_kubeflow(struct rule_run *run, const struct object *object,
			   const struct run_policy *policy)
{
	const struct pod *pod = object_restarting_pod(object);
	struct finding *f;

	if (!pod || object_launches_by_job(object) || object->fragment ||
	    run_policy_get(object, policy, RUN_DEADLINE))
		return;
	f = report_object(
		run, object, run_policy_place(object, policy),
		"`runPolicy.backoffLimit` is not set: `%s` pods that fail are restarted endlessly",
		pod->role);
	finding_missing(f, object, object->root, "backoffLimit");
	finding_label(run, f, pod->restart_node, "restarts failures");
	limit(run, f, object, object->root, "backoffLimit");
}

static void check(struct rule_run *run, const struct object *object)
{
	struct run_policy policy;
	const struct node *value;

	if (object->class == KIND_POD || !object_gpu_pod(object))
		return;
	check_jobs(run, object);
	if (object_is_job(object) || !object_run_policy(object, &policy))
		return;
	value = run_policy_get(object, &policy, RUN_RETRIES);
	if (value)
		too_many(run, object, object_most_pods(object), value,
			 policy.fields[RUN_RETRIES]);
	else if (object_is_kubeflow(object))
		check_kubeflow(run, object, &policy);
}

static const struct rule_param params[] = {
	{"max", "int", "6",
	 "largest number of retries per pod that is not reported"},
	{"limit", "int", "3", "retries per pod that the fix sets"},
	{0},
};

const struct rule rule_job_backoff_unbounded = {
	.name = "job-backoff-unbounded",
	.category = "lifecycle",
	.severity = SEVERITY_WARNING,
	.flags = RULE_OPT_IN_PATCH,
	.scope = GPU_PODS,
	.summary = "failing GPU work is retried very often, or endlessly",
	.why = "A job that cannot succeed requests its GPUs again and again; a Kubeflow job without backoffLimit is retried endlessly.",
	.remedy =
		"Set the limit of retries (backoffLimit, runPolicy.backoffLimit in a Kubeflow job, retryStrategy.limit in Argo) to about 3 per pod.",
	.evidence =
		"https://github.com/kubeflow/trainer/tree/release-1.9/pkg/core/job.go; https://github.com/kubeflow/trainer/issues/1589, https://github.com/kubeflow/trainer/issues/2045; https://github.com/kubernetes/api/blob/master/batch/v1/types.go",
	.params = params,
	.check_object = check,
};
