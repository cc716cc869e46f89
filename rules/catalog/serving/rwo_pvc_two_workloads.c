/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports servers that mount a ReadWriteOnce claim of another server on another
 * node, or a ReadWriteOncePod claim of another server. If no label shows that
 * the nodes differ, the finding is an info. Jobs may run one after the other,
 * so that only workloads that run indefinitely are compared, and none that is
 * scaled to 0. The pods of one workload are checked by rwo-pvc-multi-replica.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/scheduling/affinity.h"
#include "kube/set/index_find.h"

#define HOSTNAME "kubernetes.io/hostname"

/* WORKLOADS is the largest number of workloads that are compared, MOST that of
 * claims of a workload, and of labels of a claim. */
enum { WORKLOADS = 300, MOST = 16 };

/* A label that the nodes of all pods of a template have. */
struct fixed_label {
	const char *key, *value;
};

/* A claim that the pods of a template mount, and the labels of their nodes. */
struct use {
	const char *claim;
	struct fixed_label labels[MOST];
	size_t nlabels;
	bool follows; /* the pods require the node of other pods */
};

struct uses {
	struct use items[MOST];
	size_t n;
};

static void read_labels(struct arena *arena, const struct pod *pod,
			struct use *out)
{
	const struct node_needs needs = pod_node_needs(pod);

	for (size_t i = 0; i < needs.n && out->nlabels < MOST; i++) {
		const struct node_need *need = &needs.items[i];
		const char *value = node_str(node_need_value(need, 0));

		if (value && need->key && node_need_requires(need) &&
		    !node_need_value(need, 1) && needs.terms <= 1)
			out->labels[out->nlabels++] = (struct fixed_label){
				arena_strdup(arena, need->key),
				arena_strdup(arena, value)};
	}
}

static bool requires_node_of_others(const struct pod *pod)
{
	FOR_EACH_CHILD(
		node_path(pod_field(pod, "affinity"),
			  "podAffinity."
			  "requiredDuringSchedulingIgnoredDuringExecution"),
		term) {
		const struct node *key = node_get(term, "topologyKey");

		if (node_eq(key, HOSTNAME) || node_is_unknown(key))
			return true;
	}
	return false;
}

/* Copies the claims of the workload, because its object is valid only until the
 * next one is read. */
static struct uses *read_uses(struct rule_run *run, const struct workload *w)
{
	struct arena *arena = rule_arena(run);
	struct uses *uses = ARENA_NEW(arena, struct uses);
	const struct object *object = rule_object(run, w);

	if (!object || object->npods != 1 || object->pods->flat ||
	    object->fragment)
		return uses;
	FOR_EACH_CHILD(object->pods->volumes, volume) {
		const char *name = node_str(
			node_path(volume, "persistentVolumeClaim.claimName"));

		if (!name || uses->n == MOST)
			continue;
		uses->items[uses->n].claim = arena_strdup(arena, name);
		uses->items[uses->n].follows =
			requires_node_of_others(object->pods);
		read_labels(arena, object->pods, &uses->items[uses->n++]);
	}
	return uses;
}

/* True if the pods require a node with other pods, which may be those of the
 * other workload, or a label shows that both run on one node. */
static bool share_node(const struct use *a, const struct use *b)
{
	if (a->follows || b->follows)
		return true;
	for (size_t i = 0; i < a->nlabels; i++)
		for (size_t k = 0; k < b->nlabels; k++)
			if (!strcmp(a->labels[i].key, HOSTNAME) &&
			    !strcmp(b->labels[k].key, HOSTNAME) &&
			    !strcmp(a->labels[i].value, b->labels[k].value))
				return true;
	return false;
}

/* Returns a label of b whose value differs in a, so that both run on different
 * nodes; or NULL. */
static const struct fixed_label *clash(const struct use *a, const struct use *b)
{
	for (size_t i = 0; i < a->nlabels; i++)
		for (size_t k = 0; k < b->nlabels; k++)
			if (!strcmp(a->labels[i].key, b->labels[k].key) &&
			    strcmp(a->labels[i].value, b->labels[k].value) != 0)
				return &b->labels[k];
	return NULL;
}

/* True unless all replicas are set to 0: one of two servers may be switched
 * off. */
static bool runs(const struct workload *w)
{
	for (size_t i = 0; i < w->npods; i++)
		if (w->pods[i].peak.n || w->pods[i].peak.unknown)
			return true;
	return false;
}

/* True if the workload runs indefinitely, and its claims are in the namespace,
 * cluster and set of the other one. */
static bool may_share(struct rule_run *run, const struct workload *w,
		      const struct workload *other)
{
	const struct object_index *set = rule_index(run);

	return w->claims && !w->child && !w->duplicate_of && runs(w) &&
	       (w->class == KIND_SERVICE || w->class == KIND_SERVING) &&
	       text_eq(w->id.namespace, other->id.namespace) &&
	       (*w->id.namespace || w->place.file == other->place.file) &&
	       w->cluster == other->cluster &&
	       index_set_of(set, w) == index_set_of(set, other);
}

static bool has_only(const struct found_object *claim, const char *mode)
{
	const struct node *modes =
		claim ? node_path(claim->root, "spec.accessModes") : NULL;

	return node_count(modes) == 1 && node_eq(node_at(modes, 0), mode);
}

static void report(struct rule_run *run, const struct workload *w,
		   const struct workload *other, const struct use *use,
		   const struct use *theirs)
{
	const struct fixed_label *apart = clash(use, theirs);
	const struct found_object *claim =
		index_find(rule_index(run), w, CLUSTER_VOLUME_CLAIM, use->claim,
			   rule_arena(run));
	bool one_pod = has_only(claim, "ReadWriteOncePod");
	const char *title = rule_title(run, other->id.kind, other->id.name);
	struct finding *f;

	if (!one_pod &&
	    (!has_only(claim, "ReadWriteOnce") || share_node(use, theirs)))
		return;
	if (one_pod)
		f = report_place(
			run, &w->id, &w->place,
			"claim `%s` is ReadWriteOncePod, and %s mounts it too: while the pods of one run, those of the other stay Pending",
			use->claim, title);
	else if (apart)
		f = report_place(
			run, &w->id, &w->place,
			"claim `%s` is ReadWriteOnce, and %s mounts it on a node with `%s: %s`: if the storage is attached to one node, the pods of one of them never start",
			use->claim, title, apart->key, apart->value);
	else
		f = report_place(
			run, &w->id, &w->place,
			"claim `%s` is ReadWriteOnce, and %s mounts it too: if their pods land on different nodes, some may never start",
			use->claim, title);
	finding_cause(run, f, use->claim);
	finding_label_place(run, f, &claim->place, "its access modes");
	if (!one_pod && !apart)
		finding_severity(f, SEVERITY_INFO);
}

static void compare(struct rule_run *run, const struct workload *w,
		    const struct workload *other)
{
	const struct uses *own = read_uses(run, w);
	const struct uses *theirs = read_uses(run, other);

	for (size_t i = 0; i < own->n; i++)
		for (size_t k = 0; k < theirs->n; k++)
			if (!strcmp(own->items[i].claim,
				    theirs->items[k].claim))
				report(run, w, other, &own->items[i],
				       &theirs->items[k]);
}

static void check(struct rule_run *run, const struct workload *w)
{
	const struct object_index *set = rule_index(run);

	if (set->nworkloads > WORKLOADS || !may_share(run, w, w) ||
	    !index_keeps(set, CLUSTER_VOLUME_CLAIM))
		return;
	FOR_EACH_WORKLOAD(set, other)
		if (other->at < w->at && may_share(run, other, w))
			compare(run, w, other);
}

const struct rule rule_rwo_pvc_two_workloads = {
	.name = "rwo-pvc-two-workloads",
	.category = "serving",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_SET,
	.summary =
		"two servers mount a volume that only one node, or one pod, may use",
	.why = "If the storage is attached to nodes (disks, not NFS), the pods on the second node wait in ContainerCreating (Multi-Attach) with their GPUs allocated. With ReadWriteOncePod, all pods but one stay Pending.",
	.remedy =
		"Use a ReadWriteMany or ReadOnlyMany claim, a claim for each workload, or, if the claim is ReadWriteOnce, the same node for both.",
	.evidence =
		"https://kubernetes.io/docs/concepts/storage/persistent-volumes/#access-modes; https://github.com/Tanguille/cluster/pull/3568",
	.check_workload = check,
};
