/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds snapshots. A change replaces the blob of one namespace, or of one
 * cluster-scoped kind; all other blobs are shared with the previous snapshot.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/escape.h"
#include "base/text.h"
#include "cluster_internal.h"
#include "kube/object.h"

struct cluster_builder *cluster_builder_new(void)
{
	struct cluster_builder *b = array_zalloc(1, sizeof(*b));
	struct escape_guard guard;

	escape_guard(&guard, free, b);
	b->state.names = names_new();
	b->nodes_changed = true;
	buf_init(&b->packed);
	buf_init(&b->id);
	buf_init(&b->record);
	buf_init(&b->group);
	escape_unguard(&guard);
	return b;
}

void cluster_builder_free(struct cluster_builder *b)
{
	if (!b)
		return;
	table_release(&b->state.namespaces);
	table_release(&b->state.usage);
	table_release(&b->pods);
	table_release(&b->links);
	table_release(&b->node_names);
	table_release(&b->node_groups);
	names_put(b->state.names);
	node_groups_put(b->state.nodes);
	cluster_meta_release(&b->state.meta);
	arena_release(&b->scratch);
	buf_release(&b->packed);
	buf_release(&b->id);
	buf_release(&b->record);
	buf_release(&b->group);
	free(b);
}

struct object_id cluster_id(const struct cluster_item *item)
{
	const struct node *meta = node_get(item->root, "metadata");
	struct object_id id = {
		text_of(node_get(item->root, "apiVersion")),
		text_of(node_get(item->root, "kind")),
		text_of(node_get(meta, "namespace")),
		text_of(node_get(meta, "name")),
	};

	if (!*id.api_version && item->api_version)
		id.api_version = item->api_version;
	if (!*id.kind && item->kind)
		id.kind = item->kind;
	return id;
}

uint64_t cluster_id_key(struct cluster_builder *b, const struct object_id *id)
{
	return object_id_hash(id, &b->id);
}

/* --- records -------------------------------------------------------------- */

/* Returns the key of an object's record. A Namespace is stored among its
 * objects, without a name. The DaemonSets that are stored are in one blob, and
 * so are the Deployments, because they are few. */
struct record_at cluster_record_at(struct arena *arena, enum cluster_kind kind,
				   const struct object_id *id)
{
	if (cluster_kind_owns(kind) && *id->namespace)
		return (struct record_at){
			kind, "",
			arena_printf(arena, "%s/%s", id->namespace, id->name)};
	if (kind == CLUSTER_NAMESPACE)
		return (struct record_at){kind, id->name, ""};
	if (!cluster_kind_is_namespaced(kind))
		return (struct record_at){kind, "", id->name};
	return (struct record_at){kind, id->namespace, id->name};
}

static void put_record(struct cluster_builder *b, const struct record_at *at,
		       const struct node *tree)
{
	buf_reset(&b->record);
	put_tree(&b->record, b->state.names, tree);
	put_number(&b->packed, at->kind);
	put_text(&b->packed, at->name);
	put_number(&b->packed, b->record.len);
	buf_add(&b->packed, b->record.data, b->record.len);
}

static int record_order(const struct cluster_record *record,
			const struct record_at *at)
{
	if (record->kind != at->kind)
		return record->kind < at->kind ? -1 : 1;
	return strcmp(record->name, at->name);
}

/*
 * Copies the records before the place of `at` and moves the cursor past the
 * record there, or to the next record if it does not exist. Returns its bytes,
 * which are empty then. Records are sorted, so that the result does not depend
 * on the order of changes.
 */
static struct byte_cursor copy_before(struct cluster_builder *b,
				      struct byte_cursor *c,
				      const struct record_at *at)
{
	struct byte_cursor found = {NULL, NULL, NULL};
	struct cluster_record record;
	int order;

	while (record_next(c, &record)) {
		order = record_order(&record, at);
		if (order == 0) {
			found.at = record.start;
			found.end = c->at;
		} else if (order > 0) {
			c->at = record.start;
		} else {
			buf_add(&b->packed, record.start,
				(size_t)(c->at - record.start));
		}
		if (order >= 0)
			break;
	}
	return found;
}

/* Appends the new record, which replaces one of `old` bytes, unless it makes
 * the runtimes too large. Returns its length, or 0. */
static size_t put_bounded(struct cluster_builder *b, const struct record_at *at,
			  const struct node *tree, size_t old)
{
	size_t before = b->packed.len, len;

	put_record(b, at, tree);
	len = b->packed.len - before;
	if (!cluster_kind_is_runtime(at->kind) ||
	    (len <= CLUSTER_RUNTIME_MAX &&
	     b->runtime_bytes - old + len <= CLUSTER_RUNTIMES_MAX))
		return len;
	b->packed.len = before;
	b->left_out = true;
	return 0;
}

/* Replaces the record with the same key; removes it if tree is NULL. Returns 1
 * if something changed. */
static int replace_record(struct cluster_builder *b, const struct record_at *at,
			  const struct node *tree)
{
	uint64_t key = cluster_place_key(at->kind, at->namespace);
	const struct blob *blob = table_find(&b->state.namespaces, key);
	struct byte_cursor old = {NULL, NULL, NULL}, rest = old;
	size_t before, len, gone;

	buf_reset(&b->packed);
	put_text(&b->packed, at->namespace);
	if (blob) {
		rest = (struct byte_cursor){blob->data, blob->data + blob->len,
					    b->state.names};
		take_text(&rest);
		old = copy_before(b, &rest, at);
	}
	before = b->packed.len;
	gone = (size_t)(old.end - old.at);
	len = tree ? put_bounded(b, at, tree, gone) : 0;
	if (len == gone &&
	    (!len || !memcmp(b->packed.data + before, old.at, len)))
		return 0;
	if (rest.at)
		buf_add(&b->packed, rest.at, (size_t)(rest.end - rest.at));
	b->state.counts[at->kind] += (len != 0) - (old.at != NULL);
	if (cluster_kind_is_runtime(at->kind))
		b->runtime_bytes += len - gone;
	if (b->packed.len > strlen(at->namespace) + 1)
		table_put(&b->state.namespaces, key, b->packed.data,
			  b->packed.len);
	else
		table_remove(&b->state.namespaces, key);
	return 1;
}

/* --- objects -------------------------------------------------------------- */

static int check_id(enum cluster_kind kind, const struct object_id *id,
		    struct err *err)
{
	if (!*id->kind || !*id->api_version)
		return err_set(err, 0, "an object without apiVersion or kind");
	if (!*id->name)
		return err_set(err, 0, "a %s without a name", id->kind);
	if (kind != CLUSTER_NAMESPACE && kind != CLUSTER_OTHER &&
	    cluster_kind_is_namespaced(kind) && !*id->namespace)
		return err_set(err, 0, "%s `%s` without a namespace", id->kind,
			       id->name);
	return 0;
}

static int add_kept(struct cluster_builder *b, enum cluster_kind kind,
		    const struct cluster_item *item, struct err *err)
{
	struct object_id id = cluster_id(item);
	struct record_at at = cluster_record_at(&b->scratch, kind, &id);
	const struct node *kept =
		cluster_trim(&b->scratch, kind, item->root, err);
	int64_t count = 1;

	if (!cluster_is_wanted(kind, item->root))
		return replace_record(b, &at, NULL);
	if (!kept)
		return err_wrap(err, "%s `%s%s%s`", id.kind, id.namespace,
				*id.namespace ? "/" : "", id.name);
	if (kind != CLUSTER_NODE) {
		b->left_out = false;
		if (replace_record(b, &at, kept))
			return 1;
		return b->left_out
			       ? err_set(err, 0,
					 "%s `%s` is too large, or there are too many of them: the pods created from it are unknown",
					 id.kind, id.name)
			       : 0;
	}
	if (!node_int(node_get(item->root, "count"), &count) || count < 1)
		count = 1;
	return cluster_add_node(b, id.name, kept, (uint64_t)count);
}

/* Adds a DaemonSet or a Deployment as an owner, and stores it if it has a spec.
 * A list of owners is read without specs (see cluster_list.c). */
static int add_owner_kept(struct cluster_builder *b, enum cluster_kind kind,
			  const struct cluster_item *item, struct err *err)
{
	int owner = cluster_add_owner(b, item);
	int rc =
		node_get(item->root, "spec") ? add_kept(b, kind, item, err) : 0;

	return rc ? rc : owner;
}

int cluster_builder_add(struct cluster_builder *b,
			const struct cluster_item *item, struct err *err)
{
	struct object_id id = cluster_id(item);
	enum cluster_kind kind = cluster_kind_of(id.api_version, id.kind);
	int rc;

	if (check_id(kind, &id, err))
		return -1;
	if (kind == CLUSTER_POD)
		rc = cluster_add_pod(b, item, err);
	else if (kind == CLUSTER_OTHER)
		rc = cluster_add_owner(b, item);
	else if (cluster_kind_owns(kind))
		rc = add_owner_kept(b, kind, item, err);
	else
		rc = add_kept(b, kind, item, err);
	arena_reset(&b->scratch);
	return rc;
}

int cluster_builder_remove(struct cluster_builder *b,
			   const struct object_id *id)
{
	enum cluster_kind kind = cluster_kind_of(id->api_version, id->kind);
	struct record_at at;
	int rc;

	if (kind == CLUSTER_POD) {
		rc = cluster_remove_pod(b, cluster_id_key(b, id));
	} else if (kind == CLUSTER_OTHER) {
		rc = cluster_remove_owner(b, id);
	} else if (kind == CLUSTER_NODE) {
		rc = cluster_remove_node(b, cluster_node_key(id->name));
	} else {
		if (cluster_kind_owns(kind))
			cluster_remove_owner(b, id);
		at = cluster_record_at(&b->scratch, kind, id);
		rc = replace_record(b, &at, NULL);
	}
	arena_reset(&b->scratch);
	return rc;
}

/* --- origin of the snapshot ----------------------------------------------- */

static char *copy(const char *text)
{
	char *out = text ? strdup(text) : NULL;

	if (text && !out)
		OUT_OF_MEMORY();
	return out;
}

static void replace(char **at, const char *text)
{
	char *old = *at;

	*at = copy(text);
	free(old);
}

void cluster_builder_unreadable(struct cluster_builder *b,
				enum cluster_kind kind, const char *reason)
{
	replace(&b->state.meta.unreadable[kind], reason);
}

void cluster_builder_admission(struct cluster_builder *b, const char *list)
{
	replace(&b->state.meta.admission, list);
}

void cluster_builder_origin(struct cluster_builder *b, const char *server,
			    const char *policy)
{
	replace(&b->state.meta.server, server);
	replace(&b->state.meta.policy, policy);
}

/* --- publishing ----------------------------------------------------------- */

static void update_nodes(struct cluster_builder *b)
{
	struct node_groups *groups;

	if (!b->nodes_changed)
		return;
	groups = node_groups_make(&b->node_groups, b->state.names);
	node_groups_put(b->state.nodes);
	b->state.nodes = groups;
	b->nodes_changed = false;
}

static void drop_unfinished(void *cluster)
{
	struct cluster *c = cluster;

	cluster_meta_release(&c->meta);
	free(c);
}

static void copy_meta(struct cluster_meta *to, const struct cluster_meta *from)
{
	to->server = copy(from->server);
	to->policy = copy(from->policy);
	to->admission = copy(from->admission);
	for (int i = 0; i < CLUSTER_KINDS; i++)
		to->unreadable[i] = copy(from->unreadable[i]);
}

struct cluster *cluster_builder_finish(struct cluster_builder *b,
				       int64_t taken_at)
{
	static atomic_uint_least64_t serials;
	struct escape_guard guard;
	struct cluster *c;

	update_nodes(b);
	c = array_zalloc(1, sizeof(*c));
	escape_guard(&guard, drop_unfinished, c);
	copy_meta(&c->meta, &b->state.meta);
	escape_unguard(&guard);
	c->serial = atomic_fetch_add(&serials, 1) + 1;
	atomic_init(&c->refs, 1);
	c->names = b->state.names;
	atomic_fetch_add_explicit(&c->names->refs, 1, memory_order_relaxed);
	c->nodes = b->state.nodes;
	atomic_fetch_add_explicit(&c->nodes->refs, 1, memory_order_relaxed);
	table_share(&c->namespaces, &b->state.namespaces);
	table_share(&c->usage, &b->state.usage);
	memcpy(c->counts, b->state.counts, sizeof(c->counts));
	c->meta.taken_at = taken_at;
	return c;
}
