/* SPDX-License-Identifier: Apache-2.0 */
/* Paths to the pods of the kinds in rules/kube/data/kinds.txt. */
#ifndef KUBE_POD_PATHS_H
#define KUBE_POD_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

struct pod_path {
	/* Keys from the object's root, NULL-terminated. "[]" means each item of
	 * a list, "*" each value of a map; a path has at most one of them. */
	const char *const *steps;
	bool is_spec; /* leads to a PodSpec, not to a pod template */
	/* has containers in other places than initContainers and containers */
	bool boxes;
};

/* Returns the n pod paths of a kind (group "": the core group). Returns NULL if
 * paths cannot express them; *why is then the reason, as a clause whose subject
 * is the kind. */
const struct pod_path *kind_pod_paths(struct arena *arena, const char *group,
				      const char *kind, size_t *n,
				      const char **why);
/* Returns the i-th group that has a kind of this name; NULL past the last. */
const char *kind_group(const char *kind, size_t i);

#endif
