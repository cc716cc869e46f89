/* SPDX-License-Identifier: Apache-2.0 */
/* Volumes that a pod gets although its own list does not have them. */
#ifndef KUBE_OTHER_VOLUME_H
#define KUBE_OTHER_VOLUME_H

#include "kube/object.h"

/* True if fields of the object outside the pod define a volume or a claim of
 * that name, or if the operator may add it. */
bool pod_has_other_volume(const struct pod *pod, const char *name);

#endif
