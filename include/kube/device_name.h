/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources that DeviceClasses name (spec.extendedResourceName): pods ask for
 * their devices as for those of a device plugin. The gate DRAExtendedResource
 * is on by default since Kubernetes 1.36.
 */
#ifndef KUBE_DEVICE_NAME_H
#define KUBE_DEVICE_NAME_H

#include "kube/cluster/cluster.h"

struct device_name {
	const char *resource;
	const char *vendor; /* NULL: not known to be an accelerator */
};

/* Calls found() for each name in the documents of a text; the strings live as
 * long as the arena. */
void device_names_of_text(struct arena *arena, const char *text, size_t len,
			  void (*found)(void *context,
					const struct device_name *name),
			  void *context);
/* cluster: or NULL; name: what was found. */
bool device_name_in_cluster(const struct cluster *cluster, const char *resource,
			    struct arena *arena, struct device_name *name);

#endif
