/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes how many pods of an object must run at once, and what starts them
 * together: an operator or a queue that starts all or none (Volcano, Kueue,
 * Grove, a gang annotation), or nothing. The formulas are those of the
 * operators' PodGroups.
 */
#include "rules/kube/operator.h"

#include <string.h>

/* -- signals ------------------------------------------------------------- */

static bool object_signals(const struct object *object)
{
	static const char *const labels[] = {"ray.io/gang-scheduling-enabled",
					     "ray.io/scheduler-name",
					     "volcano.sh/queue-name",
					     "yunikorn.apache.org/queue",
					     "yunikorn.apache.org/app-id",
					     "kai.scheduler/queue",
					     "runai/queue",
					     NULL};
	static const char *const annotations[] = {
		"scheduling.volcano.sh/group-min-member",
		"kai.scheduler/batch-min-member",
		"leaderworkerset.sigs.k8s.io/exclusive-topology",
		"alpha.jobset.sigs.k8s.io/exclusive-topology", NULL};

	for (const char *const *key = labels; *key; key++)
		if (object_label(object, *key))
			return true;
	for (const char *const *key = annotations; *key; key++)
		if (object_annotation(object, *key))
			return true;
	return false;
}

static bool scheduler_signals(const struct pod *pod,
			      const struct workload_operator *by)
{
	const char *name = node_str(pod_field(pod, "schedulerName"));

	if (!name)
		return false;
	if (!strcmp(name, "kai-scheduler") || !strcmp(name, "runai-scheduler"))
		return true;
	return !strcmp(name, "volcano") && by->makes_pod_groups;
}

static bool pod_signals(const struct pod *pod,
			const struct workload_operator *by)
{
	static const char *const labels[] = {"scheduling.x-k8s.io/pod-group",
					     "pod-group.scheduling.sigs.k8s.io",
					     "kueue.x-k8s.io/pod-group-name",
					     "kai.scheduler/queue",
					     "runai/queue",
					     "yunikorn.apache.org/app-id",
					     "applicationId",
					     NULL};
	static const char *const annotations[] = {
		"scheduling.k8s.io/group-name",
		"scheduling.volcano.sh/group-name",
		"yunikorn.apache.org/task-groups",
		"yunikorn.apache.org/task-group-name",
		"gang.scheduling.koordinator.sh/name",
		/* Cluster Autoscaler adds nodes for all pods before any of them
		 * can start. */
		"autoscaling.x-k8s.io/consume-provisioning-request",
		"cluster-autoscaler.kubernetes.io/consume-provisioning-request",
		NULL};

	for (const char *const *key = labels; *key; key++)
		if (pod_label(pod, *key))
			return true;
	for (const char *const *key = annotations; *key; key++)
		if (pod_annotation(pod, *key))
			return true;
	return !node_is_unset(pod_field(pod, "schedulingGroup")) ||
	       scheduler_signals(pod, by);
}

static bool held_together(const struct object *object,
			  const struct workload_operator *by)
{
	static const char *const policies[] = {
		"runPolicy.schedulingPolicy",
		"scheduling.schedulingPolicy.gang", NULL};
	const struct node *spec = node_get(object->root, "spec");

	if (object->kueue || object_signals(object))
		return true;
	for (const char *const *path = policies; *path; path++)
		if (!node_is_unset(node_path(spec, *path)))
			return true;
	FOR_EACH_POD(object, pod)
		if (pod_signals(pod, by))
			return true;
	return false;
}

/* -- formulas ------------------------------------------------------------ */

struct amount gang_sum(const struct object *object)
{
	struct amount sum = {0};

	FOR_EACH_POD(object, pod)
		sum = amount_add(sum, pod->steady);
	return sum;
}

/* Returns a gang of one pod, because each pod starts alone. A template makes no
 * pods, so that its gang is empty. */
struct gang gang_none(const struct object *object)
{
	struct amount sum = gang_sum(object);

	return (struct gang){.n = amount_of(sum.n > 0 || sum.unknown),
			     .alone = true};
}

struct gang gang_of_children(const struct object *object)
{
	struct gang gang = {0};

	for (size_t i = 0; i < object->nembedded; i++) {
		const struct object *child = &object->embedded[i];

		gang.n = amount_add(gang.n,
				    amount_mul(child->copies, child->gang));
		if (child->gang_kind == GANG_NEEDED)
			gang.needed = true;
	}
	return gang;
}

/* Returns the number of pods that start together. Jobs that wait for others to
 * complete form a later gang; the larger gang counts. */
static struct amount stages(const struct object *object)
{
	struct amount first = {0}, later = {0};

	FOR_EACH_POD(object, pod) {
		bool waits = false;

		FOR_EACH_CHILD(node_get(pod->group, "dependsOn"), other)
			if (node_eq(node_get(other, "status"), "Complete"))
				waits = true;
		if (waits)
			later = amount_add(later, pod->steady);
		else
			first = amount_add(first, pod->steady);
	}
	return amount_max(first, later);
}

struct gang gang_of_all(const struct object *object)
{
	return (struct gang){.n = stages(object), .needed = true};
}

void object_gang(struct object *object)
{
	const struct workload_operator *by = object_operator(object);
	struct gang gang = by->gang ? by->gang(object) : gang_none(object);

	object->gang = gang.n;
	object->gang_kind = GANG_NONE;
	if (gang.alone || (gang.n.n <= 1 && !gang.n.unknown))
		return;
	if (gang.by_operator || held_together(object, by))
		object->gang_kind = GANG_OPERATOR;
	else if (gang.needed)
		object->gang_kind = GANG_NEEDED;
}
