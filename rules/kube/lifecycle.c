/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where each kind keeps what bounds its runs. Sources: kubernetes/api
 * batch/v1/types.go, training-operator kubeflow.org/v1 common_types.go
 * (RunPolicy), KubeRay rayjob_types.go, JobSet jobset_types.go, Volcano
 * batch/v1alpha1 job.go, Spark operator v1beta2 types, Argo Workflows
 * docs/retries.md (no limit: until completion).
 */
#include "kube/lifecycle.h"

#include <string.h>

#include "base/text.h"
#include "kinds.h"

bool object_pods_are_native(const struct object *object)
{
	return object->type &&
	       object->type->flags & (KIND_NATIVE | KIND_SELECTOR);
}

bool object_is(const struct object *object, const char *group, const char *kind)
{
	return text_eq(object->group, group) && text_eq(object->kind, kind);
}

bool object_is_job(const struct object *object)
{
	return object_is(object, "batch", "Job") ||
	       object_is(object, "batch", "CronJob");
}

bool object_ends(const struct object *object)
{
	return object->class == KIND_BATCH ||
	       object_is(object, "ray.io", "RayJob");
}

bool object_is_kubeflow(const struct object *object)
{
	return object->class == KIND_TRAINING &&
	       text_eq(object->group, "kubeflow.org");
}

bool object_is_mpi_v2(const struct object *object)
{
	return object_is(object, "kubeflow.org", "MPIJob") &&
	       text_eq(object->version, "v2beta1");
}

const struct pod *object_gpu_pod(const struct object *object)
{
	FOR_EACH_POD(object, pod)
		if (pod_uses_gpu(pod) == TRI_YES && !pod_is_infrastructure(pod))
			return pod;
	return NULL;
}

const struct pod *object_restarting_pod(const struct object *object)
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

bool object_is_queued(const struct object *object)
{
	for (; object; object = object->parent)
		if (object->kueue)
			return true;
	return false;
}

bool object_is_suspended(const struct object *object)
{
	for (; object; object = object->parent)
		if (object->suspended)
			return true;
	return false;
}

bool pod_is_owned(const struct pod *pod)
{
	const struct node *owners = node_get(pod->metadata, "ownerReferences");

	return node_count(owners) || node_is_unknown(owners);
}

/* `replicatedJobs[].template.spec`, of a JobSet or of a training runtime. */
static bool in_replicated_jobs(const struct node *spec)
{
	const struct node *job = spec->parent ? spec->parent->parent : NULL;

	return job && text_eq(spec->parent->key, "template") && job->parent &&
	       text_eq(job->parent->key, "replicatedJobs");
}

const struct node *pod_job_spec(const struct pod *pod)
{
	const struct node *spec = pod->template ? pod->template->parent : NULL;

	if (!spec || pod->flat)
		return NULL;
	if (object_is_job(pod->object) || in_replicated_jobs(spec))
		return spec;
	if (text_eq(spec->key, "jobTargetRef")) /* a ScaledJob of KEDA */
		return spec;
	/* `provider.job.spec` of an analysis, `job.spec` of a KaiwoJob. */
	if (spec->parent && text_eq(spec->parent->key, "job"))
		return spec;
	return NULL;
}

/* -- run policies -------------------------------------------------------- */

static const struct run_row {
	const char *group, *kind; /* kind NULL: every training kind of it */
	const char *path;
	const char *fields[RUN_FIELDS];
} rows[] = {
	{"batch",
	 "Job",
	 "spec",
	 {"backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished"}},
	{"batch",
	 "CronJob",
	 "spec.jobTemplate.spec",
	 {"backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished"}},
	/* KEDA deletes the finished Jobs itself. */
	{"keda.sh",
	 "ScaledJob",
	 "spec.jobTargetRef",
	 {"backoffLimit", "activeDeadlineSeconds", NULL}},
	{"kubeflow.org",
	 NULL,
	 "spec.runPolicy",
	 {"backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished"}},
	{"ray.io",
	 "RayJob",
	 "spec",
	 {"backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished"}},
	{"ray.io",
	 "RayCronJob",
	 "spec.jobTemplate",
	 {"backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished"}},
	{"trainer.kubeflow.org",
	 "TrainJob",
	 "spec",
	 {NULL, "activeDeadlineSeconds", NULL}},
	/* Deadline and retries stand in its Jobs. */
	{"jobset.x-k8s.io",
	 "JobSet",
	 "spec",
	 {NULL, NULL, "ttlSecondsAfterFinished"}},
	{"batch.volcano.sh",
	 "Job",
	 "spec",
	 {"maxRetry", NULL, "ttlSecondsAfterFinished"}},
	{"batch.volcano.sh",
	 "CronJob",
	 "spec.jobTemplate.spec",
	 {"maxRetry", NULL, "ttlSecondsAfterFinished"}},
	{"sparkoperator.k8s.io",
	 "SparkApplication",
	 "spec",
	 {NULL, NULL, "timeToLiveSeconds"}},
	{"argoproj.io",
	 "Workflow",
	 "spec",
	 {NULL, "activeDeadlineSeconds", NULL}},
	{"argoproj.io",
	 "CronWorkflow",
	 "spec.workflowSpec",
	 {NULL, "activeDeadlineSeconds", NULL}},
};

static bool row_fits(const struct run_row *row, const struct object *object)
{
	if (!row->kind)
		return object_is_kubeflow(object);
	return object_is(object, row->group, row->kind);
}

bool object_run_policy(const struct object *object, struct run_policy *out)
{
	if (object->class == KIND_POD)
		return false;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (!row_fits(&rows[i], object))
			continue;
		out->path = rows[i].path;
		out->holder = node_path(object->root, out->path);
		if (node_is_unset(out->holder))
			out->holder = NULL;
		memcpy(out->fields, rows[i].fields, sizeof(out->fields));
		return true;
	}
	return false;
}

const struct node *run_policy_get(const struct object *object,
				  const struct run_policy *policy,
				  enum run_field field)
{
	const char *name = policy->fields[field];
	const struct node *value;

	if (!name)
		return NULL;
	value = node_get(policy->holder, name);
	if (node_is_unset(value) && object_is_kubeflow(object))
		value = node_get(node_get(object->root, "spec"), name);
	return node_is_unset(value) ? NULL : value;
}

const struct node *pod_run_deadline(const struct pod *pod)
{
	const struct node *deadline =
		node_get(pod_job_spec(pod), "activeDeadlineSeconds");
	struct run_policy policy;

	if (!node_is_unset(deadline))
		return deadline;
	if (!object_run_policy(pod->object, &policy))
		return NULL;
	return run_policy_get(pod->object, &policy, RUN_DEADLINE);
}

const struct node *ray_job_spec(const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");

	if (object_is(object, "ray.io", "RayCronJob"))
		return node_get(spec, "jobTemplate");
	return object_is(object, "ray.io", "RayJob") ? spec : NULL;
}

bool container_is_merged(const struct container *c)
{
	const struct object *object = c->pod->object;

	if (!text_eq(object->group, "serving.kserve.io"))
		return false;
	return text_starts(object->kind, "LLMInferenceService") ||
	       text_eq(c->node->key, "model");
}

/* -- spot ---------------------------------------------------------------- */

static bool says_spot(const char *key, const struct node *value)
{
	const struct node_label *label = key ? node_label_find(key) : NULL;

	if (!label || label->meaning != LABEL_SPOT)
		return false;
	return node_eq(value, "spot") || node_eq(value, "SPOT") ||
	       node_eq(value, "preemptible") || node_eq(value, "true");
}

static const struct node *term_spot(const struct node *term)
{
	FOR_EACH_CHILD(node_get(term, "matchExpressions"), e) {
		if (!node_eq(node_get(e, "operator"), "In"))
			continue;
		FOR_EACH_CHILD(node_get(e, "values"), value)
			if (says_spot(node_str(node_get(e, "key")), value))
				return value;
	}
	return NULL;
}

static const struct node *toleration_spot(const struct node *toleration)
{
	const struct node *key = node_get(toleration, "key");
	const struct node_label *label =
		node_str(key) ? node_label_find(node_str(key)) : NULL;

	if (!label || label->meaning != LABEL_SPOT)
		return NULL;
	if (node_eq(node_get(toleration, "operator"), "Exists") ||
	    says_spot(node_str(key), node_get(toleration, "value")))
		return key;
	return NULL;
}

const struct node *pod_spot(const struct pod *pod)
{
	static const char required[] =
		"nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
	const struct node *at;

	FOR_EACH_CHILD(pod_field(pod, "nodeSelector"), value)
		if (says_spot(value->key, value))
			return value;
	FOR_EACH_CHILD(node_path(pod_field(pod, "affinity"), required), term)
		if ((at = term_spot(term)))
			return at;
	FOR_EACH_CHILD(pod_field(pod, "tolerations"), toleration)
		if ((at = toleration_spot(toleration)))
			return at;
	return NULL;
}

/* -- retries without end ------------------------------------------------- */

/* `retryStrategy: {}` retries until completion; errors of the system only,
 * or an expression of the author's own, are another matter. */
static const struct node *argo_endless(const struct pod *pod)
{
	const struct node *strategy = pod_field(pod, "retryStrategy");

	if (!node_is_map(strategy) || node_is_unknown(strategy) ||
	    !node_is_unset(node_get(strategy, "limit")) ||
	    !node_is_unset(node_get(strategy, "expression")) ||
	    !node_is_unset(node_path(strategy, "backoff.maxDuration")) ||
	    node_eq(node_get(strategy, "retryPolicy"), "OnError"))
		return NULL;
	return strategy;
}

/* A failure policy rule for every failure that counts no restart. */
static const struct node *jobset_endless(const struct object *object)
{
	FOR_EACH_CHILD(node_path(object->root, "spec.failurePolicy.rules"),
		       rule) {
		const struct node *action = node_get(rule, "action");

		if (text_ends(node_str(action), "AndIgnoreMaxRestarts") &&
		    node_is_unset(node_get(rule, "onJobFailureReasons")))
			return action;
	}
	return NULL;
}

const struct node *pod_endless_retry(const struct pod *pod)
{
	const struct object *object = pod->object;
	const struct node *type;

	if (object_is(object, "jobset.x-k8s.io", "JobSet"))
		return jobset_endless(object);
	if (text_eq(object->group, "argoproj.io"))
		return argo_endless(pod);
	if (!object_is(object, "sparkoperator.k8s.io", "SparkApplication"))
		return NULL;
	type = node_path(object->root, "spec.restartPolicy.type");
	return node_eq(type, "Always") ? type : NULL;
}
