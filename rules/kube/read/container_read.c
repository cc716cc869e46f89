/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the containers below a pod's spec, reads their variables (also injected
 * ones), and counts the devices that each requests. The count is the limit of
 * every accelerator resource, or the request if the limit is missing, because
 * the API server makes them equal on Pods.
 */
#include "rules/kube/kinds.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "kube/claim.h"

/* -- resources ----------------------------------------------------------- */

/* Reads an entry. Returns true if it is an extended resource. */
static bool entry_read(const struct kube_config *config,
		       const struct node *value, struct resource_entry *out)
{
	*out = (struct resource_entry){.node = value};
	out->state = node_quantity(value, &out->quantity);
	if (!strchr(value->key, '/'))
		return false;
	out->accelerator = accelerator_find(&config->accelerators, value->key);
	return true;
}

static bool same_text(const struct node *a, const struct node *b)
{
	return a->type == b->type && a->type == NODE_STRING &&
	       a->flags == b->flags && a->len == b->len &&
	       text_same_bytes(a->str, b->str, a->len);
}

/* Returns the limit with the name of that request, or NULL. Most manifests list
 * both in the same order. */
static struct resource_entry *limit_of(const struct container *c,
				       struct resource_entry *limits,
				       const struct node *request)
{
	const struct node *limit;
	size_t i;

	if (request->index < c->nlimits &&
	    node_same_key(limits[request->index].node, request))
		return &limits[request->index];
	if (!c->nlimits)
		return NULL;
	limit = node_getn(c->limits, request->key, request->key_len);
	if (!limit)
		return NULL;
	/* In a merged map, index is the position in the author's map. */
	for (i = limit->index % c->nlimits; limits[i].node != limit;)
		i = (i + 1) % c->nlimits;
	return &limits[i];
}

/* Reads a request. Returns true if it is an extended resource without a limit
 * of the same text. */
static bool request_read(const struct kube_config *config,
			 const struct container *c,
			 struct resource_entry *limits,
			 const struct node *value, struct resource_entry *out)
{
	struct resource_entry *limit = limit_of(c, limits, value);
	bool extended = false;

	/* Most requests equal their limit. */
	if (limit && same_text(limit->node, value)) {
		*out = *limit;
		out->node = value;
	} else {
		extended = entry_read(config, value, out);
	}
	out->other = limit;
	if (limit)
		limit->other = out;
	return extended;
}

struct container_collector {
	struct pod_builder *builder;
	struct pod *pod;
	size_t size;
	bool main_found;
	/* Used for each container beyond CONTAINERS_MAX in turn, with space for
	 * its entries. */
	struct container beyond;
	struct resource_entry *spare;
	size_t nspare;
};

static struct resource_entry *
take_entries(struct container_collector *collector, const struct container *c,
	     size_t n)
{
	struct arena *arena = collector->builder->arena;

	if (c != &collector->beyond)
		return arena_alloc(arena, n * sizeof(struct resource_entry));
	if (n > collector->nspare) {
		collector->nspare = 2 * n;
		collector->spare =
			ARENA_ARRAY(arena, struct resource_entry, 2 * n);
	}
	return collector->spare;
}

static void container_entries(struct container_collector *collector,
			      struct container *c)
{
	const struct kube_config *config = collector->builder->config;
	const struct node *limits = container_limits(c);
	const struct node *requests = container_requests(c);
	size_t n = node_count(limits) + node_count(requests), i = 0;
	struct resource_entry *entries;

	c->extended =
		node_is_unknown(c->limits) || node_is_unknown(c->requests);
	if (!n)
		return;
	entries = take_entries(collector, c, n);
	c->entries = entries;
	c->nlimits = node_count(limits);
	c->nrequests = n - c->nlimits;
	FOR_EACH_CHILD(limits, value)
		c->extended |= entry_read(config, value, &entries[i++]);
	FOR_EACH_CHILD(requests, value)
		c->extended |=
			request_read(config, c, entries, value, &entries[i++]);
}

/* -- devices ------------------------------------------------------------- */

/* True if the entry becomes the container's accelerator. A device replaces a
 * share, which is a part of it. Between two devices or two shares, the lower
 * name is used, whatever their order. */
static bool is_counted_by(const struct resource_entry *entry,
			  const struct container *c)
{
	bool counts = accelerator_counts(entry->accelerator);

	if (!c->accelerator || counts != accelerator_counts(c->accelerator))
		return !c->accelerator || counts;
	return strcmp(entry->node->key, c->resource) < 0;
}

/* Adds the devices of an entry to its container, and sets the pod's gpu_by. */
static void entry_gpus(struct container *c, struct pod *pod,
		       const struct resource_entry *entry)
{
	bool counts = accelerator_counts(entry->accelerator);
	struct amount n = {.unknown = true};

	if (entry->state == QUANTITY_ABSENT)
		return;
	if (entry->state == QUANTITY_OK) {
		if (entry->quantity.nano <= 0)
			return;
		n = amount_of(quantity_value(entry->quantity));
	}
	pod->gpu_by |= counts ? GPU_BY_RESOURCE : GPU_BY_SHARE;
	if (counts)
		c->gpus = amount_add(c->gpus, n);
	if (is_counted_by(entry, c)) {
		c->accelerator = entry->accelerator;
		c->resource = entry->node->key;
	}
}

static void container_gpus(struct container *c, struct pod *pod)
{
	if (!c->extended)
		return;
	if (node_is_unknown(c->resources) || node_is_unknown(c->limits) ||
	    node_is_unknown(c->requests)) {
		pod->gpu_unknown = true;
		c->gpus.unknown = true;
		if (node_is_unknown(c->limits))
			return;
	}
	FOR_EACH_ASKED(c, entry)
		if (entry->accelerator)
			entry_gpus(c, pod, entry);
}

/* -- variables ----------------------------------------------------------- */

static bool key_is(const struct node *node, const char *key)
{
	size_t len = strlen(key);

	return node->key_len == len && !memcmp(node->key, key, len);
}

/* Reads an env entry. Returns true if it has a name. */
static bool env_entry_read(const struct node *node, struct env_entry *out)
{
	const struct node *name = NULL, *value = NULL;

	if (!node_is_map(node))
		return false;
	for (const struct node *field = node->first; field;
	     field = field->next) {
		if (key_is(field, "name"))
			name = field;
		else if (key_is(field, "value"))
			value = field;
	}
	if (!name || !node_str(name))
		return false;
	*out = (struct env_entry){
		.node = node,
		.name = name,
		.value = value,
		.tag = node_tag(name->str, name->len),
	};
	return true;
}

static void env_read(struct arena *arena, struct container *c)
{
	const struct node *list = node_get(c->node, "env");
	struct env_entry *entries;

	if (!node_count(list))
		return;
	c->env = entries =
		arena_alloc(arena, node_count(list) * sizeof(*entries));
	FOR_EACH_CHILD(list, node)
		if (env_entry_read(node, &entries[c->nenv])) {
			uint16_t tag = entries[c->nenv++].tag;

			c->env_tags[tag >> 6 & 3] |= node_tag_bit(tag);
		}
}

/* True if the injected entry is skipped: it has no name, or the author has an
 * entry of that name. */
static bool has_env(const struct container *c, const struct node *entry)
{
	const char *name = node_str(node_get(entry, "name"));

	for (size_t i = 0; i < c->nenv; i++)
		if (name && node_eq(c->env[i].name, name))
			return true;
	return !name;
}

void container_add_env(struct arena *arena, struct container *c,
		       const struct node *list)
{
	struct env_entry *all;

	/* An unknown list may contain any name. */
	if (node_is_unknown(list))
		memset(c->env_tags, 0xff, sizeof(c->env_tags));
	if (!node_count(list))
		return;
	all = ARENA_ARRAY(arena, struct env_entry, c->nenv + node_count(list));
	if (c->nenv)
		memcpy(all, c->env, c->nenv * sizeof(*all));
	FOR_EACH_CHILD(list, node)
		if (!has_env(c, node) && env_entry_read(node, &all[c->nenv])) {
			uint16_t tag = all[c->nenv].tag;

			c->env_tags[tag >> 6 & 3] |= node_tag_bit(tag);
			c->env = all;
			c->nenv++;
		}
}

/* -- containers ---------------------------------------------------------- */

static struct container *next_container(struct container_collector *collector)
{
	struct pod *pod = collector->pod;

	if (pod->ncontainers == CONTAINERS_MAX) {
		pod->cut = true;
		return &collector->beyond;
	}
	return VEC_PUSH(collector->builder->arena, pod->containers,
			pod->ncontainers, collector->size);
}

/* Makes space for the whole list at once. */
static void reserve(struct container_collector *collector, size_t n)
{
	if (collector->size || n < 2)
		return;
	collector->size = n < CONTAINERS_MAX ? n : CONTAINERS_MAX;
	collector->pod->containers = ARENA_ARRAY(
		collector->builder->arena, struct container, collector->size);
}

/* Adds the devices of a main container beyond CONTAINERS_MAX. Any other
 * container beyond it makes the sum unknown. The devices of stored containers
 * are added by pod_gpus(). */
static void count_dropped_container(struct pod *pod, const struct container *c)
{
	if (c->role == CONTAINER_MAIN)
		pod->gpus = amount_add(pod->gpus, c->gpus);
	else
		pod->gpus.unknown = true;
}

static const struct node *resources_of(const struct node *node,
				       const struct box *box)
{
	if (box->resources)
		return path_get(node, box->resources);
	return node_get(node, "resources");
}

static void collect(struct container_collector *collector,
		    const struct node *node, const struct box *box,
		    unsigned index)
{
	struct pod *pod = collector->pod;
	struct container *c;

	if (!node_is_map(node))
		return;
	c = next_container(collector);
	*c = (struct container){
		.pod = pod,
		.node = node,
		.name = name_read(collector->builder->arena, node, "name"),
		.image = node_str(node_get(node, "image")),
		.role = CONTAINER_MAIN,
		.index = index,
		.resources = resources_of(node, box),
	};
	c->limits = node_get(c->resources, "limits");
	c->requests = node_get(c->resources, "requests");
	if (!c->name)
		c->name = box->name;
	if (box->kind == BOX_SIDE)
		c->role = CONTAINER_SIDECAR;
	else if (box->kind == BOX_INIT)
		c->role = node_eq(node_get(node, "restartPolicy"), "Always")
				  ? CONTAINER_SIDECAR
				  : CONTAINER_INIT;
	if (c->role == CONTAINER_MAIN)
		collector->main_found = true;
	container_entries(collector, c);
	container_gpus(c, pod);
	if (c == &collector->beyond)
		count_dropped_container(pod, c);
	else
		env_read(collector->builder->arena, c);
}

static void collect_box(struct container_collector *collector,
			const struct box *box)
{
	const struct node *node = path_get(collector->pod->spec, box->path);

	switch (box->kind) {
	case BOX_INIT:
	case BOX_LIST:
	case BOX_SIDE:
		/* A placeholder for the list hides all of its containers. */
		if (node_is_unknown(node))
			collector->pod->gpu_unknown = true;
		if (!node_is_seq(node))
			break;
		reserve(collector, node->len);
		FOR_EACH_CHILD(node, child)
			collect(collector, child, box, child->index);
		break;
	case BOX_ELSE:
		if (!collector->main_found)
			collect(collector, node, box, 0);
		break;
	default:
		collect(collector, node, box, 0);
	}
}

/* Adds ephemeral containers, which follow the others in the array but are not
 * counted. */
static void collect_ephemeral(struct container_collector *collector)
{
	struct pod *pod = collector->pod;
	const struct node *list = node_get(pod->spec, "ephemeralContainers");
	size_t n = pod->ncontainers;

	if (!node_is_seq(list))
		return;
	FOR_EACH_CHILD(list, node) {
		struct container *c;

		if (!node_is_map(node))
			continue;
		c = next_container(collector);
		if (c == &collector->beyond)
			break;
		*c = (struct container){
			.pod = pod,
			.node = node,
			.name = name_read(collector->builder->arena, node,
					  "name"),
			.image = node_str(node_get(node, "image")),
			.index = node->index,
		};
		env_read(collector->builder->arena, c);
	}
	pod->nephemeral = pod->ncontainers - n;
	pod->ncontainers = n;
}

static void make_memos(struct arena *arena, struct pod *pod)
{
	size_t n = pod->ncontainers + pod->nephemeral;
	struct container_memo *memos =
		ARENA_ARRAY(arena, struct container_memo, n);

	for (size_t i = 0; i < n; i++)
		pod->containers[i].memo = &memos[i];
}

void containers_read(struct pod_builder *builder, struct pod *pod)
{
	static const char *const init[] = {"initContainers", NULL};
	static const char *const main_[] = {"containers", NULL};
	static const struct box standard[] = {
		{.kind = BOX_INIT, .path = init},
		{.kind = BOX_LIST, .path = main_},
		{0},
	};
	struct container_collector collector = {.builder = builder, .pod = pod};
	const struct box *box = standard;

	if (builder->row && builder->row->boxes &&
	    !(pod->made && builder->row->based))
		box = builder->row->boxes;
	for (; box->kind != BOX_END; box++)
		collect_box(&collector, box);
	if (!pod->flat)
		collect_ephemeral(&collector);
	make_memos(builder->arena, pod);
}
