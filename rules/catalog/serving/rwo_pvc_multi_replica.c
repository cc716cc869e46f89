/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports several pods that mount a volume that only one node, or one pod, may
 * mount. Whether the pods run on several nodes depends on the scheduler, so for
 * a ReadWriteOnce claim the finding is an info, unless the template requires
 * different nodes, or no node can run two of the pods. Also reports Deployments
 * of one pod whose update starts a second pod that cannot mount the volume.
 */
#include <stdlib.h>

#include "base/array.h"
#include "engine/rule.h"
#include "kube/purpose/purpose.h"
#include "kube/scheduling/affinity.h"
#include "kube/scheduling/node_devices.h"
#include "kube/set/index_find.h"

/* True if this mode is the only one of the claim. */
static bool has_only(const struct node *claim, const char *mode)
{
	const struct node *modes = node_path(claim, "spec.accessModes");

	return node_count(modes) == 1 && node_eq(node_at(modes, 0), mode);
}

/* Largest number of claims of a pod, because lists may be as long as a file. */
enum { MOST = 64 };

/* Claims that all pods of a template share, for all templates of an object. */
struct mounts {
	struct mount {
		const struct pod *pod;
		const struct node *claim; /* the claim's name */
	} * items;
	size_t n, size;
};

static const struct node *claim_of(const struct node *volume)
{
	const struct node *name = node_get(
		node_get(volume, "persistentVolumeClaim"), "claimName");

	return node_str(name) ? name : NULL;
}

/* True if a claim template replaces the volume: each pod has a claim
 * (pkg/controller/statefulset/stateful_set_utils.go, updateStorage). */
static bool is_replaced(const struct pod *pod, const struct node *volume)
{
	const char *name = node_str(node_get(volume, "name"));

	FOR_EACH_CHILD(node_get(node_get(pod->object->root, "spec"),
				"volumeClaimTemplates"),
		       template)
		if (name && node_eq(node_path(template, "metadata.name"), name))
			return true;
	return false;
}

static void add_mounts(struct arena *arena, const struct pod *pod,
		       struct mounts *all)
{
	size_t n = 0;

	FOR_EACH_CHILD(pod->volumes, volume)
		n += claim_of(volume) != NULL;
	if (pod->flat || n > MOST)
		return;
	FOR_EACH_CHILD(pod->volumes, volume)
		if (claim_of(volume) && !is_replaced(pod, volume))
			*VEC_PUSH(arena, all->items, all->n, all->size) =
				(struct mount){pod, claim_of(volume)};
}

/* True if no earlier item names the same claim. If pod is not NULL, only its
 * items are compared. */
static bool is_first(const struct mounts *all, size_t i, const struct pod *pod)
{
	for (size_t before = i; before--;) {
		if (pod && all->items[before].pod != pod)
			return true;
		if (node_eq(all->items[before].claim, all->items[i].claim->str))
			return false;
	}
	return true;
}

struct users {
	struct amount pods;
	bool gpu, apart, together;
};

/* True if no node that the pods select has GPUs for two of them. */
static bool fills_node(const struct pod *pod)
{
	struct node_devices node = pod_node_devices(pod);

	return node.bounded && !pod->gpus.unknown &&
	       2 * pod->gpus.n > node.most;
}

static bool is_too_small(struct rule_run *run, const struct pod *pod)
{
	return fills_node(pod) ||
	       (rule_param_given(run, "node") && !pod->gpus.unknown &&
		2 * pod->gpus.n > rule_param_int(run, "node"));
}

static struct users users_of(struct rule_run *run, const struct mounts *all,
			     const char *claim)
{
	struct users users = {.together = true};

	for (size_t i = 0; i < all->n; i++) {
		const struct pod *pod = all->items[i].pod;
		struct amount pods =
			amount_mul(pod->steady, object_copies(pod->object));

		if (!node_eq(all->items[i].claim, claim) ||
		    !is_first(all, i, pod))
			continue;
		/* The pods on which a group depends (JobSet, Volcano) may have
		 * ended when it starts, so the larger number counts. */
		users.pods = node_is_unset(node_get(pod->group, "dependsOn"))
				     ? amount_add(users.pods, pods)
				     : amount_max(users.pods, pods);
		users.gpu |= pod->gpu_by != 0;
		users.together &= pod_keeps_together(pod);
		users.apart |= pods.n > 1 &&
			       (pod_keeps_apart(pod) || is_too_small(run, pod));
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
static bool update_overlaps(const struct object *object)
{
	const struct node *strategy, *rolling;
	struct amount surge;

	if (!object_is(object, "apps", "Deployment") || object->fragment)
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

static bool fills_nodes(const struct object *object)
{
	bool fills = false;

	FOR_EACH_POD(object, pod)
		fills |= fills_node(pod);
	return fills;
}

static void check_update(struct rule_run *run, const struct workload *w,
			 const struct object *object, const struct node *claim)
{
	const struct found_object *found =
		index_find(rule_index(run), w, CLUSTER_VOLUME_CLAIM, claim->str,
			   rule_arena(run));
	bool one_pod = found && has_only(found->root, "ReadWriteOncePod");
	struct finding *f;

	if (!found || (!one_pod && !has_only(found->root, "ReadWriteOnce")) ||
	    !update_overlaps(object) || (!one_pod && !fills_nodes(object)))
		return;
	f = report_place(
		run, &w->id, rule_place(run, claim),
		one_pod ? "claim `%s` is ReadWriteOncePod, and an update starts the new pod before it removes the old one: the update never ends"
			: "claim `%s` is ReadWriteOnce, and an update starts the new pod on another node: if the storage is attached to one node, the update never ends",
		claim->str);
	finding_cause(run, f, claim->str);
	finding_label_place(run, f, &found->place, "its access modes");
	finding_help(
		run, f,
		"Use the strategy Recreate, or maxSurge: 0 and maxUnavailable: 1.");
}

static void check_claim(struct rule_run *run, const struct workload *w,
			const struct mounts *all, const struct mount *mount)
{
	const struct node *claim = mount->claim;
	const struct users users = users_of(run, all, claim->str);
	const struct found_object *found;
	struct finding *f;
	bool one_pod;

	if (users.gpu && !users.pods.unknown && users.pods.n == 1)
		check_update(run, w, mount->pod->object, claim);
	if (!users.gpu || users.pods.unknown || users.pods.n < 2)
		return;
	found = index_find(rule_index(run), w, CLUSTER_VOLUME_CLAIM, claim->str,
			   rule_arena(run));
	if (!found && !rule_cluster_lacks(run, CLUSTER_VOLUME_CLAIM) &&
	    !rule_cluster(run))
		rule_not_run(run, rule_without_cluster(run));
	one_pod = found && has_only(found->root, "ReadWriteOncePod");
	if (!one_pod && (!found || users.together ||
			 !has_only(found->root, "ReadWriteOnce")))
		return;
	f = report_place(
		run, &w->id, rule_place(run, claim),
		one_pod ? "%s mount claim `%s`, which is ReadWriteOncePod: all but one stay Pending"
		: users.apart
			? "%s on different nodes mount claim `%s`, which is ReadWriteOnce: if the storage is attached to one node, some never start"
			: "%s mount claim `%s`, which is ReadWriteOnce: if they land on different nodes, some may never start",
		rule_count(run, users.pods.n, "pod"), claim->str);
	finding_cause(run, f, claim->str);
	finding_label_place(run, f, &found->place, "its access modes");
	if (!one_pod && !users.apart)
		finding_severity(f, SEVERITY_INFO);
}

static void check(struct rule_run *run, const struct workload *w)
{
	const struct object *object =
		w->claims && !w->child ? rule_object(run, w) : NULL;
	struct mounts all = {.n = 0};

	if (!object || object->doc->host)
		return;
	FOR_EACH_POD(object, pod)
		add_mounts(rule_arena(run), pod, &all);
	for (size_t i = 0; i < all.n; i++)
		if (!pod_is_infrastructure(all.items[i].pod) &&
		    is_first(&all, i, NULL))
			check_claim(run, w, &all, &all.items[i]);
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
