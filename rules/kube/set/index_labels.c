/* SPDX-License-Identifier: Apache-2.0 */
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
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "doc/build.h"
#include "doc/edit.h"
#include "index_internal.h"
#include "kube/scheduling/selector.h"

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

void pod_read_labels(struct arena *arena, const struct pod *pod,
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
