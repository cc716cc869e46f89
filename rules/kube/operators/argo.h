/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RULES_KUBE_OPERATORS_ARGO_H
#define RULES_KUBE_OPERATORS_ARGO_H

#include "rules/kube/operator.h"

/* Reads the pod after podSpecPatch. */
void argo_patch(struct pod_builder *builder, struct pod *pod);
/* Adds devices of podSpecPatch. */
void argo_devices(struct pod_builder *builder, struct pod *pod);
/* Sets the peaks of a Workflow's pods to the number that runs at once. */
void argo_peaks(struct arena *arena, struct object *object);

#endif
