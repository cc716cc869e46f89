/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pod's effective requests, computed as in component-helpers
 * resource/helpers.go, the limit that bounds a container, and the name of a
 * pod's devices in messages.
 */
#include "base/text.h"
#include "kinds.h"

#include <string.h>

/* Reads the amount that one container requests; returns false if it is
 * unknown. */
static bool container_share(const struct container *c, const char *resource,
			    bool limits, struct quantity *q)
{
	size_t len = strlen(resource);
	const struct node *limit = node_getn(c->limits, resource, len);
	const struct node *request = node_getn(c->requests, resource, len);
	enum quantity_state state = QUANTITY_ABSENT;

	/* Devices that a field of the operator requests. */
	if (node_is_unset(limit) && node_is_unset(request) &&
	    text_eq(c->resource, resource)) {
		*q = quantity_from(c->gpus.n);
		return !c->gpus.unknown;
	}
	if (!limits)
		state = container_value(c, request, q);
	/* If a Pod sets only the limit, it is also the request. */
	if (state == QUANTITY_ABSENT)
		state = container_value(c, limit, q);
	if (state == QUANTITY_OK)
		return true;
	*q = quantity_from(0);
	return state == QUANTITY_ABSENT;
}

static bool add_node(const struct node *node, struct quantity *sum)
{
	struct quantity q;
	enum quantity_state state = node_quantity(node, &q);

	if (state == QUANTITY_OK)
		*sum = quantity_add(*sum, q);
	return state == QUANTITY_OK || state == QUANTITY_ABSENT;
}

/* Returns the limit or request that the pod itself sets in spec.resources,
 * which replaces the sum of its containers, or NULL. A pod cannot set extended
 * resources there. */
static const struct node *pod_level(const struct pod *pod, const char *resource,
				    bool limits)
{
	const struct node *map = node_get(pod->spec, "resources");
	const struct node *node;

	if (pod->flat || strchr(resource, '/'))
		return NULL;
	node = node_get(node_get(map, limits ? "limits" : "requests"),
			resource);
	if (node_is_unset(node) && !limits)
		node = node_get(node_get(map, "limits"), resource);
	return node_is_unset(node) ? NULL : node;
}

enum quantity_state container_bound(const struct container *c,
				    const char *resource, struct quantity *q,
				    const struct node **by)
{
	const struct node *level = pod_level(c->pod, resource, true);
	const struct node *own = node_get(c->limits, resource);
	enum quantity_state state = container_limit(c, resource, q);
	struct quantity whole;

	if (by)
		*by = own;
	if (!level || (state != QUANTITY_OK && state != QUANTITY_ABSENT))
		return state;
	if (node_quantity(level, &whole) == QUANTITY_OK &&
	    state == QUANTITY_OK && quantity_cmp(*q, whole) <= 0)
		return state;
	if (by)
		*by = level;
	return node_quantity(level, q);
}

void request_add(struct request_sum *all, const struct container *c,
		 const char *resource, bool limits)
{
	struct quantity q;

	all->unknown |= !container_share(c, resource, limits, &q);
	if (c->role == CONTAINER_INIT) {
		q = quantity_add(q, all->started);
		if (quantity_cmp(q, all->floor) > 0)
			all->floor = q;
		return;
	}
	if (c->role == CONTAINER_SIDECAR)
		all->started = quantity_add(all->started, q);
	all->sum = quantity_add(all->sum, q);
}

static struct quantity request_of(const struct pod *pod, const char *resource,
				  const struct node *level,
				  const struct request_sum *all, bool *unknown)
{
	struct quantity sum = all->sum;
	bool known = !node_is_unknown(pod->spec) && !all->unknown && !pod->cut;

	if (quantity_cmp(all->floor, sum) > 0)
		sum = all->floor;
	if (level) {
		sum = quantity_from(0);
		known = add_node(level, &sum);
	}
	if (!pod->flat)
		known = add_node(node_get(pod_field(pod, "overhead"), resource),
				 &sum) &&
			known;
	if (unknown)
		*unknown =
			!known || (pod->gpu_unknown && strchr(resource, '/'));
	return sum;
}

struct quantity pod_request(const struct pod *pod, const char *resource,
			    bool limits, bool *unknown)
{
	const struct node *level = pod_level(pod, resource, limits);
	struct request_sum all = {0};

	if (!level)
		FOR_EACH_CONTAINER(pod, c)
			request_add(&all, c, resource, limits);
	return request_of(pod, resource, level, &all, unknown);
}

struct quantity pod_extended(const struct pod *pod, const char *resource,
			     const struct request_sum *all, bool *unknown)
{
	return request_of(pod, resource, NULL, all, unknown);
}

const char *pod_device(const struct pod *pod)
{
	static const char *const gpus[] = {"nvidia",   "amd",	    "intel",
					   "iluvatar", "metax",	    "hygon",
					   "mthreads", "birentech", NULL};
	const char *vendor = "nvidia";

	FOR_EACH_CONTAINER(pod, c)
		if (c->accelerator)
			vendor = c->accelerator->vendor;
	if (text_any(vendor, gpus, text_eq))
		return "GPU";
	if (!strcmp(vendor, "google"))
		return "TPU";
	return strcmp(vendor, "huawei") ? "accelerator" : "NPU";
}

bool pod_has_placement(const struct pod *pod)
{
	return !pod->flat;
}
