/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads objects and usage from snapshots, and records look-ups that found
 * nothing. A namespace is stored as one blob: its name, then a record for each
 * object in it (kind, name, length, packed tree). Cluster-scoped objects are
 * stored as one blob per kind.
 */
#include "kube/cluster/cluster.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/text.h"
#include "cluster_internal.h"
#include "kube/object.h"

/*
 * Records look-ups that found nothing. The record belongs to the thread, so
 * that look-up functions need no parameter for it.
 */

static _Thread_local struct cluster_absences *recorded;

void cluster_absences_record(struct cluster_absences *absences)
{
	recorded = absences;
}

bool cluster_absence_same(const struct cluster_absence *a,
			  const struct cluster_absence *b)
{
	return a->kind == b->kind && !strcmp(a->namespace, b->namespace) &&
	       text_eq(a->name, b->name);
}

/* Returns the index of the absence, which is added if it is new;
 * CLUSTER_ABSENCES if the record is full. */
static size_t record(struct cluster_absences *all,
		     const struct cluster_absence *one)
{
	size_t i = 0;

	while (i < all->n && !cluster_absence_same(&all->items[i], one))
		i++;
	if (i < all->n || i == CLUSTER_ABSENCES)
		return i;
	all->items[i] = (struct cluster_absence){
		one->kind, arena_strdup(all->arena, one->namespace),
		one->name ? arena_strdup(all->arena, one->name) : NULL};
	return all->n++;
}

void cluster_absent(const struct cluster *cluster, enum cluster_kind kind,
		    const char *namespace, const char *name)
{
	const struct cluster_absence one = {kind, namespace, name};

	if (recorded && kind < CLUSTER_NODE &&
	    !cluster_unreadable(cluster, kind))
		recorded->touched |= UINT32_C(1) << record(recorded, &one);
}

const struct cluster *cluster_get(const struct cluster *cluster)
{
	struct cluster *c = (struct cluster *)(uintptr_t)cluster;

	if (c)
		atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
	return cluster;
}

void cluster_meta_release(struct cluster_meta *meta)
{
	free(meta->server);
	free(meta->policy);
	free(meta->admission);
	for (int i = 0; i < CLUSTER_KINDS; i++)
		free(meta->unreadable[i]);
}

void cluster_put(const struct cluster *cluster)
{
	struct cluster *c = (struct cluster *)(uintptr_t)cluster;

	if (!c ||
	    atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) != 1)
		return;
	table_release(&c->namespaces);
	table_release(&c->usage);
	names_put(c->names);
	node_groups_put(c->nodes);
	cluster_meta_release(&c->meta);
	free(c);
}

int64_t cluster_taken_at(const struct cluster *c)
{
	return c->meta.taken_at;
}

bool cluster_is_ahead(const struct cluster *c, int64_t now)
{
	enum { CLOCKS_DIFFER = 600 };

	return c->meta.taken_at - now > CLOCKS_DIFFER;
}

const char *cluster_server(const struct cluster *c)
{
	return c->meta.server ? c->meta.server : "";
}

const char *cluster_policy(const struct cluster *c)
{
	return c->meta.policy;
}

const char *cluster_admission(const struct cluster *c)
{
	return c->meta.admission;
}

void cluster_drop_admission(struct cluster *c)
{
	free(c->meta.admission);
	c->meta.admission = NULL;
}

const char *cluster_unreadable(const struct cluster *c, enum cluster_kind kind)
{
	return c->meta.unreadable[kind];
}

uint64_t cluster_serial(const struct cluster *c)
{
	return c->serial;
}

size_t cluster_count(const struct cluster *c, enum cluster_kind kind)
{
	return c->counts[kind];
}

const struct node_group *cluster_nodes(const struct cluster *c, size_t *n)
{
	*n = c->nodes ? c->nodes->n : 0;
	return c->nodes ? c->nodes->items : NULL;
}

bool cluster_label_is_individual(const struct cluster *c, const char *key)
{
	if (!strcmp(key, "kubernetes.io/hostname"))
		return true;
	for (size_t i = 0; c->nodes && c->nodes->individual[i]; i++)
		if (!strcmp(c->nodes->individual[i], key))
			return true;
	return false;
}

/* --- records -------------------------------------------------------------- */

uint64_t cluster_place_key(enum cluster_kind kind, const char *namespace)
{
	char global[2] = {(char)kind, '\0'};
	uint64_t key;

	if (cluster_kind_is_namespaced(kind))
		key = text_keyed_hash(namespace, strlen(namespace) + 1);
	else
		key = text_keyed_hash(global, sizeof(global));
	return key ? key : 1;
}

bool record_next(struct byte_cursor *c, struct cluster_record *record)
{
	uint64_t len;

	if (c->at >= c->end)
		return false;
	record->start = c->at;
	record->kind = (enum cluster_kind)take_number(c);
	record->name = take_text(c);
	len = take_number(c);
	record->tree = *c;
	if (len > (uint64_t)(c->end - c->at))
		len = (uint64_t)(c->end - c->at);
	c->at += len;
	record->tree.end = c->at;
	return true;
}

/* Sets *c to the records of a namespace, or of a cluster-scoped kind. Returns
 * false if there are none. */
static bool records_of(const struct cluster *cluster, enum cluster_kind kind,
		       const char *namespace, struct byte_cursor *c)
{
	const struct blob *blob;

	blob = table_find(&cluster->namespaces,
			  cluster_place_key(kind, namespace));
	if (!blob)
		return false;
	*c = (struct byte_cursor){blob->data, blob->data + blob->len,
				  cluster->names};
	take_text(c);
	return true;
}

const struct cluster_object *cluster_objects(const struct cluster *cluster,
					     enum cluster_kind kind,
					     const char *namespace,
					     struct arena *arena, size_t *n)
{
	struct cluster_object *items = NULL;
	struct cluster_record record;
	struct byte_cursor c;
	size_t size = 0;

	*n = 0;
	if (!records_of(cluster, kind, namespace, &c))
		return NULL;
	while (record_next(&c, &record))
		if (record.kind == kind)
			*VEC_PUSH(arena, items, *n,
				  size) = (struct cluster_object){
				record.name, take_tree(&record.tree, arena)};
	return items;
}

static const struct node *find_record(const struct cluster *cluster,
				      const struct record_at *at,
				      struct arena *arena)
{
	struct cluster_record record;
	struct byte_cursor c;

	if (!records_of(cluster, at->kind, at->namespace, &c))
		return NULL;
	while (record_next(&c, &record))
		if (record.kind == at->kind && !strcmp(record.name, at->name))
			return take_tree(&record.tree, arena);
	return NULL;
}

const struct node *cluster_object(const struct cluster *cluster,
				  const struct object_id *id,
				  struct arena *arena)
{
	enum cluster_kind kind = cluster_kind_of(id->api_version, id->kind);
	const struct node *found;
	struct record_at at;

	if (kind >= CLUSTER_NODE)
		return NULL;
	at = cluster_record_at(arena, kind, id);
	found = find_record(cluster, &at, arena);
	if (!found)
		cluster_absent(cluster, kind, id->namespace, id->name);
	return found;
}

const struct node *cluster_namespace(const struct cluster *cluster,
				     const char *name, struct arena *arena)
{
	const struct record_at at = {CLUSTER_NAMESPACE, name, ""};

	return node_path(find_record(cluster, &at, arena), "metadata.labels");
}

const char *cluster_next_namespace(const struct cluster *cluster,
				   size_t *cursor)
{
	const struct blob *blob;

	while ((blob = table_next(&cluster->namespaces, cursor)))
		if (blob->len && blob->data[0])
			return (const char *)blob->data;
	return NULL;
}

/* --- usage ---------------------------------------------------------------- */

void cluster_usage_unpack(const struct blob *blob,
			  const struct name_table *names, struct arena *arena,
			  struct cluster_usage *out)
{
	struct byte_cursor c = {blob->data, blob->data + blob->len, names};
	uint64_t n;

	*out = (struct cluster_usage){.owned = take_number(&c) != 0};
	out->owner.api_version = take_name(&c, arena);
	out->owner.kind = take_name(&c, arena);
	out->owner.namespace = take_text(&c);
	out->owner.name = take_text(&c);
	out->pods = take_number(&c);
	n = take_number(&c);
	if (n > blob->len)
		n = 0;
	out->items = ARENA_ARRAY(arena, struct pod_demand, n + 1);
	for (; out->n < n; out->n++) {
		out->items[out->n].resource = take_name(&c, arena);
		out->items[out->n].quantity = take_quantity(&c);
	}
}

bool cluster_usage(const struct cluster *cluster, const struct object_id *owner,
		   struct arena *arena, struct cluster_usage *out)
{
	struct buf id;
	const struct blob *blob;

	buf_init(&id);
	blob = table_find(&cluster->usage, object_id_hash(owner, &id));
	buf_release(&id);
	if (blob)
		cluster_usage_unpack(blob, cluster->names, arena, out);
	return blob != NULL;
}

bool cluster_has_pods(const struct cluster *cluster,
		      const struct object_id *owner)
{
	struct arena arena = ARENA_INIT;
	struct cluster_usage usage;
	bool has = cluster_usage(cluster, owner, &arena, &usage) && usage.pods;

	arena_release(&arena);
	return has;
}

struct quantity cluster_use_of(const struct cluster *cluster,
			       const struct object_id *owner,
			       const char *resource)
{
	struct quantity use = quantity_from(0);
	struct arena arena = ARENA_INIT;
	struct cluster_usage usage;

	if (cluster_usage(cluster, owner, &arena, &usage))
		for (size_t i = 0; i < usage.n; i++)
			if (!strcmp(usage.items[i].resource, resource))
				use = usage.items[i].quantity;
	arena_release(&arena);
	return use;
}

bool cluster_next_usage(const struct cluster *cluster, size_t *cursor,
			struct arena *arena, struct cluster_usage *out)
{
	const struct blob *blob = table_next(&cluster->usage, cursor);

	if (blob)
		cluster_usage_unpack(blob, cluster->names, arena, out);
	return blob != NULL;
}
