/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields that the cluster puts into pods before they are created (policy:
 * `injected:`): rules read them where the author wrote none. Nodes of them are
 * in no file: node_is_injected(), which findings and repairs leave alone.
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
	const struct glob *const *namespaces; /* up to NULL; NULL: all */
	/* schedulerName, runtimeClassName, tolerations, volumes, env, labels */
	const struct node *fields;
};

bool node_is_injected(const struct node *node);
/* When its namespace is settled. An object whose namespace is not known gets
 * what all namespaces get. */
void object_inject(struct arena *arena, const struct kube_config *config,
		   struct object *object);
/* A field that is unknown hides the author's value. */
void pod_inject(struct arena *arena, struct pod *pod,
		const struct node *fields);

#endif
