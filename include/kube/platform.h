/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about a cluster without a snapshot: the policy's statements
 * (`platform:`), and signs in an object of its platform.
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

/* Lists end in NULL; a list that is NULL is unknown. */
struct platform {
	const char *const *gpu_taints;	 /* keys of taints of GPU nodes */
	const char *const *gpu_products; /* products of GPU nodes */
	const char *const *priority_classes;
	const char *default_priority_class; /* NULL: none is named */
	/* Yes if LimitRanges set cpu and memory of containers without them. */
	enum tri limit_defaults;
	enum device_injection injection;
	/* Minor versions of 1.x; 0: unknown. */
	int kubernetes, karpenter;
};

/*
 * True if the object names a managed platform (such as GKE, EKS, AKS or
 * Karpenter), by its selectors or by an annotation. Such a platform adds
 * tolerations or leaves its nodes untainted by default. All roles of an object
 * run on one platform; an unknown value (`${X}`) may be any.
 */
bool object_shows_platform(const struct object *object);

/* Derived from the DaemonSets of NVIDIA's device plugin, or the GPU Operator's
 * ClusterPolicy, in the cluster state; cluster may be NULL. */
enum device_injection cluster_injection(const struct cluster *cluster,
					struct arena *arena);

/* The minor version of Karpenter 1 in the cluster state, 0: unknown; cluster
 * may be NULL. */
int cluster_karpenter(const struct cluster *cluster, struct arena *arena);

/*
 * Returns whether the container's runtime reads NVIDIA_VISIBLE_DEVICES. An
 * nvidia runtime named by the pod does. The default runtime does not if devices
 * are injected by CDI (GPU Operator from 25.10 on). If devices are passed as
 * volume mounts, these win; without any, the variable counts in privileged
 * containers, and in others if the toolkit accepts it.
 */
enum tri container_obeys_variable(const struct container *c,
				  enum device_injection injection);

#endif
