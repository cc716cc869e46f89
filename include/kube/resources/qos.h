/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The QoS class of a pod, as far as rules ask for it: is it BestEffort. The
 * class looks at cpu and memory only, extended resources do not count.
 */
#ifndef KUBE_QOS_H
#define KUBE_QOS_H

#include <stdbool.h>

#include "kube/object.h"

/*
 * No cpu or memory figure anywhere in the pod, and no operator is known to
 * add one. False while something unknown may hide one.
 */
bool pod_is_besteffort(const struct pod *pod);

#endif
