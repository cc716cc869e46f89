/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RULES_KUBE_OPERATORS_ARGO_H
#define RULES_KUBE_OPERATORS_ARGO_H

#include "rules/kube/operator.h"

/* The tree with the usual names of fields that are written in other letters. */
const struct node *argo_respelled(struct pod_builder *builder,
				  const struct node *tree);
/* The object as the controller decodes it. */
const struct node *argo_spelled(struct pod_builder *builder);
/* A copy of the node with another key. */
struct node argo_renamed(const struct node *node, const char *field);
/* Reads the pod after podSpecPatch. */
void argo_patch(struct pod_builder *builder, struct pod *pod);
/* Adds devices of podSpecPatch. */
void argo_devices(struct pod_builder *builder, struct pod *pod);
/* Sets the peaks of a Workflow's pods to the number that runs at once. */
void argo_peaks(struct arena *arena, struct object *object);

#endif
