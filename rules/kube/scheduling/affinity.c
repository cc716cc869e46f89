/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the node requirements of a pod, and finds those that allow spot
 * capacity. All entries of nodeSelector must match, and at least one term of
 * the required node affinity, of which all expressions must match
 * (component-helpers scheduling/corev1/nodeaffinity).
 */
#include "kube/scheduling/affinity.h"

#include "base/array.h"
#include "base/text.h"
#include "kube/accelerator.h"
#include "kube/scheduling/selector.h"
#include "rules/kube/kinds.h"

#define REQUIRED_TERMS                                                         \
	"nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."         \
	"nodeSelectorTerms"

struct need_list {
	struct arena *arena;
	struct node_needs *out;
	size_t size;
};

static void add_need(struct need_list *list, struct node_need need)
{
	*VEC_PUSH(list->arena, list->out->items, list->out->n, list->size) =
		need;
}

static void add_term(struct need_list *list, const struct node *term)
{
	list->out->terms++;
	FOR_EACH_CHILD(node_get(term, "matchExpressions"), expression) {
		const char *key = node_str(node_get(expression, "key"));
		const char *op = node_str(node_get(expression, "operator"));

		if (!key || !op) {
			list->out->unknown = true;
			continue;
		}
		add_need(list,
			 (struct node_need){key, op, expression,
					    node_get(expression, "values"),
					    list->out->terms});
	}
}

static struct node_needs find_needs(struct arena *arena, const struct pod *pod)
{
	const struct node *selector = pod_field(pod, "nodeSelector");
	const struct node *affinity = pod_field(pod, "affinity");
	const struct node *terms = node_path(affinity, REQUIRED_TERMS);
	struct node_needs out = {0};
	struct need_list list = {arena, &out, 0};

	out.unknown = node_is_unknown(selector) || node_is_unknown(terms);
	/* Items of a list have no keys. */
	FOR_EACH_CHILD(selector, entry)
		if (entry->key)
			add_need(&list, (struct node_need){entry->key, "In",
							   entry, entry, 0});
	FOR_EACH_CHILD(terms, term)
		add_term(&list, term);
	return out;
}

struct node_needs pod_node_needs(const struct pod *pod)
{
	struct pod_memo *memo = pod->memo;
	struct node_needs *needs;

	if (!memo->needs) {
		needs = ARENA_NEW(memo->arena, struct node_needs);
		*needs = find_needs(memo->arena, pod);
		memo->needs = needs;
	}
	return *memo->needs;
}

const struct node *node_need_value(const struct node_need *need, size_t i)
{
	if (!text_eq(need->operator, "In"))
		return NULL;
	if (node_is_seq(need->values))
		return node_at(need->values, i);
	return i == 0 ? need->values : NULL;
}

const struct node *node_need_next(const struct node_need *need,
				  const struct node *value)
{
	return value == need->values ? NULL : value->next;
}

bool node_need_requires(const struct node_need *need)
{
	return !text_eq(need->operator, "NotIn") &&
	       !text_eq(need->operator, "DoesNotExist");
}

bool node_needs_imply(const struct node_needs *needs,
		      bool (*fits)(const struct node_need *need))
{
	unsigned fitting = 0, term = 0;

	for (size_t i = 0; i < needs->n; i++) {
		const struct node_need *need = &needs->items[i];

		if (!fits(need))
			continue;
		if (!need->term)
			return true;
		fitting += need->term != term;
		term = need->term;
	}
	return fitting && fitting == needs->terms;
}

/* True if the term selects pods with the template's own labels, in its own
 * namespace. */
static bool selects_own(const struct node *term, const struct pod *pod)
{
	static const char *const others[] = {"namespaces", "namespaceSelector",
					     "mismatchLabelKeys", NULL};
	const struct node *selector = node_get(term, "labelSelector");

	for (const char *const *key = others; *key; key++)
		if (!node_is_unset(node_get(term, *key)))
			return false;
	return node_count(selector) &&
	       label_selector_matches(selector, pod->labels, LABELS_ANY_MORE) ==
		       TRI_YES;
}

/* Returns the topologyKey of the rule's term that has the hostname as topology
 * key and selects the template's own pods, or NULL. */
static const struct node *own_term(const struct pod *pod, const char *rule)
{
	const struct node *terms =
		node_get(node_get(pod_field(pod, "affinity"), rule),
			 "requiredDuringSchedulingIgnoredDuringExecution");

	FOR_EACH_CHILD(terms, term)
		if (node_eq(node_get(term, "topologyKey"),
			    "kubernetes.io/hostname") &&
		    selects_own(term, pod))
			return node_get(term, "topologyKey");
	return NULL;
}

const struct node *pod_keeps_apart(const struct pod *pod)
{
	return own_term(pod, "podAntiAffinity");
}

bool pod_keeps_together(const struct pod *pod)
{
	return node_str(pod_field(pod, "nodeName")) ||
	       node_str(node_get(pod_field(pod, "nodeSelector"),
				 "kubernetes.io/hostname")) ||
	       own_term(pod, "podAffinity");
}

/*
 * Finds the selector or toleration that lets a pod run on preemptible capacity.
 */

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
