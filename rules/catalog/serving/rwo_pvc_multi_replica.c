/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports several pods that mount a volume that only one node, or one pod, may
 * mount. Whether the pods run on several nodes depends on the scheduler; it is
 * certain only if the template requires different nodes, or no node can run two
 * of the pods.
 */
#include <stdlib.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/scheduling/node_devices.h"
#include "kube/set/index_find.h"

/* True if this mode is the only one of the claim. */
static bool has_only(const struct node *claim, const char *mode)
{
	const struct node *modes = node_path(claim, "spec.accessModes");

	return node_count(modes) == 1 && node_eq(node_at(modes, 0), mode);
}

static bool mounts(const struct workload_pod *pod, const char *claim)
{
	for (size_t i = 0; i < pod->nreferences; i++)
		if (!pod->references[i].runtime_class &&
		    text_eq(pod->references[i].name, claim))
			return true;
	return false;
}

struct users {
	struct amount pods;
	bool gpu, apart, together;
};

static bool is_too_small(struct rule_run *run, const struct workload_pod *pod)
{
	return rule_param_given(run, "node") && !pod->gpus.unknown &&
	       2 * pod->gpus.n > rule_param_int(run, "node");
}

static struct users users_of(struct rule_run *run, const struct workload *w,
			     const char *claim)
{
	struct users users = {.together = true};

	for (size_t i = 0; i < w->npods; i++) {
		const struct workload_pod *pod = &w->pods[i];

		if (!mounts(pod, claim))
			continue;
		/* Pods for which it waits may have ended, so the larger number
		 * counts. */
		users.pods = pod->waits ? amount_max(users.pods, pod->steady)
					: amount_add(users.pods, pod->steady);
		users.gpu |= pod->gpu;
		users.together &= pod->together;
		users.apart |= pod->steady.n > 1 &&
			       (pod->apart || is_too_small(run, pod));
	}
	return users;
}

/* True if maxUnavailable of one replica is 0 after rounding down; its default
 * is 25 %. */
static bool is_below_one(const struct node *value)
{
	int64_t n;

	if (node_int(value, &n))
		return n < 1;
	return !node_is_unknown(value) &&
	       (node_is_unset(value) ||
		(node_str(value) && strtol(node_str(value), NULL, 10) < 100));
}

/* True if an update of a Deployment of one pod starts the new pod while the old
 * one runs. */
static bool update_overlaps(struct rule_run *run, const struct workload *w)
{
	const struct object *object = rule_object(run, w);
	const struct node *strategy, *rolling;
	struct amount surge;

	if (!object || !object_is(object, "apps", "Deployment") ||
	    object->fragment)
		return false;
	strategy = node_path(object->root, "spec.strategy");
	rolling = node_get(strategy, "rollingUpdate");
	surge = amount_share(node_get(rolling, "maxSurge"), amount_of(1), 25);
	return !node_is_unknown(strategy) && !node_is_unknown(rolling) &&
	       !node_is_unknown(node_get(strategy, "type")) &&
	       !node_eq(node_get(strategy, "type"), "Recreate") &&
	       !surge.unknown && surge.n > 0 &&
	       is_below_one(node_get(rolling, "maxUnavailable"));
}

/* True if no node that the pods select has GPUs for two of them. */
static bool fills_node(struct rule_run *run, const struct workload *w)
{
	const struct object *object = rule_object(run, w);
	bool fills = false;

	if (object)
		FOR_EACH_POD(object, pod) {
			struct node_devices node = pod_node_devices(pod);

			fills |= node.most && !pod->gpus.unknown &&
				 2 * pod->gpus.n > node.most;
		}
	return fills;
}

static void judge_update(struct rule_run *run, const struct workload *w,
			 const struct pod_reference *claim)
{
	const struct found_object *found =
		index_find(rule_index(run), w, CLUSTER_VOLUME_CLAIM,
			   claim->name, rule_arena(run));
	bool one_pod = found && has_only(found->root, "ReadWriteOncePod");
	struct finding *f;

	if (!found || (!one_pod && !has_only(found->root, "ReadWriteOnce")) ||
	    !update_overlaps(run, w) || (!one_pod && !fills_node(run, w)))
		return;
	f = report_place(
		run, &w->id, &claim->place,
		one_pod ? "claim `%s` is ReadWriteOncePod, and an update starts the new pod before it removes the old one: the update never ends"
			: "claim `%s` is ReadWriteOnce, and an update starts the new pod on another node: if the storage is attached to one node, the update never ends",
		claim->name);
	finding_cause(run, f, claim->name);
	finding_label_place(run, f, &found->place, "its access modes");
	finding_help(
		run, f,
		"Use the strategy Recreate, or maxSurge: 0 and maxUnavailable: 1.");
}

static void check_claim(struct rule_run *run, const struct workload *w,
			const struct pod_reference *claim)
{
	const struct users users = users_of(run, w, claim->name);
	const struct found_object *found;
	struct finding *f;
	bool one_pod;

	if (users.gpu && !users.pods.unknown && users.pods.n == 1)
		judge_update(run, w, claim);
	if (!users.gpu || users.pods.unknown || users.pods.n < 2)
		return;
	found = index_find(rule_index(run), w, CLUSTER_VOLUME_CLAIM,
			   claim->name, rule_arena(run));
	if (!found && !rule_cluster_lacks(run, CLUSTER_VOLUME_CLAIM) &&
	    !rule_cluster(run))
		rule_not_run(run, rule_without_cluster(run));
	one_pod = found && has_only(found->root, "ReadWriteOncePod");
	if (!one_pod && (!found || users.together ||
			 !has_only(found->root, "ReadWriteOnce")))
		return;
	f = report_place(
		run, &w->id, &claim->place,
		one_pod ? "%s mount claim `%s`, which is ReadWriteOncePod: all but one stay Pending"
		: users.apart
			? "%s on different nodes mount claim `%s`, which is ReadWriteOnce"
			: "%s mount claim `%s`, which is ReadWriteOnce: if they land on different nodes, some may never start",
		rule_count(run, users.pods.n, "pod"), claim->name);
	finding_cause(run, f, claim->name);
	finding_label_place(run, f, &found->place, "its access modes");
	if (!one_pod && !users.apart)
		finding_severity(f, SEVERITY_INFO);
}

static bool is_first(const struct workload *w, size_t pod, size_t claim)
{
	const struct pod_reference *all = w->pods[pod].references;
	const char *name = all[claim].name;

	if (all[claim].runtime_class)
		return false;
	for (size_t i = 0; i < pod; i++)
		if (mounts(&w->pods[i], name))
			return false;
	for (size_t i = 0; i < claim; i++)
		if (!all[i].runtime_class && text_eq(all[i].name, name))
			return false;
	return true;
}

static void check(struct rule_run *run, const struct workload *w)
{
	for (size_t i = 0; i < w->npods && !w->child; i++)
		for (size_t c = 0; c < w->pods[i].nreferences; c++)
			if (w->pods[i].repairable && is_first(w, i, c))
				check_claim(run, w, &w->pods[i].references[c]);
}

static const struct rule_param params[] = {
	{"node", "int", "",
	 "number of accelerators of the largest node of the site"},
	{0},
};

const struct rule rule_rwo_pvc_multi_replica = {
	.name = "rwo-pvc-multi-replica",
	.category = "serving",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_SET,
	.since = "1.0",
	.summary =
		"several pods mount a volume that only one node, or one pod, may use",
	.why = "If the storage is attached to nodes (disks, not NFS), pods on other nodes wait in ContainerCreating (Multi-Attach) with their GPUs allocated. With a ReadWriteOncePod claim, all pods but one stay Pending, including the new pod of a rolling update.",
	.remedy =
		"Use a ReadWriteMany or ReadOnlyMany claim, or volumeClaimTemplates, which create a claim per pod.",
	.evidence =
		"https://kubernetes.io/docs/concepts/storage/persistent-volumes/#access-modes",
	.params = params,
	.check_workload = check,
};
