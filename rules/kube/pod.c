/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields and requests of a pod: values from all of its maps, the places where
 * fixes write them, and the comparison of two pods.
 */
#include "kinds.h"

#include <string.h>

#include "base/text.h"

const struct node *pod_field_default(const struct pod *pod, const char *name)
{
	const struct node *node = node_get(pod->inner, name);

	if (!node_is_unset(node))
		return node;
	/* In Argo, the field for all templates has another name. */
	if (!strcmp(name, "priorityClassName")) {
		node = node_get(pod->defaults, "podPriorityClassName");
		if (!node_is_unset(node))
			return node;
	}
	node = node_get(pod->defaults, name);
	return node_is_unset(node) ? node_get(pod->injected, name) : node;
}

const struct node *pod_scheduler_default(const struct pod *pod)
{
	const struct kind *type = pod->object->type;

	return type && type->scheduler
		       ? path_get(pod->object->root, type->scheduler)
		       : pod_field_default(pod, "schedulerName");
}

const struct node *pod_meta_default(const struct pod *pod, const char *map,
				    const char *key)
{
	const struct node *metadata = node_get(pod->defaults, "podMetadata");

	return node_if_set(node_get(node_get(metadata, map), key));
}

static const struct node *named_item(const struct node *list, const char *name)
{
	FOR_EACH_CHILD(list, item)
		if (node_eq(node_get(item, "name"), name))
			return item;
	return NULL;
}

const struct node *pod_volume(const struct pod *pod, const char *name)
{
	const struct node *volume =
		named_item(node_get(pod->spec, "volumes"), name);

	if (!volume)
		volume = named_item(node_get(pod->inner, "volumes"), name);
	if (volume)
		return volume;
	volume = named_item(node_get(pod->defaults, "volumes"), name);
	return volume ? volume : named_item(pod->volumes, name);
}

/* Returns the number of the row's keys if dotted begins with them, else 0. */
static size_t begins_with(const char *dotted, const char *const *keys)
{
	size_t n = 0;

	for (; keys[n]; n++) {
		size_t len = strlen(keys[n]);

		if (strncmp(dotted, keys[n], len) != 0 ||
		    (dotted[len] && dotted[len] != '.'))
			return 0;
		dotted += len + (dotted[len] == '.');
	}
	return n;
}

/* Returns the author's container with the name of a generated one, or NULL. */
static const struct node *own_container(const struct pod *pod,
					const struct node *made)
{
	const char *name = node_str(node_get(made, "name"));

	FOR_EACH_CHILD(node_get(pod->source, "containers"), container)
		if (name && node_eq(node_get(container, "name"), name))
			return container;
	return NULL;
}

const struct node *pod_field_place(const struct pod *pod,
				   const struct node *base, const char *dotted,
				   const char *const **keys, size_t *taken)
{
	static const char *const here[] = {NULL};
	const struct field_row *row = pod->fields;
	bool box = base != pod->spec;

	for (; row && row->from; row++) {
		*taken = row->to ? begins_with(dotted, row->to) : 0;
		if (row->box != box || row->join || (row->to && !*taken))
			continue;
		*keys = row->from;
		if (row->base == FIELD_OF_OBJECT)
			return pod->object->root;
		return row->base == FIELD_OF_GROUP ? pod->group : pod->source;
	}
	*keys = here;
	*taken = 0;
	if (!pod->partly)
		return NULL;
	return box ? own_container(pod, base) : pod->source;
}

enum tri pod_uses_gpu(const struct pod *pod)
{
	if (pod->gpu_by)
		return TRI_YES;
	return pod->gpu_unknown ? TRI_UNKNOWN : TRI_NO;
}

/*
 * A pod's effective requests, computed as in component-helpers
 * resource/helpers.go, the limit that bounds a container, and the name of a
 * pod's devices in messages.
 */

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
