/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the selector or toleration that lets a pod run on preemptible capacity.
 */
#include "kube/scheduling/spot.h"

#include "base/text.h"
#include "kube/accelerator.h"
#include "rules/kube/kinds.h"

static bool is_spot_label(const char *key)
{
	const struct node_label *label = key ? node_label_find(key) : NULL;

	return label && label->meaning == LABEL_SPOT;
}

bool spot_is_selected(const char *key, const struct node *value)
{
	if (!node_eq(value, "spot") && !node_eq(value, "SPOT") &&
	    !node_eq(value, "preemptible") && !node_eq(value, "true"))
		return false;
	return is_spot_label(key);
}

static const struct node *term_spot(const struct node *term)
{
	FOR_EACH_CHILD(node_get(term, "matchExpressions"), e) {
		if (!node_eq(node_get(e, "operator"), "In"))
			continue;
		FOR_EACH_CHILD(node_get(e, "values"), value)
			if (spot_is_selected(node_str(node_get(e, "key")),
					     value))
				return value;
	}
	return NULL;
}

/* True for expressions that exclude preemptible nodes: `capacity-type In
 * [on-demand]`, `gke-spot DoesNotExist`. */
static bool expression_excludes(const struct node *e)
{
	const struct node *op = node_get(e, "operator");
	bool listed = false;

	if (!is_spot_label(node_str(node_get(e, "key"))))
		return false;
	FOR_EACH_CHILD(node_get(e, "values"), value) {
		if (!node_str(value))
			return false;
		listed |= spot_is_selected(node_str(node_get(e, "key")), value);
	}
	return node_eq(op, "DoesNotExist") ||
	       (listed ? node_eq(op, "NotIn") : node_eq(op, "In"));
}

static bool term_excludes(const struct node *term)
{
	FOR_EACH_CHILD(node_get(term, "matchExpressions"), e)
		if (expression_excludes(e))
			return true;
	return false;
}

/* True if the pod's selectors exclude preemptible nodes, whatever it
 * tolerates. */
static bool excludes_spot(const struct node *selector, const struct node *terms)
{
	FOR_EACH_CHILD(selector, value)
		if (is_spot_label(value->key) && node_str(value) &&
		    !spot_is_selected(value->key, value))
			return true;
	FOR_EACH_CHILD(terms, term)
		if (!term_excludes(term))
			return false;
	return node_count(terms) > 0;
}

static const struct node *toleration_spot(const struct node *toleration)
{
	const struct node *key = node_get(toleration, "key");

	/* Skip tolerations for the state of nodes (node.kubernetes.io/...),
	 * which every Pod has. */
	if (!node_str(key) ||
	    text_starts(node_str(key), "node.kubernetes.io/") ||
	    !is_spot_label(node_str(key)))
		return NULL;
	if (node_eq(node_get(toleration, "operator"), "Exists") ||
	    spot_is_selected(node_str(key), node_get(toleration, "value")))
		return key;
	return NULL;
}

static const struct node *find_spot(const struct pod *pod)
{
	static const char required[] =
		"nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
	const struct node *selector = pod_field(pod, "nodeSelector");
	const struct node *terms =
		node_path(pod_field(pod, "affinity"), required);
	const struct node *at;

	FOR_EACH_CHILD(selector, value)
		if (spot_is_selected(value->key, value))
			return value;
	FOR_EACH_CHILD(terms, term)
		if ((at = term_spot(term)))
			return at;
	FOR_EACH_CHILD(pod_field(pod, "tolerations"), toleration)
		if ((at = toleration_spot(toleration)))
			return excludes_spot(selector, terms) ? NULL : at;
	return NULL;
}

const struct node *pod_spot(const struct pod *pod)
{
	struct pod_memo *memo = pod->memo;

	if (!memo->spot_known) {
		memo->spot = find_spot(pod);
		memo->spot_known = true;
	}
	return memo->spot;
}
