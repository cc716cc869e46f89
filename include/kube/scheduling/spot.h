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
/* True if the label with this value selects such nodes. */
bool spot_is_selected(const char *key, const struct node *value);

#endif
