/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about a cluster without a snapshot: the policy's statements
 * (`platform:`), and signs in an object of the platform that it is for.
 */
#ifndef KUBE_PLATFORM_H
#define KUBE_PLATFORM_H

#include "kube/cluster/cluster.h"
#include "kube/container.h"
#include "kube/object.h"

/* Mechanism by which the device plugin passes devices to a container. */
enum device_injection {
	INJECTION_UNKNOWN,
	INJECTION_ENVVAR,
	INJECTION_VOLUME_MOUNTS,
	INJECTION_CDI,
};

/* Lists end in NULL; a list that is NULL is not known. */
struct platform {
	const char *const *gpu_taints;	 /* keys of taints of GPU nodes */
	const char *const *gpu_products; /* products of GPU nodes */
	const char *const *priority_classes;
	const char *default_priority_class; /* NULL: none is named */
	/* Yes if LimitRanges set cpu and memory of containers without them. */
	enum tri limit_defaults;
	enum device_injection injection;
	/* Minor versions of 1; 0: not known. */
	int kubernetes, karpenter;
};

/*
 * True if the object names a managed platform (such as GKE, EKS, AKS or
 * Karpenter), by its selectors or by an annotation. Such a platform adds
 * tolerations or leaves its nodes untainted by default. Roles of one object are
 * on one platform; an unknown value (`${X}`) may name any.
 */
bool object_shows_platform(const struct object *object);

/* By the DaemonSets of NVIDIA's device plugin, or the GPU Operator's
 * ClusterPolicy, of the state; cluster may be NULL. */
enum device_injection cluster_injection(const struct cluster *cluster,
					struct arena *arena);

/* The minor version of Karpenter 1 that the state has, 0: not known; cluster
 * may be NULL. */
int cluster_karpenter(const struct cluster *cluster, struct arena *arena);

/*
 * Returns whether the container's runtime reads NVIDIA_VISIBLE_DEVICES. The
 * nvidia runtime that a pod names does. If devices come by CDI (GPU Operator
 * from 25.10 on), the default runtime does not; if they come as volume mounts,
 * these win, and without any the variable counts in privileged containers, and
 * in others if the toolkit accepts it.
 */
enum tri container_obeys_variable(const struct container *c,
				  enum device_injection injection);

#endif
