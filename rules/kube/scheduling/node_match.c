/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the results of the scheduler's NodeAffinity, TaintToleration and
 * NodeResourcesFit for groups of nodes. A taint with the name of a requested
 * resource counts as tolerated: ExtendedResourceToleration may add the
 * toleration, and gpu-toleration-missing reports if it is missing.
 */
#include "kube/scheduling/node_match.h"

#include "base/array.h"
#include "base/text.h"
#include "doc/budget.h"
#include "kube/scheduling/node_devices.h"
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

/* True if fits() is true for the labels of every node that the pod selects and
 * that offers the resource. False if such a node does not exist, if the
 * snapshot may lack nodes (cluster_shows_nodes()), or if something is unknown
 * or too much to compare. */
static bool nodes_all(const struct cluster *cluster, const struct pod *pod,
		      const char *resource,
		      bool (*fits)(const struct node *labels))
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

#define PRODUCT	     "nvidia.com/gpu.product"
#define STRATEGY     "nvidia.com/gpu.sharing-strategy"
#define GKE_STRATEGY "cloud.google.com/gke-gpu-sharing-strategy"
#define GKE_SLICE    "cloud.google.com/gke-gpu-partition-size"

/* Returns the class of a unit on nodes with this label. */
static enum accel_class unit_of(const char *key, const char *value)
{
	bool mps = text_eq(value, "mps");

	if (text_eq(key, PRODUCT)) {
		if (text_ends(value, "-SHARED"))
			return ACCEL_SHARED;
		return text_contains(value, "-MIG-") &&
				       !text_ends(value, "-MIG-INVALID")
			       ? ACCEL_MIG
			       : ACCEL_WHOLE;
	}
	if (text_eq(key, STRATEGY) && (mps || text_eq(value, "time-slicing")))
		return ACCEL_SHARED;
	if (text_eq(key, GKE_STRATEGY) &&
	    (mps || text_eq(value, "time-sharing")))
		return ACCEL_SHARED;
	return text_eq(key, GKE_SLICE) ? ACCEL_MIG : ACCEL_WHOLE;
}

static bool allows_only(const struct node_need *need, enum accel_class unit)
{
	const struct node *value = node_need_value(need, 0);

	if (!value)
		return false;
	for (; value; value = node_need_next(need, value))
		if (!node_str(value) || node_is_unknown(value) ||
		    unit_of(need->key, node_str(value)) != unit)
			return false;
	return true;
}

static bool selects_shares(const struct node_need *need)
{
	return allows_only(need, ACCEL_SHARED);
}

static bool selects_slices(const struct node_need *need)
{
	return allows_only(need, ACCEL_MIG);
}

static bool has_unit(const struct node *labels, enum accel_class unit)
{
	static const char *const keys[] = {STRATEGY, PRODUCT, GKE_STRATEGY,
					   GKE_SLICE};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *value = node_str(node_get(labels, keys[i]));

		if (value && unit_of(keys[i], value) == unit)
			return true;
	}
	return false;
}

static bool has_shares(const struct node *labels)
{
	return has_unit(labels, ACCEL_SHARED);
}

static bool has_slices(const struct node *labels)
{
	return has_unit(labels, ACCEL_MIG);
}

/* Returns the class of a unit on the nodes that the pod selects. */
static enum accel_class selected_unit(const struct pod *pod)
{
	struct node_needs needs = pod_node_needs(pod);

	if (node_needs_imply(&needs, selects_shares))
		return ACCEL_SHARED;
	return node_needs_imply(&needs, selects_slices) ? ACCEL_MIG
							: ACCEL_WHOLE;
}

/* Stores the result, because several rules need it. */
static enum accel_class pod_unit(const struct pod *pod)
{
	struct pod_memo *memo = pod->memo;

	if (!memo->unit_known) {
		memo->unit = selected_unit(pod);
		memo->unit_known = true;
	}
	return memo->unit;
}

enum accel_class container_unit(const struct cluster *cluster,
				const struct container *c,
				const struct resource_entry *entry)
{
	const char *name = entry->node->key;
	enum accel_class unit;

	if (entry->accelerator && entry->accelerator->class != ACCEL_WHOLE)
		return entry->accelerator->class;
	if (!text_eq(name, "nvidia.com/gpu"))
		return ACCEL_WHOLE;
	unit = pod_unit(c->pod);
	if (!cluster)
		return unit;
	if (unit == ACCEL_SHARED ||
	    nodes_all(cluster, c->pod, name, has_shares))
		return ACCEL_SHARED;
	if (unit == ACCEL_MIG || nodes_all(cluster, c->pod, name, has_slices))
		return ACCEL_MIG;
	return ACCEL_WHOLE;
}

bool pod_requests_whole(const struct cluster *cluster, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		FOR_EACH_ASKED(c, entry)
			if (entry->accelerator &&
			    (container_unit(cluster, c, entry) != ACCEL_WHOLE ||
			     text_eq(entry->accelerator->vendor, "amd")))
				return false;
	return true;
}
