/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/scheduling/sharing.h"

#include "base/array.h"
#include "base/text.h"
#include "kube/scheduling/node_match.h"
#include "rules/kube/kinds.h"

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
