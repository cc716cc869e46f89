/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the facts of a workload: the requests and labels of its pods, their
 * number, and the properties by which quotas, classes and queues select them.
 */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "doc/build.h"
#include "doc/edit.h"
#include "index_internal.h"
#include "kube/claim.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/purpose/purpose.h"
#include "kube/scheduling/selector.h"
#include "rules/kube/kinds.h"

/*
 * Finds the labels of a workload's pods that a manifest determines: the
 * template's labels, and the label by which an operator finds its pods. Kinds
 * of apps/v1 and Pods add no other labels that selectors use; the operators
 * below add only labels in their domains, and `job-name`. Sources:
 * pkg/controller/job (batch.kubernetes.io/job-name), training-operator
 * pkg/apis/kubeflow.org/v1 JobNameLabel, jobset api/jobset/v1alpha2
 * JobSetNameKey, lws api SetNameLabelKey, volcano pkg/apis/batch/v1alpha1
 * JobNameKey, kuberay utils.RayClusterLabelKey, RayNodeTypeLabelKey.
 */

/* Largest number of labels per pod; real objects have fewer. */
enum { LABELS_MAX = 64 };

static const struct {
	const char *group, *kind, *key;
} named[] = {
	{"batch", "Job", "batch.kubernetes.io/job-name"},
	{"batch", "Job", "job-name"},
	{"kubeflow.org", "PyTorchJob", "training.kubeflow.org/job-name"},
	{"kubeflow.org", "TFJob", "training.kubeflow.org/job-name"},
	{"kubeflow.org", "MPIJob", "training.kubeflow.org/job-name"},
	{"jobset.x-k8s.io", "JobSet", "jobset.sigs.k8s.io/jobset-name"},
	{"leaderworkerset.x-k8s.io", "LeaderWorkerSet",
	 "leaderworkerset.sigs.k8s.io/name"},
	{"batch.volcano.sh", "Job", "volcano.sh/job-name"},
	{"ray.io", "RayCluster", "ray.io/cluster"},
};
#define RAY_NODE_TYPE "ray.io/node-type"
enum { NAMED = ARRAY_SIZE(named) };

static bool adds_none(const struct object *o)
{
	return text_eq(o->group, "apps") || object_is(o, "", "Pod") ||
	       object_is(o, "", "ReplicationController");
}

static void add_label(struct workload_pod *out, const char *key,
		      const char *value)
{
	out->labels[out->nlabels++] =
		(struct pod_label){text_or_empty(key), value};
}

static enum more_labels more_of(const struct pod *pod)
{
	const struct object *o = pod->object;

	if (o->fragment || o->parent || pod->flat ||
	    node_count(pod->labels) > LABELS_MAX ||
	    node_is_unknown(pod->labels))
		return LABELS_ANY_MORE;
	if (adds_none(o))
		return LABELS_NO_MORE;
	for (size_t i = 0; i < NAMED; i++)
		if (object_is(o, named[i].group, named[i].kind))
			return LABELS_OF_OPERATOR;
	return LABELS_ANY_MORE;
}

static void pod_read_labels(struct arena *arena, const struct pod *pod,
			    struct workload_pod *out)
{
	const struct object *o = pod->object;
	size_t n = node_count(pod->labels);

	out->more_labels = more_of(pod);
	if (n > LABELS_MAX)
		return;
	out->labels = ARENA_ARRAY(arena, struct pod_label, n + NAMED + 1);
	FOR_EACH_CHILD(pod->labels, label)
		add_label(out, label->key,
			  node_is_unset(label) ? "" : node_str(label));
	for (size_t i = 0; i < NAMED; i++)
		if (o->name && object_is(o, named[i].group, named[i].kind) &&
		    !node_get(pod->labels, named[i].key))
			add_label(out, named[i].key, o->name);
	if (object_is(o, "ray.io", "RayCluster") &&
	    !node_get(pod->labels, RAY_NODE_TYPE))
		add_label(out, RAY_NODE_TYPE,
			  text_eq(pod->role, "Head") ? "head" : "worker");
}

const struct node *workload_pod_labels(const struct workload_pod *pod,
				       struct arena *arena)
{
	struct node *map = node_new(arena, NODE_MAP);

	for (size_t i = 0; i < pod->nlabels; i++) {
		const struct pod_label *label = &pod->labels[i];
		struct node *one =
			edit_string(arena, text_or_empty(label->value));

		if (!label->value)
			one->flags |= NODE_UNKNOWN;
		edit_member(arena, map, label->key, one);
	}
	return map;
}

enum tri workload_pod_selected(const struct workload_pod *pod,
			       const struct node *selector, struct arena *arena)
{
	return label_selector_matches(selector, workload_pod_labels(pod, arena),
				      pod->more_labels);
}

/*
 * The extended resources of a pod, each summed over the containers that request
 * it. Up to FEW names are searched one by one; a pod may request tens of
 * thousands of names, for which there is a hash table.
 */
enum { FEW = 32 };

struct demand_list {
	struct demand_sum {
		const char *resource;
		struct request_sum sum;
		/* container that was added last */
		const struct container *last;
	} * items;
	size_t n, size;
	/* hash table of 1 + index, or NULL if there are few */
	uint32_t *slots;
	size_t mask;
};

static struct demand_sum *
demand_find(struct arena *arena, struct demand_list *list, const char *resource)
{
	size_t at = 0;
	struct demand_sum *found;

	for (size_t i = 0; !list->slots && i < list->n; i++)
		if (!strcmp(list->items[i].resource, resource))
			return &list->items[i];
	if (list->slots)
		at = text_keyed_hash(resource, strlen(resource)) & list->mask;
	for (; list->slots && list->slots[at]; at = (at + 1) & list->mask) {
		found = &list->items[list->slots[at] - 1];
		if (!strcmp(found->resource, resource))
			return found;
	}
	found = VEC_PUSH(arena, list->items, list->n, list->size);
	*found = (struct demand_sum){.resource = resource};
	if (list->slots)
		list->slots[at] = (uint32_t)list->n;
	return found;
}

static void demand_add(struct arena *arena, struct demand_list *list,
		       const struct container *c, const char *resource)
{
	struct demand_sum *demand;

	demand = demand_find(arena, list, resource);
	if (demand->last == c)
		return;
	demand->last = c;
	request_add(&demand->sum, c, resource, false);
}

static void demand_init(struct arena *arena, struct demand_list *list,
			const struct pod *pod)
{
	size_t n = 0;

	FOR_EACH_CONTAINER(pod, c)
		n += 1 + c->nlimits + c->nrequests;
	if (n <= FEW)
		return;
	for (list->mask = 8; list->mask < 2 * n; list->mask *= 2)
		continue;
	list->slots = ARENA_ARRAY(arena, uint32_t, list->mask);
	list->mask--;
	list->items = ARENA_ARRAY(arena, struct demand_sum, n);
	list->size = n;
}

/* Adds up the extended resources of a pod, whose names have a domain, and the
 * devices of its claims. */
static void demand_of(struct arena *arena, const struct pod *pod,
		      struct workload_pod *out)
{
	struct demand_list list = {0};
	struct pod_demand *claimed;
	size_t nclaimed;

	claimed = pod_claim_demands(arena, pod, &nclaimed);
	demand_init(arena, &list, pod);
	FOR_EACH_CONTAINER(pod, c) {
		if (c->resource)
			demand_add(arena, &list, c, c->resource);
		FOR_EACH_ASKED(c, entry)
			if (entry->node->key != c->resource &&
			    strchr(entry->node->key, '/'))
				demand_add(arena, &list, c, entry->node->key);
	}
	if (!list.n && !nclaimed)
		return;
	out->demand = ARENA_ARRAY(arena, struct pod_demand, list.n + nclaimed);
	for (size_t i = 0; i < list.n; i++) {
		const struct demand_sum *one = &list.items[i];
		struct pod_demand *demand = &out->demand[out->ndemand++];

		demand->resource = text_or_empty(one->resource);
		demand->quantity = pod_extended(pod, one->resource, &one->sum,
						&demand->unknown);
	}
	for (size_t i = 0; i < nclaimed; i++)
		out->demand[out->ndemand++] = claimed[i];
}

/* True if neither the pod itself nor a container requests cpu or memory
 * (extended resources do not count: pkg/apis/core/v1/helper/qos). */
static bool is_best_effort(const struct pod *pod)
{
	struct quantity q;

	if (pod->cut)
		return false;
	FOR_EACH_CONTAINER(pod, c)
		if (container_limit(c, "cpu", &q) != QUANTITY_ABSENT ||
		    container_limit(c, "memory", &q) != QUANTITY_ABSENT ||
		    container_request(c, "cpu", &q) != QUANTITY_ABSENT ||
		    container_request(c, "memory", &q) != QUANTITY_ABSENT)
			return false;
	return node_is_unset(pod_field(pod, "resources"));
}

static void priority_read(const struct pod *pod, struct workload_pod *out)
{
	const struct node *class = pod_priority_class(pod);

	out->priority_class = node_str(class);
	out->priority_unknown =
		class ? !out->priority_class : pod_priority_is_elsewhere(pod);
}

/* Returns the facts about a GPU pod without a priority class. Returns NULL for
 * other pods and for patches, and if the class is unknown or another field
 * orders the workload in a queue. */
static struct pod_without_class *without_class(struct arena *arena,
					       const struct pod *pod,
					       const struct workload_pod *read,
					       uint32_t file)
{
	struct pod_without_class *out;

	if (!pod->gpu_by || pod->object->fragment || read->priority_class ||
	    read->priority_unknown || pod_queue_priority(pod))
		return NULL;
	out = ARENA_NEW(arena, struct pod_without_class);
	out->role = text_or_empty(pod->role);
	out->place = place_later(pod->object, pod->spec, file);
	out->spec = spec_place_of(pod);
	out->fixable = !pod->flat && !pod->object->doc->host &&
		       !pod_is_infrastructure(pod);
	return out;
}

static void pod_read(struct arena *arena, const struct pod *pod,
		     struct workload_pod *out, uint32_t file)
{
	out->steady = pod->steady;
	out->peak = pod->peak;
	out->gpus = pod->gpus;
	out->gpu = pod->gpu_by != 0;
	demand_of(arena, pod, out);
	pod_read_labels(arena, pod, out);
	priority_read(pod, out);
	out->without_class = without_class(arena, pod, out, file);
	out->best_effort = is_best_effort(pod);
	out->terminating =
		!node_is_unset(pod_field(pod, "activeDeadlineSeconds"));
}

/* Notes kinds of objects to which the pod refers. */
static void note_references(const struct pod *pod, struct workload *w)
{
	if (pod->flat)
		return;
	w->runtime_class |=
		node_str(pod_field(pod, "runtimeClassName")) != NULL;
	w->subdomain |= node_str(pod_field(pod, "subdomain")) != NULL;
	FOR_EACH_CHILD(pod->volumes, volume)
		w->claims |= node_get(volume, "persistentVolumeClaim") != NULL;
}

static const char *queue_of(const struct object *o, enum queue_type *type)
{
	const struct node *queue = node_get(node_get(o->root, "spec"), "queue");

	*type = text_eq(o->group, "batch.volcano.sh") ? QUEUE_VOLCANO
						      : QUEUE_OTHER;
	if (node_str(queue))
		return text_or_empty(node_str(queue));
	*type = QUEUE_VOLCANO;
	queue = object_annotation(o, "scheduling.volcano.sh/queue-name");
	if (!node_str(queue))
		queue = object_label(o, "volcano.sh/queue-name");
	if (!node_str(queue)) {
		*type = QUEUE_OF_GANG;
		queue = node_path(o->root,
				  "spec.runPolicy.schedulingPolicy.queue");
	}
	if (!node_str(queue)) {
		*type = QUEUE_KAI;
		queue = object_label(o, "kai.scheduler/queue");
	}
	return node_str(queue) ? text_or_empty(node_str(queue)) : NULL;
}

static void role_of(const struct object *o, struct workload *w)
{
	FOR_EACH_POD(o, pod) {
		if (!pod->gpu_by)
			continue;
		w->training |= pod_is_training(pod);
		w->serving |= pod_is_serving(pod);
	}
}

/* True if the object has a separate maximum that allows more pods than at
 * first: for training kinds, for RayClusters and RayJobs, and for the batch
 * kinds of Spark and Flux, whose pods are flat. In other kinds, the additional
 * pods are those of a rollout, an upgrade or a replacement. */
static bool grows(const struct object *o, const struct pod *pod)
{
	return pod->peak.n > pod->steady.n &&
	       (o->class == KIND_TRAINING ||
		(o->class == KIND_BATCH && pod->flat) ||
		(o->class == KIND_RAY && !text_eq(o->kind, "RayService")));
}

struct workload *workload_read(struct arena *arena, const struct object *o,
			       uint32_t file)
{
	struct workload *w = ARENA_NEW(arena, struct workload);
	struct amount copies = object_copies(o);
	const char *queue;

	w->id = object_id_of(o);
	w->settings = o->settings;
	w->place = place_later(o, index_name_node(o), file);
	w->class = o->class;
	w->gang_kind = o->gang_kind;
	w->gang = o->gang;
	w->suspended = o->suspended;
	w->fragment = o->fragment;
	w->kueue = o->kueue;
	/* A parent without pods (Katib, AppWrapper) has no facts, only its
	 * embedded objects do. */
	w->child = o->parent && o->parent->npods;
	w->queue = queue_of(o, &w->queue_type);
	queue = node_str(object_kueue_label(o));
	if (queue)
		w->kueue_queue = text_or_empty(queue);
	role_of(o, w);
	w->pods = ARENA_ARRAY(arena, struct workload_pod, o->npods);
	FOR_EACH_POD(o, pod) {
		w->elastic |= grows(o, pod);
		pod_read(arena, pod, &w->pods[w->npods], file);
		note_references(pod, w);
		w->pods[w->npods].steady = amount_mul(pod->steady, copies);
		w->pods[w->npods].peak = amount_mul(pod->peak, copies);
		w->npods++;
	}
	return w;
}
