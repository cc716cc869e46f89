/* SPDX-License-Identifier: Apache-2.0 */
/* Argo Workflows: the spelling of fields, podSpecPatch, and the peaks of
 * pods. */
#ifndef RULES_KUBE_OPERATORS_ARGO_H
#define RULES_KUBE_OPERATORS_ARGO_H

#include "rules/kube/operator.h"

/* Returns the tree with the usual case of its field names. */
const struct node *argo_respelled(struct pod_builder *builder,
				  const struct node *tree);
/* Returns a copy of the node with another key. */
struct node argo_renamed(const struct node *node, const char *field);
/* Changes the fields of the pod as podSpecPatch does. */
void argo_patch(struct pod_builder *builder, struct pod *pod);
/* Adds the devices in podSpecPatch. */
void argo_devices(struct pod_builder *builder, struct pod *pod);
/* Sets the peaks of a Workflow's pods to the largest number that runs at
 * once. */
void argo_peaks(struct arena *arena, struct object *object);

#endif
