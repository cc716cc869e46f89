/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that a workload names, other than priority classes: queues, runtime
 * and device classes, volume claims; and what selects its pods. From the set
 * and from the workload's cluster as one, after object_index_finish().
 */
#ifndef KUBE_INDEX_FIND_H
#define KUBE_INDEX_FIND_H

#include "kube/cluster/cluster.h"
#include "kube/set/index.h"

struct found_object {
	const char *name, *api_version;
	/* The kept part of the object; from files if they have it. NULL:
	 * they differ, or patch an object that is elsewhere. */
	const struct node *root;
	const struct node *status; /* the cluster's; NULL: not known */
	bool in_set;
	bool maybe; /* of index_selecting(): if it is of that namespace */
	/* The fact of it that rules are about, in the first file that has it;
	 * of no file where the cluster alone has it. */
	struct place place;
	size_t at; /* number of that definition, below set->nnamed */
};
/* NULL: neither has it. A namespaced one is of the workload's namespace. */
const struct found_object *index_find(const struct object_index *set,
				      const struct workload *w,
				      enum cluster_kind kind, const char *name,
				      struct arena *arena);
/* All that it could name, in no order; each once. */
const struct found_object *index_find_all(const struct object_index *set,
					  const struct workload *w,
					  enum cluster_kind kind,
					  struct arena *arena, size_t *n);
/* The name most like it among these, in the arena; NULL: none is, or they are
 * too many to be compared. */
const char *index_nearest(const struct object_index *set,
			  const struct workload *w, enum cluster_kind kind,
			  const char *name, struct arena *arena);
/*
 * Finds objects that select pods by labels (disruption budgets, network
 * policies): all in the workload's namespace, each once, and the ones of files
 * that may be. Without namespaces, objects of the same file share one. NULL:
 * too many to check.
 */
const struct found_object *index_selecting(const struct object_index *set,
					   const struct workload *w,
					   enum cluster_kind kind,
					   struct arena *arena, size_t *n);
/* True if a file has an object of this kind. */
bool index_keeps(const struct object_index *set, enum cluster_kind kind);
/*
 * True if files list all objects of this kind: they have some, all with known
 * names. Others may still be in the cluster.
 */
bool index_lists(const struct object_index *set, const struct workload *w,
		 enum cluster_kind kind);

#endif
