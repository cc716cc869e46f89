/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields that the cluster adds to pods before they are created, as listed in
 * the policy's `injected:`. Rules read them if the author did not set the
 * field. Their nodes are not in a file (node_is_injected()), so that findings
 * and fixes skip them.
 */
#ifndef KUBE_INJECTED_H
#define KUBE_INJECTED_H

#include "base/arena.h"
#include "doc/node.h"

struct glob;
struct object;
struct pod;
struct kube_config;

struct pod_injection {
	/* NULL-terminated, or NULL (all namespaces) */
	const struct glob *const *namespaces;
	/* Map with schedulerName, runtimeClassName, tolerations, volumes, env,
	 * labels. */
	const struct node *fields;
};

bool node_is_injected(const struct node *node);
/* Adds the fields for the object's namespace, which must be final. An object
 * whose namespace is unknown gets only fields for all namespaces. */
void object_inject(struct arena *arena, const struct kube_config *config,
		   struct object *object);
/* Adds the fields to a pod; flat pods get none. An unknown list or map that is
 * injected replaces the author's. */
void pod_inject(struct arena *arena, struct pod *pod,
		const struct node *fields);

#endif
