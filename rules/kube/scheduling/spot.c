/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capacity that can be taken away: what lets a pod run on it.
 */
#include "kube/scheduling/spot.h"

#include "base/text.h"
#include "kube/accelerator.h"
#include "kube/scheduling/affinity.h"
#include "rules/kube/kinds.h"

static bool says_spot(const char *key, const struct node *value)
{
	const struct node_label *label;

	if (!node_eq(value, "spot") && !node_eq(value, "SPOT") &&
	    !node_eq(value, "preemptible") && !node_eq(value, "true"))
		return false;
	label = node_label_find(key);
	return label && label->meaning == LABEL_SPOT;
}

static const struct node *term_spot(const struct node *term)
{
	FOR_EACH_CHILD(node_get(term, "matchExpressions"), e) {
		if (!node_eq(node_get(e, "operator"), "In"))
			continue;
		FOR_EACH_CHILD(node_get(e, "values"), value)
			if (says_spot(node_str(node_get(e, "key")), value))
				return value;
	}
	return NULL;
}

static const struct node *toleration_spot(const struct node *toleration)
{
	const struct node *key = node_get(toleration, "key");
	const struct node_label *label = NULL;

	/* Those for a node that is not ready are on every Pod. */
	if (node_str(key) && !text_starts(node_str(key), "node.kubernetes.io/"))
		label = node_label_find(node_str(key));
	if (!label || label->meaning != LABEL_SPOT)
		return NULL;
	if (node_eq(node_get(toleration, "operator"), "Exists") ||
	    says_spot(node_str(key), node_get(toleration, "value")))
		return key;
	return NULL;
}

static const struct node *find_spot(const struct pod *pod)
{
	static const char required[] =
		"nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
	const struct node *at;

	FOR_EACH_CHILD(pod_field(pod, "nodeSelector"), value)
		if (says_spot(value->key, value))
			return value;
	FOR_EACH_CHILD(node_path(pod_field(pod, "affinity"), required), term)
		if ((at = term_spot(term)))
			return at;
	FOR_EACH_CHILD(pod_field(pod, "tolerations"), toleration)
		if ((at = toleration_spot(toleration)))
			return at;
	return NULL;
}

const struct node *pod_spot(const struct pod *pod)
{
	struct pod_memo *memo = pod->memo;

	if (!memo)
		return find_spot(pod);
	if (!memo->spot_known) {
		memo->spot = find_spot(pod);
		memo->spot_known = true;
	}
	return memo->spot;
}

static bool allows_only_spot(const struct node_need *need)
{
	const struct node *value = node_need_value(need, 0);

	if (!value)
		return false;
	for (; value; value = node_need_next(need, value))
		if (!says_spot(need->key, value))
			return false;
	return true;
}

bool pod_is_spot_only(struct arena *arena, const struct pod *pod)
{
	struct node_needs needs = pod_node_needs(arena, pod);

	return node_needs_imply(&needs, allows_only_spot);
}
