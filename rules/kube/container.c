/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Containers: finding them below a pod's spec, what devices each asks for,
 * and the small questions that rules ask of one. A device count is the limit
 * of every accelerator resource, or the request where there is no limit,
 * because the API server makes them equal on Pods.
 */
#include "kinds.h"

#include <string.h>

#include "base/text.h"
#include "base/vec.h"
#include "kube/claim.h"

/* -- resources ----------------------------------------------------------- */

static void entry_read(const struct kube_config *config,
		       const struct node *value, struct resource_entry *out)
{
	*out = (struct resource_entry){.node = value};
	out->state = node_quantity(value, &out->quantity);
	if (strchr(value->key, '/'))
		out->accelerator =
			accelerator_find(&config->accelerators, value->key);
}

static bool same_key(const struct node *a, const struct node *b)
{
	return a->tag == b->tag && a->key_len == b->key_len &&
	       !memcmp(a->key, b->key, a->key_len);
}

static bool same_text(const struct node *a, const struct node *b)
{
	return a->type == b->type && a->type == NODE_STRING &&
	       a->flags == b->flags && a->len == b->len &&
	       !memcmp(a->str, b->str, a->len);
}

/* The limit of that request; most write both in the same order. */
static struct resource_entry *limit_of(const struct container *c,
				       struct resource_entry *limits,
				       const struct node *request)
{
	const struct node *limit;

	if (request->index < c->nlimits &&
	    same_key(limits[request->index].node, request))
		return &limits[request->index];
	if (!c->nlimits)
		return NULL;
	limit = node_getn(c->limits, request->key, request->key_len);
	return limit ? &limits[limit->index] : NULL;
}

static void request_read(const struct kube_config *config,
			 const struct container *c,
			 struct resource_entry *limits,
			 const struct node *value, struct resource_entry *out)
{
	struct resource_entry *limit = limit_of(c, limits, value);

	/* And most write the same. */
	if (limit && same_text(limit->node, value)) {
		*out = *limit;
		out->node = value;
	} else {
		entry_read(config, value, out);
	}
	out->other = limit;
	if (limit)
		limit->other = out;
}

static void container_entries(struct pod_builder *builder, struct container *c)
{
	const struct node *limits = container_limits(c);
	const struct node *requests = container_requests(c);
	size_t n = node_count(limits) + node_count(requests), i = 0;
	struct resource_entry *entries;

	c->extended =
		node_is_unknown(c->limits) || node_is_unknown(c->requests);
	if (!n)
		return;
	entries = arena_alloc(builder->arena, n * sizeof(*entries));
	c->entries = entries;
	c->nlimits = node_count(limits);
	c->nrequests = n - c->nlimits;
	FOR_EACH_CHILD(limits, value)
		entry_read(builder->config, value, &entries[i++]);
	FOR_EACH_CHILD(requests, value)
		request_read(builder->config, c, entries, value, &entries[i++]);
	for (i = 0; i < n && !c->extended; i++)
		c->extended = strchr(entries[i].node->key, '/') != NULL;
}

enum quantity_state container_value(const struct container *c,
				    const struct node *value,
				    struct quantity *q)
{
	const struct resource_entry *entry = c->entries;

	if (!value || node_is_unknown(value)) {
		*q = quantity_from(0);
		return value ? QUANTITY_UNKNOWN : QUANTITY_ABSENT;
	}
	entry += value->index;
	if (value->parent == c->requests)
		entry += c->nlimits;
	*q = entry->quantity;
	return entry->state;
}

/* -- devices ------------------------------------------------------------- */

/* A share beside a device is about that device; of two devices one has to be
 * chosen, whatever their order. */
static bool speaks_for(const struct resource_entry *entry,
		       const struct container *c)
{
	bool counts = accelerator_counts(entry->accelerator);

	if (!c->accelerator || counts != accelerator_counts(c->accelerator))
		return !c->accelerator || counts;
	return strcmp(entry->node->key, c->resource) < 0;
}

/* One accelerator key: limit, else request. */
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
	if (speaks_for(entry, c)) {
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

static bool is_open(const struct node *node)
{
	return node_is_unset(node) || node_is_unknown(node);
}

static bool key_is(const struct node *node, const char *key)
{
	size_t len = strlen(key);

	return node->key_len == len && !memcmp(node->key, key, len);
}

/* Does the entry have a name? */
static bool env_entry_read(struct container *c, const struct node *node,
			   struct env_entry *out)
{
	*out = (struct env_entry){.node = node};
	if (!node_is_map(node)) {
		c->env_plain &= is_open(node);
		return false;
	}
	FOR_EACH_CHILD(node, field) {
		if (key_is(field, "name"))
			out->name = field;
		else if (key_is(field, "value"))
			out->value = field;
		else
			continue;
		if (field->type != NODE_STRING)
			c->env_plain &= is_open(field);
	}
	if (!node_str(out->name))
		return false;
	out->tag = node_tag(out->name->str, out->name->len);
	return true;
}

static void env_read(struct arena *arena, struct container *c)
{
	const struct node *list = node_get(c->node, "env");
	struct env_entry *entries;

	c->env_plain = !list || node_is_seq(list);
	if (!node_count(list))
		return;
	c->env = entries =
		arena_alloc(arena, node_count(list) * sizeof(*entries));
	FOR_EACH_CHILD(list, node)
		if (env_entry_read(c, node, &entries[c->nenv]))
			c->env_tags |= node_tag_bit(entries[c->nenv++].tag);
}

/* -- containers ---------------------------------------------------------- */

struct collector {
	struct pod_builder *builder;
	struct pod *pod;
	size_t size;
	bool main_found;
};

static const struct node *resources_of(const struct node *node,
				       const struct box *box)
{
	if (box->resources)
		return path_get(node, box->resources);
	return node_get(node, "resources");
}

static void collect(struct collector *collector, const struct node *node,
		    const struct box *box, unsigned index)
{
	struct pod *pod = collector->pod;
	struct container *c;

	if (!node_is_map(node))
		return;
	c = VEC_PUSH(collector->builder->arena, pod->containers,
		     pod->ncontainers, collector->size);
	*c = (struct container){
		.pod = pod,
		.node = node,
		.name = node_str(node_get(node, "name")),
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
	container_entries(collector->builder, c);
	container_gpus(c, pod);
	env_read(collector->builder->arena, c);
}

static void collect_box(struct collector *collector, const struct box *box)
{
	const struct node *node = path_get(collector->pod->spec, box->path);

	switch (box->kind) {
	case BOX_INIT:
	case BOX_LIST:
	case BOX_SIDE:
		/* A placeholder for the list hides all its containers. */
		if (node_is_unknown(node))
			collector->pod->gpu_unknown = true;
		if (node_is_seq(node))
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

/* Behind the others in the array, but not among their number. */
static void collect_ephemeral(struct collector *collector)
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
		c = VEC_PUSH(collector->builder->arena, pod->containers,
			     pod->ncontainers, collector->size);
		*c = (struct container){
			.pod = pod,
			.node = node,
			.name = node_str(node_get(node, "name")),
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
	struct collector collector = {.builder = builder, .pod = pod};
	const struct box *box = standard;

	if (builder->row && builder->row->boxes)
		box = builder->row->boxes;
	for (; box->kind != BOX_END; box++)
		collect_box(&collector, box);
	if (!pod->flat)
		collect_ephemeral(&collector);
	make_memos(builder->arena, pod);
}

/* -- accessors ----------------------------------------------------------- */

struct image_sort container_image(const struct container *c)
{
	struct container_memo *memo = c->memo;

	if (memo->image_known)
		return memo->image;
	memo->image_known = true;
	/* Containers of one image stand together. */
	if (c > c->pod->containers && memo[-1].image_known &&
	    text_eq(c->image, c[-1].image))
		memo->image = memo[-1].image;
	else
		memo->image = image_sort(c->image);
	return memo->image;
}

/* What was found of the entry at this place in the container in front: their
 * resources are mostly written alike. NULL: it is another name. */
static const struct accelerator *
resembled_before(const struct container *c, const struct resource_entry *entry)
{
	size_t i = (size_t)(entry - c->entries);
	const struct container *before = c - 1;

	if (c == c->pod->containers || !before->memo->resembles ||
	    i >= before->nlimits + before->nrequests ||
	    !same_key(before->entries[i].node, entry->node))
		return NULL;
	return before->memo->resembles[i];
}

const struct accelerator *
container_resembles(const struct accelerator_extra *extra,
		    const struct container *c,
		    const struct resource_entry *entry)
{
	static const struct accelerator nothing = {.name = ""};
	const struct accelerator **all = c->memo->resembles;
	size_t i = (size_t)(entry - c->entries);

	if (!all)
		c->memo->resembles = all = ARENA_ARRAY(
			c->pod->memo->arena, const struct accelerator *,
			c->nlimits + c->nrequests);
	if (!all[i])
		all[i] = resembled_before(c, entry);
	if (!all[i])
		all[i] = accelerator_resembles(extra, entry->node->key);
	if (!all[i])
		all[i] = &nothing;
	return all[i] == &nothing ? NULL : all[i];
}

const struct node *container_env_tagged(const struct container *c,
					const char *name, uint16_t tag)
{
	for (size_t i = c->nenv; i--;)
		if (c->env[i].tag == tag && node_eq(c->env[i].name, name))
			return c->env[i].node;
	return NULL;
}

/* Length without trailing slashes; "/" stays. */
static size_t path_len(const char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	return len;
}

const struct node *container_mount(const struct container *c, const char *path)
{
	size_t len = path_len(path);

	FOR_EACH_CHILD(node_get(c->node, "volumeMounts"), mount) {
		const char *at = node_str(node_get(mount, "mountPath"));

		if (at && path_len(at) == len && !memcmp(at, path, len))
			return mount;
	}
	return NULL;
}

/* What the pod's claim of that name is for; unknown when it has none. */
static enum tri named_claim_use(const struct pod *pod, const struct node *name)
{
	const char *text = node_str(name);
	struct amount n;

	FOR_EACH_CHILD(pod_field(pod, "resourceClaims"), claim)
		if (text && node_eq(node_get(claim, "name"), text))
			return claim_use(pod, claim, &n);
	return TRI_UNKNOWN;
}

enum tri container_uses_gpu(const struct container *c)
{
	const struct node *claims = node_get(c->resources, "claims");
	enum tri use = TRI_NO;

	if (c->gpus.n > 0 || c->accelerator)
		return TRI_YES;
	if (c->gpus.unknown || node_is_unknown(c->resources) ||
	    node_is_unknown(claims))
		return TRI_UNKNOWN;
	/* The API server takes far fewer. */
	if (node_count(claims) > 256)
		return TRI_UNKNOWN;
	FOR_EACH_CHILD(claims, claim)
		use = tri_or(use,
			     named_claim_use(c->pod, node_get(claim, "name")));
	return use;
}
