/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the priority class of pods and the field by which queues order them,
 * and recognizes the system's priority classes.
 *
 * Priority classes reach Pods in several ways: Volcano copies its Job's
 * priorityClassName to tasks without one (admit/mutate_job.go), Argo its
 * workflow's podPriorityClassName, KubeRay passes a label to the batch
 * scheduler, KAI reads a label named priorityClassName.
 */
#include "kube/lifecycle/priority.h"

#include "base/text.h"
#include "rules/kube/operator.h"

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
