/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data structures of cluster snapshots, private to rules/kube. Blobs (bytes
 * under a key) are stored in tables of shards. Blobs and shards are shared by
 * reference count, and a builder copies a shard before a change only if it is
 * shared.
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
/* Adds an entry, or replaces the one with the same key. */
void table_put(struct hash_table *table, uint64_t key, const void *data,
	       size_t len);
bool table_remove(struct hash_table *table, uint64_t key);
/* Lets dst, which must be empty, share all entries of src. */
void table_share(struct hash_table *dst, const struct hash_table *src);
void table_release(struct hash_table *table);
const struct blob *table_next(const struct hash_table *table, size_t *cursor);

/* --- packing (cluster_pack.c) --------------------------------------------- */

/* A table of names that occur often, which are stored by number. Only the
 * builder adds names, before it publishes objects that use them. */
enum { NAMES_MAX = 4096 };
struct name_table {
	atomic_uint refs;
	uint32_t n;
	struct arena arena;
	uint32_t *slots; /* hash table with numbers + 1 */
	const char *items[NAMES_MAX];
};
struct name_table *names_new(void);
void names_put(struct name_table *names);

/* Packed bytes to read. Beyond the end, reads return 0 and "". */
struct byte_cursor {
	const unsigned char *at, *end;
	const struct name_table *names;
};
void put_number(struct buf *out, uint64_t n);
void put_text(struct buf *out, const char *text);
/* Appends a text that occurs often: as its number, or as a text if it is too
 * long or the table is full. */
void put_name(struct buf *out, struct name_table *names, const char *text);
void put_tree(struct buf *out, struct name_table *names,
	      const struct node *node);
void put_quantity(struct buf *out, struct quantity q);
uint64_t take_number(struct byte_cursor *cursor);
/* Returns a text, which points into the packed bytes. */
const char *take_text(struct byte_cursor *cursor);
const char *take_name(struct byte_cursor *cursor, struct arena *arena);
struct node *take_tree(struct byte_cursor *cursor, struct arena *arena);
struct quantity take_quantity(struct byte_cursor *cursor);

/* --- nodes (cluster_node.c) ----------------------------------------------- */

/* Node groups of a snapshot, shared until a node changes. */
struct node_groups {
	atomic_uint refs;
	struct arena arena;
	struct node_group *items;
	size_t n;
	/* keys of labels that differ on every node, NULL-terminated */
	const char *const *individual;
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
	/* By the hash of the namespace, or of the kind for cluster-scoped
	 * objects: the name of the namespace, or "", then records (see
	 * cluster.c). */
	struct hash_table namespaces;
	struct hash_table usage; /* by hash of the owner's identity */
	struct cluster_meta meta;
	size_t counts[CLUSTER_KINDS];
};

struct cluster_builder {
	/* state that is copied for each snapshot */
	struct cluster state;
	struct hash_table pods;	       /* owner and requests of each pod */
	struct hash_table links;       /* owner of each object */
	struct hash_table node_names;  /* group of each node */
	struct hash_table node_groups; /* count, name and tree of each group */
	bool nodes_changed;
	size_t runtime_bytes; /* packed size of all runtimes */
	/* a runtime was left out, because it or all runtimes are too large */
	bool left_out;
	struct arena scratch;
	struct buf packed, id, record, group;
};

uint64_t cluster_place_key(enum cluster_kind kind, const char *namespace);
/* A record in the blob of a namespace, or of a cluster-scoped kind. */
struct cluster_record {
	enum cluster_kind kind;
	const char *name;
	const unsigned char *start; /* start of the record */
	struct byte_cursor tree;
};
bool record_next(struct byte_cursor *cursor, struct cluster_record *record);
/* Key of an object's record. */
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

struct object_id cluster_id(const struct cluster_item *item);
uint64_t cluster_id_key(struct cluster_builder *b, const struct object_id *id);

/* Parts of cluster_builder_add() and cluster_builder_remove(), in cluster_pod.c
 * and cluster_node.c. They return 1 if something changed, else 0. */
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
