/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources that DeviceClasses name (spec.extendedResourceName): pods ask for
 * their devices as for those of a device plugin. The gate DRAExtendedResource
 * is on by default since Kubernetes 1.36.
 */
#ifndef KUBE_DEVICE_NAME_H
#define KUBE_DEVICE_NAME_H

#include "kube/cluster/cluster.h"

/* Each name in the documents of a text; it lives as long as the arena. */
void device_names_of_text(struct arena *arena, const char *text, size_t len,
			  void (*found)(void *context, const char *name),
			  void *context);
/* cluster: or NULL. */
bool device_name_in_cluster(const struct cluster *cluster, const char *resource,
			    struct arena *arena);

#endif
