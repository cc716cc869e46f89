/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside rules/kube: pieces of fact reading shared by its files.
 */
#ifndef RULES_KUBE_FACT_H
#define RULES_KUBE_FACT_H

#include "base/buf.h"
#include "kube/fact.h"

/* Copies into the set's arena; NULL becomes "". */
const char *fact_text(struct arena *arena, const char *text);
struct object_id fact_id(struct arena *arena, const struct object *object);
/* metadata.name, else the object. */
const struct node *fact_name_node(const struct object *object);

/* Where each workload lies; rows are in the order of the files when the set
 * is finished. */
struct fact_row {
	uint64_t id; /* keyed hash of its identity, 0: nobody's duplicate */
	uint64_t at; /* in its store, or an address */
	const struct fact_store *store;
	uint32_t len;
	uint32_t file;
	uint32_t asks; /* what of the set it may be looked up for */
	union {
		uint32_t order;	       /* within the thread that read it */
		uint32_t duplicate_of; /* when finished: the first's index +
					  1, or 0 */
	};
};

/* fact_row.asks: a pod names a priority class; the object is a part of one (a
 * kustomize patch); a hash of the namespace, 0 only when there is none. */
enum {
	ASKS_CLASS = 1,
	ASKS_PART = 2,
	ASKS_NAMESPACE = ~3,
};

/* A set of hashes that may say yes where it should say no. */
struct fact_sieve {
	uint64_t bits[32];
};

struct fact_index {
	struct fact_row *rows; /* on the heap: they grow without a copy */
	size_t size;
	struct arena scratch; /* of one workload */
	struct buf packed;
	uint64_t *seen; /* policy objects, a hash table of contents */
	size_t nseen, seen_size;
	struct fact_view *view;		    /* fact_cluster.c */
	struct fact_sieve quota_namespaces; /* when finished */
};

/* Another cluster makes another object of the same name. */
uint64_t fact_hash_in(uint64_t hash, const struct cluster *cluster);
void fact_view_release(struct fact_view *view);
/* A class of the set alone. */
const struct priority_class *facts_own_class(const struct fact_set *set,
					     const struct workload *w,
					     const char *name);
const struct limit_range *facts_own_limit_ranges(const struct fact_set *set,
						 const struct workload *w,
						 size_t *n);

struct fact_index *fact_index_of(struct fact_set *set);
/* Add a workload's facts; they are copied. */
void fact_index_add(struct fact_set *set, const struct workload *workload);
void fact_index_join(struct fact_set *dst, struct fact_set *src);
void fact_index_release(struct fact_set *set);
/* Put the rows in order and mark what stands twice; note where quotas are. */
void fact_index_finish(struct fact_set *set);
/* Has a policy object that says the same been seen before? It has now. */
bool fact_seen(struct fact_set *set, const struct object *object,
	       uint64_t *content);
uint64_t fact_id_hash(const struct object_id *id, struct buf *scratch);

/* A workload as bytes, to be unpacked by the same process. */
void workload_pack(const struct workload *workload, struct buf *out);
/* The texts stay in data. NULL when the bytes are none of ours. */
struct workload *workload_unpack(const void *data, size_t len,
				 struct arena *arena);

/* Read one policy object; what to read stands in the file's head. */
void quota_read(struct arena *arena, const struct object *object, uint32_t file,
		struct quota *out);
void limit_range_read(struct arena *arena, const struct object *object,
		      uint32_t file, struct limit_range *out);
void priority_class_read(struct arena *arena, const struct object *object,
			 uint32_t file, struct priority_class *out);

#endif
