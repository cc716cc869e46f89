/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits on an object's runs, whose fields are data (kinds.txt, `runs`), the
 * JobSpecs of its pods, its GPU pods, and whether it ends, is queued or is
 * suspended. Also the priority of its pods.
 */
#include "kube/lifecycle/lifecycle.h"

#include "base/text.h"
#include "kube/command/command.h"
#include "kube/operators.h"
#include "kube/purpose/purpose.h"
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

/*
 * Finds the priority class of pods and the field by which queues order them,
 * and recognizes the system's priority classes.
 *
 * Priority classes reach Pods in several ways: Volcano copies its Job's
 * priorityClassName to tasks without one (admit/mutate_job.go), Argo its
 * workflow's podPriorityClassName, KubeRay passes a label to the batch
 * scheduler, KAI reads a label named priorityClassName.
 */

static const struct node *of_owner(const struct object *object)
{
	return object->type && object->type->priority
		       ? path_get(object->root, object->type->priority)
		       : NULL;
}

/* An empty name counts as unset. */
static bool is_unset(const struct node *node)
{
	return node_is_unset(node) || node_eq(node, "");
}

const struct node *pod_priority_class(const struct pod *pod)
{
	const struct node *found = pod_field(pod, "priorityClassName");

	if (is_unset(found))
		found = of_owner(pod->object);
	if (is_unset(found))
		found = object_label(pod->object, "ray.io/priority-class-name");
	if (is_unset(found))
		found = pod_label(pod, "priorityClassName");
	if (is_unset(found))
		found = object_label(pod->object, "priorityClassName");
	return is_unset(found) ? NULL : found;
}

const struct node *pod_queue_priority(const struct pod *pod)
{
	const struct object *o = pod->object;
	const struct node *found =
		object_label(o, "kueue.x-k8s.io/priority-class");

	if (node_is_unset(found))
		found = node_path(
			node_get(node_get(o->root, "spec"), "runPolicy"),
			"schedulingPolicy.priorityClass");
	for (; node_is_unset(found) && o->parent; o = o->parent)
		found = object_label(o->parent,
				     "kueue.x-k8s.io/priority-class");
	return node_is_unset(found) ? NULL : found;
}

/* True if a PodSpec of the kind is merged into the pod. */
static bool has_inner_spec(const struct pod *pod)
{
	const struct pod_row *const *row = pod->object->type->pods;

	for (; *row; row++)
		if ((*row)->fields == pod->fields && (*row)->inner)
			return true;
	return false;
}

/* True if the manifest, or the object on which the pod is based, may name a
 * class. */
static bool can_name_class(const struct pod *pod)
{
	const char *const *keys;
	size_t taken;

	if (pod->flat)
		return pod->inner;
	return !pod->made || pod->based || has_inner_spec(pod) ||
	       pod_field_place(pod, pod->spec, "priorityClassName", &keys,
			       &taken);
}

bool pod_priority_is_elsewhere(const struct pod *pod)
{
	if (pod->flat && object_operator(pod->object)->has_runtime)
		return true;
	if (!can_name_class(pod))
		return true;
	/* KAI's PodGroups have their own default. */
	if (node_eq(pod_field(pod, "schedulerName"), "kai-scheduler"))
		return true;
	FOR_EACH_CHILD(pod_field(pod, "nodeSelector"), label)
		if (text_starts(label->key, "run.googleapis.com/"))
			return true;
	return false;
}

bool priority_class_is_system(const char *name)
{
	return priority_class_system_value(name) != 0;
}

/* Source: pkg/apis/scheduling/v1/helpers.go SystemPriorityClasses. */
int64_t priority_class_system_value(const char *name)
{
	if (text_eq(name, "system-cluster-critical"))
		return 2000000000;
	return text_eq(name, "system-node-critical") ? 2000001000 : 0;
}
