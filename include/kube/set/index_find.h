/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds objects to which a workload refers (queues, runtime and device classes,
 * volume claims; not priority classes), and objects that select its pods. The
 * set and the workload's cluster are searched together, after
 * object_index_finish().
 */
#ifndef KUBE_INDEX_FIND_H
#define KUBE_INDEX_FIND_H

#include "kube/cluster/cluster.h"
#include "kube/set/index.h"

struct found_object {
	/* api_version is set by index_selecting() only, for objects of
	 * files. */
	const char *name, *api_version;
	/* Stored fields of the object, from files if they define it. NULL if
	 * several files define it differently, or only patch it. */
	const struct node *root;
	const struct node *status; /* status in the cluster, or NULL */
	bool in_set;
	bool maybe; /* for index_selecting(): it may be in another namespace */
	/* Place of the value that rules report, in the first file that defines
	 * the object, or for index_find_all() in any of them; without a file if
	 * it is only in the cluster. */
	struct place place;
	size_t at; /* index in set->named; set by index_selecting() only */
};
/* Finds an object; NULL if neither the set nor the cluster has it. A namespaced
 * object must be in the workload's namespace. */
const struct found_object *index_find(const struct object_index *set,
				      const struct workload *w,
				      enum cluster_kind kind, const char *name,
				      struct arena *arena);
/* Returns the namespace of an object of this name that the workload's file
 * defines in another namespace than that of the workload, and sets *place.
 * Returns NULL if the file defines none, or may define one in the workload's
 * namespace, or if there are too many objects to search. */
const char *index_elsewhere(const struct object_index *set,
			    const struct workload *w, enum cluster_kind kind,
			    const char *name, struct place *place);
/* Returns all objects to which the workload may refer, in any order, each
 * once. */
const struct found_object *index_find_all(const struct object_index *set,
					  const struct workload *w,
					  enum cluster_kind kind,
					  struct arena *arena, size_t *n);
/* Returns the name among those of index_find_all() that is most similar, in the
 * arena; NULL if none is similar or there are too many to compare. */
const char *index_nearest(const struct object_index *set,
			  const struct workload *w, enum cluster_kind kind,
			  const char *name, struct arena *arena);
/*
 * Finds objects that select pods by labels (disruption budgets, network
 * policies): each one in the workload's namespace once, and objects in files
 * that may be in this namespace. Objects of one file that do not set a
 * namespace are in the same one. Returns NULL if there are too many to check.
 */
const struct found_object *index_selecting(const struct object_index *set,
					   const struct workload *w,
					   enum cluster_kind kind,
					   struct arena *arena, size_t *n);
/* True if a file defines an object of this kind. */
bool index_keeps(const struct object_index *set, enum cluster_kind kind);
/*
 * True if files define all known objects of this kind to which the workload may
 * refer: at least one, all with known names. The cluster may still have others.
 */
bool index_lists(const struct object_index *set, const struct workload *w,
		 enum cluster_kind kind);

#endif
