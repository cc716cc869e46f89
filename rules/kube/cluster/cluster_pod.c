/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds up the requests of pods for their owners at every level: a pod of a
 * CronJob's Job counts for both. Finished pods do not count, pending ones do,
 * as for a ResourceQuota (QuotaV1Pod). Pods without extended resources are not
 * stored. A bare pod is its own owner.
 *
 * Owners come from controller references, in any order: if the owner of a Job
 * becomes known after the Job's pods, the Job's sum is added to it then. A
 * ReplicaSet need not be known: its name is its Deployment's plus the label
 * pod-template-hash of its pods.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/text.h"
#include "cluster_internal.h"
#include "doc/build.h"
#include "kube/object.h"

/* Limit that ends a circular chain of owners; real chains are short. */
enum { LEVELS_MAX = 8 };

struct link {
	uint64_t owner; /* key of the owner */
	/* derived from pod-template-hash; removed when no pod uses it */
	bool guessed;
	struct object_id id;
};

struct demands {
	struct pod_demand *items;
	size_t n, size;
};

/* --- links ---------------------------------------------------------------- */

/* Returns a copy of the identity, because the blob may be freed while it is in
 * use. */
static struct object_id take_id(struct cluster_builder *b,
				struct byte_cursor *c)
{
	struct object_id id;

	id.api_version = take_name(c, &b->scratch);
	id.kind = take_name(c, &b->scratch);
	id.namespace = arena_strdup(&b->scratch, take_text(c));
	id.name = arena_strdup(&b->scratch, take_text(c));
	return id;
}

static bool link_find(struct cluster_builder *b, uint64_t key,
		      struct link *link)
{
	const struct blob *blob = table_find(&b->links, key);
	struct byte_cursor c;

	if (!blob)
		return false;
	memcpy(&link->owner, blob->data, sizeof(link->owner));
	c = (struct byte_cursor){blob->data + sizeof(link->owner),
				 blob->data + blob->len, b->state.names};
	link->guessed = take_number(&c) != 0;
	link->id = take_id(b, &c);
	return true;
}

static void put_id(struct cluster_builder *b, const struct object_id *id)
{
	put_name(&b->packed, b->state.names, id->api_version);
	put_name(&b->packed, b->state.names, id->kind);
	put_text(&b->packed, id->namespace);
	put_text(&b->packed, id->name);
}

static void link_put(struct cluster_builder *b, uint64_t key,
		     const struct link *link)
{
	buf_reset(&b->packed);
	buf_add(&b->packed, &link->owner, sizeof(link->owner));
	put_number(&b->packed, link->guessed);
	put_id(b, &link->id);
	table_put(&b->links, key, b->packed.data, b->packed.len);
}

/* --- usage ---------------------------------------------------------------- */

static void demand_add(struct arena *arena, struct demands *list,
		       const struct pod_demand *one, int sign)
{
	struct quantity q = one->quantity;

	if (sign < 0)
		q = quantity_sub(quantity_from(0), q);
	for (size_t i = 0; i < list->n; i++) {
		struct pod_demand *at = &list->items[i];

		if (strcmp(at->resource, one->resource) != 0)
			continue;
		q.format = at->quantity.format;
		at->quantity = quantity_add(at->quantity, q);
		return;
	}
	*VEC_PUSH(arena, list->items, list->n, list->size) =
		(struct pod_demand){.resource = one->resource, .quantity = q};
}

static void put_demands(struct cluster_builder *b, const struct demands *list)
{
	const struct pod_demand *items = list->items;
	size_t some = 0;

	for (size_t i = 0; i < list->n; i++)
		some += items[i].quantity.nano != 0;
	put_number(&b->packed, some);
	for (size_t i = 0; i < list->n; i++) {
		if (items[i].quantity.nano == 0)
			continue;
		put_name(&b->packed, b->state.names, items[i].resource);
		put_quantity(&b->packed, items[i].quantity);
	}
}

/* An amount to add to an owner (sign 1) or to subtract (sign -1). */
struct pod_change {
	struct demands list;
	uint64_t pods;
	int sign;
};

/* Changes the owner's sum, which is removed when its last pod is gone. */
static void usage_change(struct cluster_builder *b, uint64_t key,
			 const struct object_id *id,
			 const struct pod_change *change)
{
	const struct blob *blob = table_find(&b->state.usage, key);
	struct cluster_usage usage = {.owner = *id};
	struct demands list = {0};

	if (blob)
		cluster_usage_unpack(blob, b->state.names, &b->scratch, &usage);
	for (size_t i = 0; i < usage.n; i++)
		demand_add(&b->scratch, &list, &usage.items[i], 1);
	for (size_t i = 0; i < change->list.n; i++)
		demand_add(&b->scratch, &list, &change->list.items[i],
			   change->sign);
	if (change->sign > 0)
		usage.pods += change->pods;
	else
		usage.pods -=
			change->pods < usage.pods ? change->pods : usage.pods;
	if (!usage.pods) {
		table_remove(&b->state.usage, key);
		return;
	}
	buf_reset(&b->packed);
	put_number(&b->packed, table_find(&b->links, key) != NULL);
	put_id(b, &usage.owner);
	put_number(&b->packed, usage.pods);
	put_demands(b, &list);
	table_put(&b->state.usage, key, b->packed.data, b->packed.len);
}

/* Changes the usage of this owner and of its owners. Forgets a guessed owner of
 * an object without usage. */
static void usage_climb(struct cluster_builder *b, uint64_t key,
			const struct object_id *id,
			const struct pod_change *change)
{
	struct object_id at = *id;

	for (int level = 0; level < LEVELS_MAX; level++) {
		struct link link;
		bool owned = link_find(b, key, &link);

		usage_change(b, key, &at, change);
		if (owned && link.guessed && change->sign < 0 &&
		    !table_find(&b->state.usage, key))
			table_remove(&b->links, key);
		if (!owned)
			return;
		key = link.owner;
		at = link.id;
	}
}

/* --- owners --------------------------------------------------------------- */

static struct object_id id_in(const struct node *map)
{
	return (struct object_id){text_of(node_get(map, "apiVersion")),
				  text_of(node_get(map, "kind")),
				  text_of(node_get(map, "namespace")),
				  text_of(node_get(map, "name"))};
}

static bool controller_of(const struct node *root, const char *namespace,
			  struct object_id *owner)
{
	FOR_EACH_CHILD(node_path(root, "metadata.ownerReferences"), ref) {
		if (!node_is_true(node_get(ref, "controller")))
			continue;
		*owner = id_in(ref);
		owner->namespace = namespace;
		return *owner->kind && *owner->name;
	}
	return false;
}

static bool is_above(struct cluster_builder *b, uint64_t key, uint64_t above)
{
	struct link link;

	for (int level = 0; level < LEVELS_MAX; level++) {
		if (key == above)
			return true;
		if (!link_find(b, key, &link))
			return false;
		key = link.owner;
	}
	return true;
}

/* Adds the object's usage to its owners, or subtracts it. */
static void move_usage(struct cluster_builder *b, uint64_t key,
		       const struct link *link, int sign)
{
	const struct blob *blob = table_find(&b->state.usage, key);
	struct cluster_usage usage;
	struct pod_change none = {.sign = 1};
	struct pod_change change;

	if (!blob)
		return;
	cluster_usage_unpack(blob, b->state.names, &b->scratch, &usage);
	usage.owner.namespace =
		arena_strdup(&b->scratch, usage.owner.namespace);
	usage.owner.name = arena_strdup(&b->scratch, usage.owner.name);
	change = (struct pod_change){
		{usage.items, usage.n, 0}, usage.pods, sign};
	usage_climb(b, link->owner, &link->id, &change);
	usage_change(b, key, &usage.owner,
		     &none); /* stores only whether it has an owner */
}

/* Sets the owner of an object, or removes it if owner is NULL or would close a
 * circle. Returns 1 if the owner changed, else 0. */
static int set_owner(struct cluster_builder *b, uint64_t key,
		     const struct object_id *owner, bool guessed)
{
	struct link old, new = {0};
	bool had = link_find(b, key, &old);

	if (owner) {
		new = (struct link){cluster_id_key(b, owner), guessed, *owner};
		if (is_above(b, new.owner, key))
			owner = NULL;
	}
	if (had == (owner != NULL) && (!had || old.owner == new.owner))
		return 0;
	if (had) {
		table_remove(&b->links, key);
		move_usage(b, key, &old, -1);
	}
	if (owner) {
		link_put(b, key, &new);
		move_usage(b, key, &new, 1);
	}
	return 1;
}

int cluster_add_owner(struct cluster_builder *b,
		      const struct cluster_item *item)
{
	struct object_id id = cluster_id(item), owner;
	bool owned = controller_of(item->root, id.namespace, &owner);

	return set_owner(b, cluster_id_key(b, &id), owned ? &owner : NULL,
			 false);
}

int cluster_remove_owner(struct cluster_builder *b, const struct object_id *id)
{
	return set_owner(b, cluster_id_key(b, id), NULL, false);
}

/* --- pods ----------------------------------------------------------------- */

static void add_resources(struct cluster_builder *b, const struct pod *pod,
			  const struct node *map, struct demands *list)
{
	FOR_EACH_CHILD(map, entry) {
		struct pod_demand one = {.resource = entry->key};

		if (!strchr(entry->key, '/'))
			continue;
		for (size_t i = 0; i < list->n; i++)
			if (!strcmp(list->items[i].resource, entry->key))
				one.resource = NULL;
		if (!one.resource)
			continue;
		one.quantity =
			pod_request(pod, entry->key, false, &one.unknown);
		demand_add(&b->scratch, list, &one, 1);
	}
}

/* Returns a small copy of a pod: items of a list lack apiVersion and kind, and
 * most fields do not affect the requests. */
static struct node *bare_pod(struct arena *arena, const struct node *root)
{
	static const char *const fields[] = {"initContainers", "containers",
					     "overhead"};
	struct node *pod = node_new(arena, NODE_MAP);
	struct node *spec = node_new(arena, NODE_MAP);
	uint32_t budget = 200000;

	edit_member_string(arena, pod, "apiVersion", "v1");
	edit_member_string(arena, pod, "kind", "Pod");
	edit_member(arena, pod, "spec", spec);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const struct node *from =
			node_get(node_get(root, "spec"), fields[i]);
		struct node *copy =
			from ? node_copy(arena, from, 0, &budget) : NULL;

		if (copy)
			edit_member(arena, spec, fields[i], copy);
	}
	return pod;
}

/* Adds the extended resources of a pod that has not finished. */
static void pod_demands(struct cluster_builder *b, const struct node *root,
			struct demands *list)
{
	static const struct kube_config config;
	const struct node *phase = node_path(root, "status.phase");
	const struct node *nested = NULL;
	struct object_list objects = {0};
	struct doc doc = {.number = 1};

	if (node_eq(phase, "Succeeded") || node_eq(phase, "Failed"))
		return;
	doc.root = bare_pod(&b->scratch, root);
	object_read(&b->scratch, &config, &doc, &objects, &nested);
	for (size_t i = 0; i < objects.n; i++)
		FOR_EACH_POD(&objects.items[i], pod)
			FOR_EACH_CONTAINER(pod, c) {
				add_resources(b, pod, container_limits(c),
					      list);
				add_resources(b, pod, container_requests(c),
					      list);
			}
}

/* Sets the Deployment of a ReplicaSet whose owner is not known: with the hash
 * "5d9c", the Deployment of "web-5d9c" is "web". */
static void guess_deployment(struct cluster_builder *b, const struct node *root,
			     const struct object_id *set)
{
	const char *hash = text_of(node_get(node_path(root, "metadata.labels"),
					    "pod-template-hash"));
	size_t len = strlen(set->name), tail = strlen(hash);
	uint64_t key = cluster_id_key(b, set);
	struct object_id owner = *set;

	if (strcmp(set->kind, "ReplicaSet") != 0 || !tail || len < tail + 2 ||
	    !text_ends(set->name, hash) || set->name[len - tail - 1] != '-' ||
	    table_find(&b->links, key))
		return;
	owner.kind = "Deployment";
	owner.name = arena_strndup(&b->scratch, set->name, len - tail - 1);
	set_owner(b, key, &owner, true);
}

static void pod_put(struct cluster_builder *b, uint64_t key,
		    const struct object_id *owner, const struct demands *list)
{
	buf_reset(&b->packed);
	put_id(b, owner);
	put_demands(b, list);
	table_put(&b->pods, key, b->packed.data, b->packed.len);
	b->state.counts[CLUSTER_POD]++;
}

int cluster_remove_pod(struct cluster_builder *b, uint64_t key)
{
	uint64_t n;
	const struct blob *blob = table_find(&b->pods, key);
	struct pod_change change = {.pods = 1, .sign = -1};
	struct object_id owner;
	struct byte_cursor c;

	if (!blob)
		return 0;
	c = (struct byte_cursor){blob->data, blob->data + blob->len,
				 b->state.names};
	owner = take_id(b, &c);
	for (n = take_number(&c); n; n--) {
		struct pod_demand one = {.resource =
						 take_name(&c, &b->scratch)};

		one.quantity = take_quantity(&c);
		demand_add(&b->scratch, &change.list, &one, 1);
	}
	table_remove(&b->pods, key);
	b->state.counts[CLUSTER_POD]--;
	usage_climb(b, cluster_id_key(b, &owner), &owner, &change);
	return 1;
}

/* True if owner and requests of the pod are unchanged, as in most pod events,
 * or if it requests nothing and is not stored. */
static bool is_known(struct cluster_builder *b, uint64_t key,
		     const struct object_id *owner, const struct demands *list)
{
	const struct blob *blob = table_find(&b->pods, key);

	if (!blob)
		return list->n == 0;
	buf_reset(&b->packed);
	put_id(b, owner);
	put_demands(b, list);
	return blob->len == b->packed.len &&
	       !memcmp(blob->data, b->packed.data, b->packed.len);
}

int cluster_add_pod(struct cluster_builder *b, const struct cluster_item *item,
		    struct err *err)
{
	struct object_id id = cluster_id(item), owner;
	uint64_t key = cluster_id_key(b, &id);
	struct pod_change change = {.pods = 1, .sign = 1};

	(void)err;
	pod_demands(b, item->root, &change.list);
	if (!controller_of(item->root, id.namespace, &owner))
		owner = id;
	if (is_known(b, key, &owner, &change.list))
		return 0;
	cluster_remove_pod(b, key);
	if (!change.list.n)
		return 1;
	guess_deployment(b, item->root, &owner);
	pod_put(b, key, &owner, &change.list);
	usage_climb(b, cluster_id_key(b, &owner), &owner, &change);
	return 1;
}

/* --- usage in a snapshot file --------------------------------------------- */

int cluster_builder_usage(struct cluster_builder *b, const struct node *item,
			  struct err *err)
{
	struct object_id owner = id_in(node_get(item, "owner"));
	struct pod_change change = {.pods = 1, .sign = 1};
	int64_t pods;

	if (!*owner.kind || !*owner.name)
		return err_set(err, 0, "usage without an owner");
	FOR_EACH_CHILD(node_get(item, "resources"), entry) {
		struct pod_demand one = {.resource = entry->key};

		if (!entry->key ||
		    node_quantity(entry, &one.quantity) != QUANTITY_OK)
			return err_set(
				err, 0,
				"usage of %s `%s`: `%s` is not a quantity",
				owner.kind, owner.name,
				entry->str ? entry->str : "");
		demand_add(&b->scratch, &change.list, &one, 1);
	}
	if (node_int(node_get(item, "pods"), &pods) && pods > 0)
		change.pods = (uint64_t)pods;
	b->state.counts[CLUSTER_POD] += change.pods;
	usage_change(b, cluster_id_key(b, &owner), &owner, &change);
	arena_reset(&b->scratch);
	return 0;
}
