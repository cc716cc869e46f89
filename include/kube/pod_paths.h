/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the kinds of rules/kube/data/kinds.txt hold their pods, as paths.
 */
#ifndef KUBE_POD_PATHS_H
#define KUBE_POD_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

struct pod_path {
	/* From the object; "[]" is each item of a list, "*" each value of a
	 * map; a path has at most one of them. Ends in NULL. */
	const char *const *steps;
	bool is_spec; /* leads to a PodSpec; else to a pod template */
	bool boxes;   /* has lists besides initContainers and containers */
};

/* Returns the n pod paths of a kind (group "": the core group). Returns NULL if
 * paths cannot express them; *why is then the reason, a clause about the
 * kind. */
const struct pod_path *kind_pod_paths(struct arena *arena, const char *group,
				      const char *kind, size_t *n,
				      const char **why);
/* The i-th group that has a kind of this name; NULL past the last. */
const char *kind_group(const char *kind, size_t i);

#endif
