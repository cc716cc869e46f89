/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields that the cluster adds to pods before they are created (policy:
 * `injected:`): rules read them if the author set none. Their nodes are in no
 * file (node_is_injected()), so findings and fixes skip them.
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
	const struct glob *const *namespaces; /* ends with NULL; NULL: all */
	/* schedulerName, runtimeClassName, tolerations, volumes, env, labels */
	const struct node *fields;
};

bool node_is_injected(const struct node *node);
/* Called once the namespace is determined. An object whose namespace is unknown
 * gets only fields for all namespaces. */
void object_inject(struct arena *arena, const struct kube_config *config,
		   struct object *object);
/* An unknown injected field hides the author's value. */
void pod_inject(struct arena *arena, struct pod *pod,
		const struct node *fields);

#endif
