/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches pods with the nodes of a cluster: nodeSelector, required node
 * affinity, tolerations, and the amount and the kind of a resource on one
 * node.
 */
#ifndef KUBE_NODE_MATCH_H
#define KUBE_NODE_MATCH_H

#include "kube/accelerator.h"
#include "kube/cluster/cluster.h"
#include "kube/object.h"
#include "kube/scheduling/affinity.h"

struct node_match {
	/* Something is unknown (placeholders, labels that differ on each node)
	 * or too much to compare, so that missing nodes prove nothing. */
	bool unknown;
	uint64_t selected;  /* number of nodes that the selectors allow */
	uint64_t tolerated; /* number of those whose taints the pod tolerates */
	/* A taint of a selected node that the pod does not tolerate, or
	 * NULL. */
	const struct node *taint;
	/* Largest amount of the resource on a selected node, and that node. */
	int64_t most;
	const struct node_group *largest;
};
/* Matches the pod with all nodes. resource is NULL if the pod requests none. */
struct node_match pod_node_match(const struct cluster *cluster,
				 const struct pod *pod, const char *resource);
/* Returns the amount of a resource that each node of the group offers. */
int64_t node_group_offers(const struct node_group *group, const char *resource);
/* Spends the work of comparing that many values of the pod with all nodes.
 * Returns false if the object has too many: it is not checked, and admission
 * denies it. */
bool nodes_afford(const struct cluster *cluster, const struct pod *pod,
		  uint64_t values);
/* Returns the number of nodes on which the label has the value, or any value if
 * value is ""; 1 if the pod selects too many values. */
uint64_t nodes_with_label(const struct cluster *cluster, const struct pod *pod,
			  const char *key, const char *value);
/* Returns the value of the label `key` on some node that is most similar to
 * `value`; NULL if none is similar. */
const char *nodes_nearest_label(const struct cluster *cluster,
				struct arena *arena, const char *key,
				const char *value);
/* True if the snapshot lists all nodes that can exist. False if the cluster
 * creates nodes on demand (Karpenter), or cluster is NULL. */
bool cluster_shows_nodes(const struct cluster *cluster);

/*
 * Returns the nodeSelector and tolerations that the pod's RuntimeClass adds
 * according to the snapshot (cluster may be NULL), or NULL. Sets *unknown to
 * whether the class is not known. The classes that NVIDIA's operator and
 * toolkit install, `nvidia` and `nvidia-*`, add nothing:
 * https://github.com/NVIDIA/gpu-operator/tree/main/assets/pre-requisites
 */
const struct node *pod_runtime_scheduling(const struct cluster *cluster,
					  const struct pod *pod,
					  struct arena *arena, bool *unknown);

/*
 * Finds the kind of unit (device, share or MIG slice) that one `nvidia.com/gpu`
 * is on the nodes where the pod may run. The device plugin offers shares of
 * GPUs (time-slicing, MPS without renameByDefault) and MIG slices (strategy
 * `single`) under the name of whole GPUs, and only node labels distinguish
 * them. The plugin's configuration does not say which nodes use it. Sources:
 * k8s-device-plugin internal/lm/resource.go (`-SHARED`, `-MIG-`,
 * gpu.sharing-strategy); GKE timesharing-gpus and gpus-multi.
 */

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
