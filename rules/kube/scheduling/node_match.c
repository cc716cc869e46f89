/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the results of the scheduler's NodeAffinity, TaintToleration and
 * NodeResourcesFit for groups of nodes. A taint with the name of a requested
 * resource counts as tolerated: ExtendedResourceToleration may add the
 * toleration, and gpu-toleration-missing reports if it is missing.
 */
#include "kube/scheduling/node_match.h"

#include "doc/budget.h"
#include "kube/scheduling/labels.h"
#include "rules/kube/kinds.h"

static const struct node *required(const struct pod *pod)
{
	return node_path(pod_field(pod, "affinity"),
			 "nodeAffinity."
			 "requiredDuringSchedulingIgnoredDuringExecution");
}

enum { GROUP_WORK = 10 }; /* cost of one group, in comparisons */

/* Returns the number of values below the node. */
static uint64_t values_below(const struct node *node)
{
	uint64_t n = 0;

	FOR_EACH_CHILD(node, child)
		n += 1 + values_below(child);
	return n;
}

bool nodes_afford(const struct cluster *cluster, const struct pod *pod,
		  uint64_t values)
{
	struct load_cost cost = {0};
	size_t n;

	cluster_nodes(cluster, &n);
	cost.compared = n * (values + GROUP_WORK);
	return load_budget_spend(pod->memo->arena->budget, &cost);
}

/* Spends the work of comparing the pod with all groups; false if it is too
 * much. */
static bool can_compare(const struct cluster *cluster, const struct pod *pod)
{
	return nodes_afford(cluster, pod,
			    values_below(pod_field(pod, "nodeSelector")) +
				    values_below(required(pod)) +
				    node_count(pod_field(pod, "tolerations")));
}

static bool selects(const struct pod *pod, const struct node_group *group)
{
	const struct node *selector = pod_field(pod, "nodeSelector");
	const struct node *terms = required(pod);

	if (node_count(selector) &&
	    label_map_matches(selector, group->labels) == TRI_NO)
		return false;
	return node_is_unset(terms) ||
	       node_selector_matches(terms, group->labels) != TRI_NO;
}

static bool asks_for(const struct pod *pod, const char *resource)
{
	FOR_EACH_CONTAINER(pod, c)
		if (node_get(container_limits(c), resource) ||
		    node_get(container_requests(c), resource) ||
		    (c->accelerator &&
		     text_eq(c->accelerator->taint, resource)))
			return true;
	return false;
}

/* Returns the first taint that keeps the pod off the nodes, or NULL. The taint
 * of a resource that the pod requests does not, because a cluster may add its
 * toleration. */
static const struct node *taint_against(const struct pod *pod,
					const struct node_group *group)
{
	const struct node *tolerations = pod_field(pod, "tolerations");

	FOR_EACH_CHILD(group->taints, taint) {
		const char *key = node_str(node_get(taint, "key"));
		const char *value = node_str(node_get(taint, "value"));
		const char *effect = node_str(node_get(taint, "effect"));

		if (!key || !effect || !strcmp(effect, "PreferNoSchedule") ||
		    asks_for(pod, key))
			continue;
		if (tolerations_tolerate(tolerations, key, value ? value : "",
					 effect) == TRI_NO)
			return taint;
	}
	return NULL;
}

int64_t node_group_offers(const struct node_group *group, const char *resource)
{
	struct quantity q;

	if (node_quantity(node_get(group->allocatable, resource), &q) !=
	    QUANTITY_OK)
		return 0;
	return quantity_value(q);
}

static bool is_unknown(const struct cluster *cluster, const struct pod *pod)
{
	struct node_needs needs = pod_node_needs(pod);
	bool unknown = needs.unknown;

	for (size_t i = 0; i < needs.n; i++)
		unknown |= cluster_label_is_individual(cluster,
						       needs.items[i].key);
	FOR_EACH_CHILD(node_get(required(pod), "nodeSelectorTerms"), term)
		unknown |= node_count(node_get(term, "matchFields")) > 0;
	return unknown;
}

struct node_match pod_node_match(const struct cluster *cluster,
				 const struct pod *pod, const char *resource)
{
	struct node_match match = {.unknown = is_unknown(cluster, pod)};
	size_t n;
	const struct node_group *groups = cluster_nodes(cluster, &n);

	if (!can_compare(cluster, pod))
		match.unknown = true;
	for (size_t i = 0; i < n && !match.unknown; i++) {
		const struct node *taint;
		int64_t most;

		if (!selects(pod, &groups[i]))
			continue;
		match.selected += groups[i].count;
		taint = taint_against(pod, &groups[i]);
		if (!taint)
			match.tolerated += groups[i].count;
		else if (!match.taint)
			match.taint = taint;
		most = resource ? node_group_offers(&groups[i], resource) : 0;
		if (most > match.most) {
			match.most = most;
			match.largest = &groups[i];
		}
	}
	return match;
}

uint64_t nodes_with_label(const struct cluster *cluster, const struct pod *pod,
			  const char *key, const char *value)
{
	uint64_t count = 0;
	size_t n;
	const struct node_group *groups = cluster_nodes(cluster, &n);

	if (!nodes_afford(cluster, pod, 0))
		return 1;
	for (size_t i = 0; i < n; i++) {
		const struct node *label = node_get(groups[i].labels, key);

		if (label && (!*value || node_eq(label, value)))
			count += groups[i].count;
	}
	return count;
}

const char *nodes_nearest_label(const struct cluster *cluster,
				struct arena *arena, const char *key,
				const char *value)
{
	size_t n, found = 0;
	const struct node_group *groups = cluster_nodes(cluster, &n);
	const char **values = ARENA_ARRAY(arena, const char *, n + 1);

	for (size_t i = 0; i < n; i++) {
		const char *text = node_str(node_get(groups[i].labels, key));

		if (text)
			values[found++] = text;
	}
	return text_nearest(value, values, found);
}

bool cluster_shows_nodes(const struct cluster *cluster)
{
	return cluster && !cluster_unreadable(cluster, CLUSTER_NODE) &&
	       cluster_count(cluster, CLUSTER_NODE) &&
	       !cluster_count(cluster, CLUSTER_NODE_POOL) &&
	       !cluster_unreadable(cluster, CLUSTER_NODE_POOL);
}

bool nodes_all(const struct cluster *cluster, const struct pod *pod,
	       const char *resource, bool (*fits)(const struct node *labels))
{
	const struct node_group *groups;
	bool any = false;
	size_t n;

	if (!cluster_shows_nodes(cluster) || is_unknown(cluster, pod) ||
	    !can_compare(cluster, pod))
		return false;
	groups = cluster_nodes(cluster, &n);
	for (size_t i = 0; i < n; i++) {
		if (!selects(pod, &groups[i]) ||
		    node_group_offers(&groups[i], resource) <= 0)
			continue;
		if (!fits(groups[i].labels))
			return false;
		any = true;
	}
	return any;
}

const struct node *pod_runtime_scheduling(const struct cluster *cluster,
					  const struct pod *pod,
					  struct arena *arena, bool *unknown)
{
	const struct node *field = pod_field(pod, "runtimeClassName");
	const struct object_id id = {"node.k8s.io/v1", "RuntimeClass", "",
				     node_str(field)};
	const struct node *class = NULL;

	if (cluster && id.name)
		class = cluster_object(cluster, &id, arena);
	*unknown = !class && !node_is_unset(field) &&
		   !text_starts(id.name, "nvidia");
	return node_get(class, "scheduling");
}
