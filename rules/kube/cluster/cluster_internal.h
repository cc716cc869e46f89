/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside rules/kube: the parts of cluster snapshots. Blobs (bytes under a key)
 * are in tables of shards; blobs and shards are shared by reference count, and
 * a builder copies a shard only if another owner holds it, too.
 */
#ifndef RULES_KUBE_CLUSTER_INTERNAL_H
#define RULES_KUBE_CLUSTER_INTERNAL_H

#include <stdatomic.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/text.h"
#include "doc/edit.h"
#include "kube/cluster/cluster.h"

/* --- tables (cluster_table.c) --------------------------------------------- */

struct blob {
	atomic_uint refs;
	uint32_t len;
	uint64_t key;
	unsigned char data[];
};

struct shard;
enum { SHARDS = 1024 };

struct hash_table {
	struct shard *shards[SHARDS];
	size_t n;
};

const struct blob *table_find(const struct hash_table *table, uint64_t key);
/* Replaces an earlier entry with that key. */
void table_put(struct hash_table *table, uint64_t key, const void *data,
	       size_t len);
bool table_remove(struct hash_table *table, uint64_t key);
/* Lets dst (not in use) share all entries of src. */
void table_share(struct hash_table *dst, const struct hash_table *src);
void table_release(struct hash_table *table);
const struct blob *table_next(const struct hash_table *table, size_t *cursor);

/* --- packing (cluster_pack.c) --------------------------------------------- */

/* Names that occur in many places, by number. Only the builder adds names,
 * before it publishes objects that use them. */
enum { NAMES_MAX = 4096 };
struct name_table {
	atomic_uint refs;
	uint32_t n;
	struct arena arena;
	uint32_t *slots; /* hash table of numbers + 1 */
	const char *items[NAMES_MAX];
};
struct name_table *names_new(void);
void names_put(struct name_table *names);

/* Reading stops at the end: bytes beyond it read as 0 and "". */
struct byte_cursor {
	const unsigned char *at, *end;
	const struct name_table *names;
};
void put_number(struct buf *out, uint64_t n);
void put_text(struct buf *out, const char *text);
/* Appends a text that also occurs in other places, as its number. */
void put_name(struct buf *out, struct name_table *names, const char *text);
void put_tree(struct buf *out, struct name_table *names,
	      const struct node *node);
void put_quantity(struct buf *out, struct quantity q);
uint64_t take_number(struct byte_cursor *cursor);
const char *take_text(struct byte_cursor *cursor); /* in the packed bytes */
const char *take_name(struct byte_cursor *cursor, struct arena *arena);
struct node *take_tree(struct byte_cursor *cursor, struct arena *arena);
struct quantity take_quantity(struct byte_cursor *cursor);

/* --- nodes (cluster_node.c) ----------------------------------------------- */

/* Node groups of one snapshot, shared while no node changes. */
struct node_groups {
	atomic_uint refs;
	struct arena arena;
	struct node_group *items;
	size_t n;
	const char *const *individual; /* label keys, NULL-terminated */
};
struct node_groups *node_groups_make(const struct hash_table *groups,
				     const struct name_table *names);
void node_groups_put(struct node_groups *groups);

/* --- the cluster itself --------------------------------------------------- */

struct cluster_meta {
	int64_t taken_at;
	char *server, *policy, *admission;
	char *unreadable[CLUSTER_KINDS];
};

void cluster_meta_release(struct cluster_meta *meta);

struct cluster {
	atomic_uint refs;
	uint64_t serial;
	struct name_table *names;
	struct node_groups *nodes;
	/* By the name of the namespace, or "" for objects without one: the
	 * name, then records (see cluster.c). */
	struct hash_table namespaces;
	struct hash_table usage; /* by identity */
	struct cluster_meta meta;
	size_t counts[CLUSTER_KINDS];
};

struct cluster_builder {
	struct cluster state;	       /* never handed out itself */
	struct hash_table pods;	       /* owner, and requests */
	struct hash_table links;       /* from an object to its owner */
	struct hash_table node_names;  /* their group */
	struct hash_table node_groups; /* count, and capacity */
	bool nodes_changed;
	size_t runtime_bytes; /* packed */
	bool left_out;	      /* the object was left out because of its size */
	struct arena scratch;
	struct buf packed, id, record, group;
};

uint64_t cluster_place_key(enum cluster_kind kind, const char *namespace);
/* Blob of a namespace: records one after the other. */
struct cluster_record {
	enum cluster_kind kind;
	const char *name;
	const unsigned char *start; /* of the whole record */
	struct byte_cursor tree;
};
bool record_next(struct byte_cursor *cursor, struct cluster_record *record);
/* Place of an object's record. */
struct record_at {
	enum cluster_kind kind;
	const char *namespace, *name;
};
struct record_at cluster_record_at(struct arena *arena, enum cluster_kind kind,
				   const struct object_id *id);

static inline const char *text_of(const struct node *node)
{
	return text_or_empty(node_str(node));
}

/* Returns the kept containers of a DaemonSet or a Deployment. */
struct node *cluster_kept_containers(struct arena *arena,
				     enum cluster_kind kind,
				     const struct node *root);

struct object_id cluster_id(const struct cluster_item *item);
uint64_t cluster_id_key(struct cluster_builder *b, const struct object_id *id);

/* cluster_pod.c, cluster_node.c: parts of cluster_builder_add(). */
int cluster_add_pod(struct cluster_builder *b, const struct cluster_item *item,
		    struct err *err);
int cluster_remove_pod(struct cluster_builder *b, uint64_t key);
int cluster_add_owner(struct cluster_builder *b,
		      const struct cluster_item *item);
int cluster_remove_owner(struct cluster_builder *b, const struct object_id *id);
int cluster_add_node(struct cluster_builder *b, const char *name,
		     const struct node *trimmed, uint64_t count);
int cluster_remove_node(struct cluster_builder *b, uint64_t key);
uint64_t cluster_node_key(const char *name);
void cluster_usage_unpack(const struct blob *blob,
			  const struct name_table *names, struct arena *arena,
			  struct cluster_usage *out);

#endif
