/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a ResourceFlavor never takes a pod: its taints, its labels, a missing
 * topology.
 */
#include "base/array.h"
#include "base/text.h"
#include "kube/object.h"
#include "kube/quota/queue.h"
#include "kube/scheduling/affinity.h"
#include "kube/scheduling/selector.h"

static struct flavor_misfit taint_refusal(struct arena *arena,
					  const struct pod *pod,
					  const struct node *flavor)
{
	FOR_EACH_CHILD(node_path(flavor, "spec.nodeTaints"), taint) {
		const char *key = node_str(node_get(taint, "key"));
		const char *value =
			text_or_empty(node_str(node_get(taint, "value")));
		const char *effect = node_str(node_get(taint, "effect"));

		if (!key || !effect || text_eq(effect, "PreferNoSchedule") ||
		    tolerations_tolerate(pod->tolerations, key, value,
					 effect) != TRI_NO ||
		    tolerations_tolerate(node_path(flavor, "spec.tolerations"),
					 key, value, effect) != TRI_NO)
			continue;
		return (struct flavor_misfit){
			arena_printf(arena, "has the taint `%s%s%s:%s`", key,
				     *value ? "=" : "", value, effect),
			pod->tolerations};
	}
	return (struct flavor_misfit){NULL, NULL};
}

/* Requirements of the node selector alone: terms of an affinity are
 * alternatives. */
static struct flavor_misfit label_refusal(struct arena *arena,
					  const struct pod *pod,
					  const struct node *flavor)
{
	FOR_EACH_CHILD(pod->node_selector, want) {
		const struct node *label =
			node_get(node_path(flavor, "spec.nodeLabels"),
				 text_or_empty(want->key));

		if (!node_str(want) || !node_str(label) ||
		    node_same(want, label))
			continue;
		return (struct flavor_misfit){
			arena_printf(arena, "has the label `%s=%s`", want->key,
				     label->str),
			want};
	}
	return (struct flavor_misfit){NULL, NULL};
}

static const struct node *topology_request(const struct pod *pod)
{
	static const char *const keys[] = {
		"kueue.x-k8s.io/podset-required-topology",
		"kueue.x-k8s.io/podset-preferred-topology",
		"kueue.x-k8s.io/podset-unconstrained-topology",
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (pod_annotation(pod, keys[i]))
			return pod_annotation(pod, keys[i]);
	return NULL;
}

struct flavor_misfit queue_flavor_misfit(struct arena *arena,
					 const struct pod *pod,
					 const struct node *flavor, bool whole)
{
	const struct node *topology = topology_request(pod);
	struct flavor_misfit refusal = taint_refusal(arena, pod, flavor);

	if (!refusal.text)
		refusal = label_refusal(arena, pod, flavor);
	if (!refusal.text && topology && whole &&
	    node_is_unset(node_path(flavor, "spec.topologyName")))
		refusal = (struct flavor_misfit){
			"has no `topologyName`, which the pods request",
			topology};
	return refusal;
}
