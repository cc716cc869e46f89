/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index of all input files, private to rules/kube: rows of facts, how they
 * are stored, sorted and looked up.
 */
#ifndef RULES_KUBE_INDEX_INTERNAL_H
#define RULES_KUBE_INDEX_INTERNAL_H

#include "base/buf.h"
#include "kube/cluster/cluster.h"
#include "kube/set/index.h"

/* Copies a text into the set's arena; NULL becomes "". */
const char *index_text(struct arena *arena, const char *text);
struct object_id index_id(struct arena *arena, const struct object *object);
/* A place that is computed when it is needed. */
struct place place_later(const struct object *object, const struct node *node,
			 uint32_t file);

/*
 * The fields of an object that a snapshot would keep, for objects to which
 * workloads refer.
 */
struct kept_object {
	unsigned kind; /* enum cluster_kind */
	const char *api_version;
	const char *namespace, *name; /* "": unknown or none */
	const struct cluster *cluster;
	const struct node *root; /* NULL: only a patch of it */
	struct place place;	 /* of the node that rules use */
	uint32_t set;
};
/* Returns false if it is not such an object. */
bool index_add_named(struct object_index *set, const struct object *object,
		     uint32_t file, struct kept_object *out);
void index_add_service(struct object_index *set, const struct object *object,
		       uint32_t file);
/* Reads the effects of Services on the pods of the object's workload. */
void index_read_service_use(const struct object *o, struct workload *w);
void index_add_scaler(struct object_index *set, const struct object *object,
		      uint32_t file);

void index_add_group(struct object_index *set, const struct object *object,
		     uint32_t file);
void index_add_config(struct object_index *set, const struct object *object,
		      uint32_t file);
/* Copies the texts of a tree, because the document's bytes are temporary. */
void index_keep_texts(struct arena *arena, struct node *node);

/* The location of each workload; rows are in the order of the files once the
 * set is finished. */
struct index_row {
	uint64_t id;	  /* keyed hash of its identity; 0: never a duplicate */
	const void *data; /* packed, in the arena of the set */
	uint32_t len;
	uint32_t file;
	uint32_t lookup_flags; /* look-ups that may find it */
	union {
		uint32_t order; /* order within the thread that read it */
		uint32_t duplicate_of; /* once finished: index of the first one
					  + 1, or 0 */
	};
};

/*
 * Bits of index_row.lookup_flags: a pod has a priority class; the object is a
 * fragment (a kustomize patch). The rest is a hash of the namespace, 0 only
 * without one.
 */
enum {
	LOOKUP_CLASS = 1,
	LOOKUP_FRAGMENT = 2,
	LOOKUP_NAMESPACE = ~3,
};

/* Bloom filter over namespace hashes. */
struct bloom_filter {
	uint64_t bits[32];
};

struct workload_index {
	struct index_row
		*rows; /* on the heap, so that they can grow in place */
	size_t size;
	struct arena scratch; /* of one workload */
	struct buf packed;
	struct namespace_cache *cache;	      /* index_cluster.c */
	struct bloom_filter quota_namespaces; /* when finished */
};

/* Objects of the same name in two clusters are different. */
static inline uint64_t index_hash_in(uint64_t hash,
				     const struct cluster *cluster)
{
	if (cluster)
		hash ^= cluster_serial(cluster) * 0x9e3779b97f4a7c15u;
	return hash ? hash : 1;
}
/* Objects in two sets of files have different hashes. */
static inline uint64_t index_hash_set(uint64_t hash, uint32_t set)
{
	return hash ^ set * 0xc2b2ae3d27d4eb4fu;
}
/* Returns the set of objects to which a file belongs. */
static inline uint32_t index_file_set(const struct object_index *set,
				      uint32_t file)
{
	return set->file_sets && file != NO_FILE ? set->file_sets[file] : 0;
}
void namespace_cache_release(struct object_index *set);
/* Finds a class in the set alone. */
const struct priority_class *index_own_class(const struct object_index *set,
					     const struct workload *w,
					     const char *name);
const struct limit_range *index_own_limit_ranges(const struct object_index *set,
						 const struct workload *w,
						 size_t *n);

struct workload_index *workload_index_of(struct object_index *set);
/* Adds a workload's facts, which are copied. */
void workload_index_add(struct object_index *set,
			const struct workload *workload);
void workload_index_join(struct object_index *dst, struct object_index *src);
void workload_index_release(struct object_index *set);
void workload_index_each(const struct object_index *set,
			 void (*each)(void *context, uint64_t what,
				      uint32_t file),
			 void *context);
/* Sorts the rows, marks duplicates and notes where quotas are. */
void workload_index_finish(struct object_index *set);
/* Sorts policy objects and named objects. */
void index_sort_policies(struct object_index *set);
void index_sort_named(struct object_index *set);
/* Hash of a policy object's content, in its cluster: equal objects have equal
 * hashes. */
uint64_t index_content(struct object_index *set, const struct object *object);

/* Packs a workload into bytes, to be unpacked by the same process. */
void workload_pack(const struct workload *workload, struct buf *out);
/* The texts stay in data. Returns NULL if the bytes are not such a record. */
struct workload *workload_unpack(const void *data, size_t len,
				 struct arena *arena);

/* Reads the claims that its pods share, their runtime class, and whether two of
 * its pods may run on one node. */
void pod_read_references(struct arena *arena, const struct pod *pod,
			 uint32_t file, struct workload_pod *out);

void pod_read_labels(struct arena *arena, const struct pod *pod,
		     struct workload_pod *out);

/* Read one policy object each; the head of the file lists the fields. */
void quota_read(struct arena *arena, const struct object *object, uint32_t file,
		struct quota *out);
void limit_range_read(struct arena *arena, const struct object *object,
		      uint32_t file, struct limit_range *out);
void priority_class_read(struct arena *arena, const struct object *object,
			 uint32_t file, struct priority_class *out);

#endif
