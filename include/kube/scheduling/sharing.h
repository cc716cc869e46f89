/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The meaning of a unit of `nvidia.com/gpu` on the nodes where the pod may run.
 * The device plugin gives shares of GPUs (time-slicing, MPS without
 * renameByDefault) and MIG slices (strategy `single`) the name of whole GPUs;
 * node labels show which they are. The plugin's configuration does not, because
 * nodes select it by a separate label. Sources: k8s-device-plugin
 * internal/lm/resource.go (`-SHARED`, `-MIG-`, gpu.sharing-strategy); GKE
 * timesharing-gpus and gpus-multi.
 */
#ifndef KUBE_SHARING_H
#define KUBE_SHARING_H

#include "kube/accelerator.h"
#include "kube/cluster/cluster.h"
#include "kube/object.h"

/*
 * Derives it from the resource's name; else from the pod's selectors, or from
 * all nodes of the snapshot (or NULL) that it selects and that offer the
 * resource. Returns ACCEL_WHOLE also if it is unknown.
 */
enum accel_class container_unit(const struct cluster *cluster,
				const struct container *c,
				const struct resource_entry *entry);

/*
 * True if the pod's accelerators are whole devices, which node labels and
 * instance types count. False also for AMD's, whose partitions have the name of
 * whole GPUs by default.
 */
bool pod_requests_whole(const struct cluster *cluster, const struct pod *pod);

#endif
