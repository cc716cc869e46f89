/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits on an object's runs, whose fields are data (kinds.txt, `runs`), the
 * JobSpecs of its pods, its GPU pods, and whether it ends, is queued or is
 * suspended.
 */
#include "kube/lifecycle/lifecycle.h"

#include "kube/command/command.h"
#include "kube/operators/kubeflow.h"
#include "kube/purpose/class.h"
#include "rules/kube/operator.h"

bool object_is_job(const struct object *object)
{
	return object->class == KIND_BATCH &&
	       object_kind_has(object, KIND_NATIVE);
}

bool object_ends(const struct object *object)
{
	return object->class == KIND_BATCH ||
	       object_kind_has(object, KIND_ENDS);
}

const struct container *pod_trainer(const struct pod *pod)
{
	const struct container *only = NULL;
	size_t n = 0;

	if (!pod_is_training(pod))
		return NULL;
	FOR_EACH_CONTAINER(pod, c) {
		if (c->role != CONTAINER_MAIN || !container_command_node(c))
			continue;
		if (container_purpose(c) == PURPOSE_TRAINING)
			return c;
		only = c;
		n++;
	}
	return n == 1 ? only : NULL;
}

const struct pod *object_gpu_pod(const struct object *object)
{
	FOR_EACH_POD(object, pod)
		if (pod_uses_gpu(pod) == TRI_YES && !pod_is_infrastructure(pod))
			return pod;
	return NULL;
}

struct amount object_gpu_pods(const struct object *object)
{
	struct amount sum = {0};

	FOR_EACH_POD(object, pod)
		if (pod_uses_gpu(pod) == TRI_YES && !pod_is_infrastructure(pod))
			sum = amount_add(sum, pod->steady);
	return sum;
}

const char *object_device(const struct object *object)
{
	const struct pod *pod = object_gpu_pod(object);

	return pod ? pod_device(pod) : "GPU";
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

/* True for the pod template of a kind in no table if the template has an
 * apiVersion and a kind, as in the ElasticJob of pytorch/elastic. */
static bool is_template(const struct object *object)
{
	return object->parent && !object->parent->type &&
	       text_eq(object->root->key, "template");
}

bool pod_is_owned(const struct pod *pod)
{
	const struct node *owners = node_get(pod->metadata, "ownerReferences");

	return node_count(owners) || node_is_unknown(owners) ||
	       is_template(pod->object);
}

/* True for the path `replicatedJobs[].template.spec` of a JobSet or of a
 * training runtime. */
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
	if (text_eq(spec->key, "jobTargetRef")) /* in a ScaledJob of KEDA */
		return spec;
	/* `provider.job.spec` of an analysis, or `job.spec` of a KaiwoJob. */
	if (spec->parent && text_eq(spec->parent->key, "job"))
		return spec;
	return NULL;
}

/* -- run policies -------------------------------------------------------- */

bool object_run_policy(const struct object *object, struct run_policy *out)
{
	const struct kind *type = object->type;

	if (!type || !type->runs.path)
		return false;
	out->path = type->runs.path;
	out->holder = node_path(object->root, out->path);
	if (node_is_unset(out->holder))
		out->holder = NULL;
	out->before = type->by->runs_before;
	out->has_runtime = type->by->has_runtime;
	memcpy(out->fields, type->runs.fields, sizeof(out->fields));
	return true;
}

const struct node *run_policy_place(const struct object *object,
				    const struct run_policy *policy)
{
	const struct node *spec = node_get(object->root, "spec");

	if (policy->holder)
		return policy->holder;
	return spec ? spec : object->root;
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
	if (node_is_unset(value) && policy->before)
		value = node_get(node_get(object->root, policy->before), name);
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

bool container_is_merged(const struct container *c)
{
	const struct workload_operator *by = object_operator(c->pod->object);

	return by->merges && by->merges(c);
}
