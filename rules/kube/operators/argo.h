/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RULES_KUBE_OPERATORS_ARGO_H
#define RULES_KUBE_OPERATORS_ARGO_H

#include "rules/kube/operator.h"

/* Sets the peaks of a Workflow's pods to how many run at once. */
void argo_peaks(struct arena *arena, struct object *object);

#endif
