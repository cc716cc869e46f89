/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spot and preemptible capacity.
 */
#ifndef KUBE_SPOT_H
#define KUBE_SPOT_H

#include "kube/object.h"

/*
 * Returns the selector or toleration that lets the pod run on spot or
 * preemptible nodes, or NULL.
 */
const struct node *pod_spot(const struct pod *pod);
/* True if the pod's selectors allow only such nodes. */
bool pod_is_spot_only(const struct pod *pod);

#endif
