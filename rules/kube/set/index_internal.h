/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of the index of all input files, private to rules/kube: reading,
 * sorting and finding facts.
 */
#ifndef RULES_KUBE_INDEX_INTERNAL_H
#define RULES_KUBE_INDEX_INTERNAL_H

#include "base/buf.h"
#include "kube/cluster/cluster.h"
#include "kube/set/index.h"

/* Copies a text into the set's arena; NULL becomes "". */
const char *index_text(struct arena *arena, const char *text);
struct object_id index_id(struct arena *arena, const struct object *object);
/* Returns a place whose line and column are computed on demand. */
struct place place_later(const struct object *object, const struct node *node,
			 uint32_t file);

/* The fields of a named object that a snapshot would store. */
struct kept_object {
	unsigned kind;
	const char *api_version;
	const char *namespace, *name; /* "": unknown or none */
	const struct cluster *cluster;
	const struct node *root; /* NULL: files contain only a patch of it */
	struct place place;	 /* of the node that rules report */
	uint32_t set;
};
/* Reads an object to which workloads refer by name, or that selects pods.
 * Returns false for objects of other kinds. */
bool index_add_named(struct object_index *set, const struct object *object,
		     uint32_t file, struct kept_object *out);
void index_add_service(struct object_index *set, const struct object *object,
		       uint32_t file);
void index_add_scaler(struct object_index *set, const struct object *object,
		      uint32_t file);

void index_add_group(struct object_index *set, const struct object *object,
		     uint32_t file);
void index_add_config(struct object_index *set, const struct object *object,
		      uint32_t file);
/* Copies the texts of a tree, because the document's bytes are temporary. */
void index_keep_texts(struct arena *arena, struct node *node);

struct workload_index {
	struct arena scratch;	       /* memory for one workload */
	struct buf identity;	       /* bytes that are hashed */
	struct namespace_cache *cache; /* see index_cluster.c */
};

/* Changes the hash, because objects of the same name in two clusters are
 * different. */
static inline uint64_t index_hash_in(uint64_t hash,
				     const struct cluster *cluster)
{
	if (cluster)
		hash ^= cluster_serial(cluster) * 0x9e3779b97f4a7c15u;
	return hash ? hash : 1;
}
/* Changes the hash, because objects in two sets of files are different. */
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
/* Finds a class that is defined in files. */
const struct priority_class *index_own_class(const struct object_index *set,
					     const struct workload *w,
					     const char *name);
const struct limit_range *index_own_limit_ranges(const struct object_index *set,
						 const struct workload *w,
						 size_t *n);

struct workload_index *workload_index_of(struct object_index *set);
/* Copies a workload's facts and adds them. */
void workload_index_add(struct object_index *set,
			const struct workload *workload);
void workload_index_release(struct object_index *set);
void workload_index_each(const struct object_index *set,
			 void (*each)(void *context, uint64_t what,
				      uint32_t file),
			 void *context);
/* Sorts the workloads and marks duplicates. */
void workload_index_finish(struct object_index *set);
/* Sorts the lists of the index, except for workloads and named objects, and
 * removes duplicates of policy objects. It also stores the set of each named
 * object. */
void index_sort_policies(struct object_index *set);
void index_sort_named(struct object_index *set);
/* Returns a hash of a policy object's content and its cluster: equal objects
 * have equal hashes. */
uint64_t index_content(struct object_index *set, const struct object *object);

/* Read one policy object each. The head of index_policy.c lists the fields. */
void quota_read(struct arena *arena, const struct object *object, uint32_t file,
		struct quota *out);
void limit_range_read(struct arena *arena, const struct object *object,
		      uint32_t file, struct limit_range *out);
void priority_class_read(struct arena *arena, const struct object *object,
			 uint32_t file, struct priority_class *out);

#endif
