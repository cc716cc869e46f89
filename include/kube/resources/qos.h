/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The QoS class of a pod, as far as rules need it: whether it is BestEffort.
 * The class depends on cpu and memory only, not on extended resources.
 */
#ifndef KUBE_QOS_H
#define KUBE_QOS_H

#include <stdbool.h>

#include "kube/object.h"

/*
 * True if no container sets cpu or memory and no operator is known to add them.
 * False if something unknown may set them.
 */
bool pod_is_besteffort(const struct pod *pod);

#endif
