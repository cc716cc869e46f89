/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods against the nodes that a cluster has: nodeSelector, required node
 * affinity, tolerations, and how many of a resource one node offers.
 */
#ifndef KUBE_NODE_MATCH_H
#define KUBE_NODE_MATCH_H

#include "kube/cluster/cluster.h"
#include "kube/object.h"
#include "kube/scheduling/affinity.h"

struct node_match {
	/* Something is not known (placeholders, labels that each node has for
	 * itself): nothing can be said about what is missing. */
	bool unknown;
	uint64_t selected;  /* nodes that the selectors allow */
	uint64_t tolerated; /* of those, with taints that are tolerated */
	/* A taint of a selected node that is not, or NULL. */
	const struct node *taint;
	/* Most of the resource that a selected node has, and whose that is. */
	int64_t most;
	const struct node_group *largest;
};
/* resource NULL: none is asked for. */
struct node_match pod_node_match(const struct cluster *cluster,
				 const struct pod *pod, const char *resource);
/* Nodes with that label ("": whatever its value). */
uint64_t nodes_with_label(const struct cluster *cluster, const char *key,
			  const char *value);
/* Nodes that offer the resource; *most: on one of them. */
uint64_t nodes_with_resource(const struct cluster *cluster,
			     const char *resource, int64_t *most);
/* The value of that label that is most like this one, or NULL. */
const char *nodes_nearest_label(const struct cluster *cluster,
				struct arena *arena, const char *key,
				const char *value);
/* True if all nodes that offer the pod's resources have the same product. */
bool nodes_are_alike(const struct cluster *cluster, const struct pod *pod);
/* True if fits() holds for the labels of every node that the pod selects and
 * that offers the resource. False if the snapshot (or NULL) shows none. */
bool nodes_all(const struct cluster *cluster, const struct pod *pod,
	       const char *resource, bool (*fits)(const struct node *labels));
/* True if the snapshot (or NULL) shows all nodes there will be. False if the
 * cluster makes nodes on demand (Karpenter). */
bool cluster_shows_nodes(const struct cluster *cluster);

/*
 * Returns the additions of the pod's RuntimeClass (nodeSelector, tolerations)
 * according to the snapshot; NULL: none. *unknown: the snapshot lacks the
 * class. The classes that NVIDIA's operator and toolkit install, `nvidia` and
 * `nvidia-*`, add nothing:
 * https://github.com/NVIDIA/gpu-operator/tree/main/assets/pre-requisites
 */
const struct node *pod_runtime_scheduling(const struct cluster *cluster,
					  const struct pod *pod,
					  struct arena *arena, bool *unknown);

#endif
