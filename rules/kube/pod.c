/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the rows of a kind to its pods, and the fields of a pod. A pod is
 * made for every match of a row's paths; what its operator, its group and
 * its own template say about count, restart and devices is settled here
 * once, so that rules only read. Effective requests follow component-helpers
 * resource/helpers.go.
 */
#include "kinds.h"

#include <string.h>

#include "base/text.h"
#include "base/vec.h"

static const char *role_of(const struct pod_row *row, const struct node *group)
{
	const char *text = row->role;

	if (row->role_from == ROLE_KEY)
		text = group->key;
	else if (row->role_from == ROLE_FIELD)
		text = node_str(node_get(group, row->role));
	return text ? text : "";
}

static bool version_fits(const struct pod_row *row, const char *version)
{
	if (!row->version)
		return true;
	if (row->version[0] == '!')
		return strcmp(row->version + 1, version) != 0;
	return !strcmp(row->version, version);
}

/* Fill in where the pod's parts stand; false when there is no pod. */
static bool pod_place(struct pod_builder *builder, struct pod *pod,
		      const struct node *holder)
{
	const struct pod_row *row = builder->row;

	pod->spec = holder;
	pod->flat = row->form == FORM_FLAT;
	if (row->form == FORM_POD) {
		pod->spec = node_get(holder, "spec");
		pod->template = holder;
		pod->metadata = node_get(holder, "metadata");
	} else if (row->metadata) {
		pod->metadata = path_get(builder->group, row->metadata);
	}
	pod->labels = node_get(pod->metadata, "labels");
	pod->annotations = node_get(pod->metadata, "annotations");
	if (row->inner)
		pod->inner = path_get(pod->spec, row->inner);
	if (row->defaults)
		pod->defaults = path_get(builder->object->root, row->defaults);
	if (node_is_unknown(pod->spec))
		pod->gpu_unknown = true;
	return node_is_map(pod->spec) || node_is_unknown(pod->spec);
}

/* Only a patch leaves out an image, or all containers. */
static bool is_part(const struct pod *pod)
{
	bool found = node_is_unknown(node_get(pod->spec, "containers")) ||
		     node_is_unknown(pod->spec);

	FOR_EACH_CONTAINER(pod, c) {
		if (node_is_unset(node_get(c->node, "image")))
			return true;
		found = found || c->role == CONTAINER_MAIN;
	}
	return !found;
}

void pod_build(struct pod_builder *builder, const struct node *holder,
	       const struct node *element)
{
	struct object *object = builder->object;
	struct count_place place = {
		.object = object,
		.group = builder->group,
		.element = element ? element : builder->group,
	};
	struct pod pod = {
		.object = object,
		.group = builder->group,
		.role = role_of(builder->row, builder->group),
	};

	if (!pod_place(builder, &pod, holder))
		return;
	pod.memo = ARENA_NEW(builder->arena, struct pod_memo);
	pod.memo->arena = builder->arena;
	containers_read(builder, &pod);
	if (builder->row->some && !pod.ncontainers && !pod.gpu_unknown)
		return;
	if (!builder->row->no_image && !pod.flat && is_part(&pod))
		object->fragment = true;
	place.pod = &pod;
	pod.steady = count_eval(builder->row->count, &place);
	pod.peak = count_eval(builder->row->peak, &place);
	pod_gpus(builder, &pod);
	pod_restart(builder, &pod);
	pod_injects(builder, &pod);
	*VEC_PUSH(builder->arena, object->pods, object->npods, builder->size) =
		pod;
}

static void found_pod(struct path_walk *walk, const struct node *node,
		      const struct node *element)
{
	pod_build(walk->context, node, element);
}

static void found_group(struct path_walk *walk, const struct node *node,
			const struct node *element)
{
	struct pod_builder *builder = walk->context;
	struct path_walk pods = {.found = found_pod, .context = builder};

	builder->group = node;
	path_each(&pods, node, builder->row->pod, NULL);
}

void pods_read(struct arena *arena, const struct kube_config *config,
	       struct object *object)
{
	struct pod_builder builder = {
		.arena = arena, .config = config, .object = object};
	struct path_walk walk = {.found = found_group, .context = &builder};
	const struct pod_row *const *row = object->type->pods;

	for (; row && *row; row++) {
		if (!version_fits(*row, object->version))
			continue;
		builder.row = *row;
		path_each(&walk, object->root, (*row)->group, NULL);
	}
}

/* -- fields -------------------------------------------------------------- */

const struct node *pod_field_default(const struct pod *pod, const char *name)
{
	const struct node *node = node_get(pod->inner, name);

	if (!node_is_unset(node))
		return node;
	/* Argo has another name for it beside the templates. */
	if (!strcmp(name, "priorityClassName")) {
		node = node_get(pod->defaults, "podPriorityClassName");
		if (!node_is_unset(node))
			return node;
	}
	return node_get(pod->defaults, name);
}

/* metadata.labels or .annotations of the pod, then of Argo's podMetadata. */
static const struct node *meta(const struct pod *pod, const struct node *own,
			       const char *map, const char *key)
{
	const struct node *node = node_get(own, key);

	if (!node_is_unset(node) || !pod->defaults)
		return node_is_unset(node) ? NULL : node;
	node = node_get(node_get(pod->defaults, "podMetadata"), map);
	node = node_get(node, key);
	return node_is_unset(node) ? NULL : node;
}

const struct node *pod_label(const struct pod *pod, const char *key)
{
	return meta(pod, pod->labels, "labels", key);
}

const struct node *pod_annotation(const struct pod *pod, const char *key)
{
	return meta(pod, pod->annotations, "annotations", key);
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
	return named_item(node_get(pod->defaults, "volumes"), name);
}

enum tri pod_uses_gpu(const struct pod *pod)
{
	if (pod->gpu_by)
		return TRI_YES;
	return pod->gpu_unknown ? TRI_UNKNOWN : TRI_NO;
}

/* -- effective requests -------------------------------------------------- */

/* One container's share of a resource; false when nothing is known of it. */
static bool container_share(const struct container *c, const char *resource,
			    bool limits, struct quantity *q)
{
	enum quantity_state state = QUANTITY_ABSENT;

	*q = quantity_from(0);
	/* An operator's field, not the container's resources. */
	if (c->resource && !strcmp(c->resource, resource) &&
	    node_is_unset(node_get(c->limits, resource)) &&
	    node_is_unset(node_get(c->requests, resource))) {
		*q = quantity_from(c->gpus.n);
		return !c->gpus.unknown;
	}
	if (!limits)
		state = container_request(c, resource, q);
	/* Pods get the limit for a request that is not set. */
	if (state == QUANTITY_ABSENT)
		state = container_limit(c, resource, q);
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

/* Pod-level resources replace the sum: cpu, memory, hugepages only. */
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
	bool known = !node_is_unknown(pod->spec) && !all->unknown;

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
