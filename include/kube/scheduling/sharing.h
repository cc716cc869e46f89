/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the kind of unit (device, share or MIG slice) that one `nvidia.com/gpu`
 * is on the nodes where the pod may run. The device plugin offers shares of
 * GPUs (time-slicing, MPS without renameByDefault) and MIG slices (strategy
 * `single`) under the name of whole GPUs, and only node labels distinguish
 * them. The plugin's configuration does not say which nodes use it. Sources:
 * k8s-device-plugin internal/lm/resource.go (`-SHARED`, `-MIG-`,
 * gpu.sharing-strategy); GKE timesharing-gpus and gpus-multi.
 */
#ifndef KUBE_SHARING_H
#define KUBE_SHARING_H

#include "kube/accelerator.h"
#include "kube/cluster/cluster.h"
#include "kube/object.h"

/*
 * Returns the class of the units that the container requests, from the
 * resource's name, or else from the pod's selectors or from all nodes of the
 * snapshot (may be NULL) that it selects and that offer the resource. Returns
 * ACCEL_WHOLE also if it is unknown.
 */
enum accel_class container_unit(const struct cluster *cluster,
				const struct container *c,
				const struct resource_entry *entry);

/*
 * True if the pod's accelerators are whole devices, as node labels and instance
 * types count them. False for AMD's, because partitions have the name of whole
 * GPUs by default.
 */
bool pod_requests_whole(const struct cluster *cluster, const struct pod *pod);

#endif
