/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects to which a workload refers, other than priority classes (queues,
 * runtime and device classes, volume claims), and objects that select its pods.
 * The set and the workload's cluster are searched together, after
 * object_index_finish().
 */
#ifndef KUBE_INDEX_FIND_H
#define KUBE_INDEX_FIND_H

#include "kube/cluster/cluster.h"
#include "kube/set/index.h"

struct found_object {
	const char *name, *api_version;
	/* The kept fields of the object, from files if they have it. NULL: they
	 * differ, or patch an object that is elsewhere. */
	const struct node *root;
	const struct node *status; /* from the cluster; NULL: unknown */
	bool in_set;
	bool maybe; /* of index_selecting(): it may be in another namespace */
	/* The fact about it that rules use, in the first file that has it;
	 * without a file if only the cluster has it. */
	struct place place;
	size_t at; /* number of that definition, below set->nnamed */
};
/* Finds an object; NULL if neither has it. A namespaced one is in the
 * workload's namespace. */
const struct found_object *index_find(const struct object_index *set,
				      const struct workload *w,
				      enum cluster_kind kind, const char *name,
				      struct arena *arena);
/* All objects to which it may refer, in no order, each once. */
const struct found_object *index_find_all(const struct object_index *set,
					  const struct workload *w,
					  enum cluster_kind kind,
					  struct arena *arena, size_t *n);
/* The most similar name among these, in the arena; NULL if there is none or
 * there are too many to compare. */
const char *index_nearest(const struct object_index *set,
			  const struct workload *w, enum cluster_kind kind,
			  const char *name, struct arena *arena);
/*
 * Finds objects that select pods by labels (disruption budgets, network
 * policies): all in the workload's namespace, each once, and objects in files
 * that may be in it. Objects without namespaces share one if they are in the
 * same file. NULL if there are too many to check.
 */
const struct found_object *index_selecting(const struct object_index *set,
					   const struct workload *w,
					   enum cluster_kind kind,
					   struct arena *arena, size_t *n);
/* True if a file has an object of this kind. */
bool index_keeps(const struct object_index *set, enum cluster_kind kind);
/*
 * True if files define all known objects of this kind: at least one, all with
 * known names. The cluster may still have others.
 */
bool index_lists(const struct object_index *set, const struct workload *w,
		 enum cluster_kind kind);

#endif
