/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about a cluster that are known without a snapshot: statements in the
 * policy (`platform:`), and signs of a managed platform in an object.
 */
#ifndef KUBE_PLATFORM_H
#define KUBE_PLATFORM_H

#include "kube/cluster/cluster.h"
#include "kube/container.h"
#include "kube/object.h"

/* Mechanism by which a device plugin passes devices to a container. */
enum device_injection {
	INJECTION_UNKNOWN,
	INJECTION_ENVVAR,
	INJECTION_VOLUME_MOUNTS,
	INJECTION_CDI,
};

/* Operators whose versions decide which objects they reject. */
enum operator_name {
	OPERATOR_NONE,
	OPERATOR_JOBSET,
	OPERATOR_KAI,
	OPERATOR_KATIB,
	OPERATOR_KSERVE,
	OPERATOR_KUBERAY,
	OPERATOR_KUEUE,
	OPERATOR_LWS,
	OPERATOR_MPI,
	OPERATOR_SPARK,
	OPERATOR_TRAINER,
	OPERATOR_VOLCANO,
	OPERATORS
};

/* Statements of the policy. Lists are NULL-terminated; a list that is NULL is
 * unknown. */
struct platform {
	const char *const *gpu_taints;	 /* taint keys of GPU nodes */
	const char *const *gpu_products; /* product names of GPU nodes */
	const char *const *priority_classes;
	const char *default_priority_class; /* NULL: not set */
	/* Yes if LimitRanges set cpu and memory of containers that do not set
	 * them. */
	enum tri limit_defaults;
	enum device_injection injection;
	/* Minor versions of Kubernetes 1 and Karpenter 1, or 0 if unknown. */
	int kubernetes, karpenter;
	/* Versions of operators, such as "0.17" or "v1.4.0", or NULL if
	 * unknown. */
	const char *operators[OPERATORS];
};

/*
 * True if the object names a managed platform (such as GKE, EKS, AKS or
 * Karpenter), by its selectors or by an annotation. These platforms add
 * tolerations or leave their nodes untainted by default. All roles of an object
 * run on one platform; an unknown value (`${X}`) may name any platform.
 */
bool object_shows_platform(const struct object *object);

/* Returns the mechanism, derived from the DaemonSets of NVIDIA's device plugin
 * or the GPU Operator's ClusterPolicy in the snapshot. cluster may be NULL. */
enum device_injection cluster_injection(const struct cluster *cluster,
					struct arena *arena);

/* Returns the minor version of Karpenter 1 in the snapshot; 0 if unknown.
 * cluster may be NULL. */
int cluster_karpenter(const struct cluster *cluster, struct arena *arena);

/* Returns the version of the operator in the snapshot ("v0.17.1"), as its image
 * shows it; NULL if unknown. cluster may be NULL. */
const char *cluster_operator(const struct cluster *cluster,
			     enum operator_name name, struct arena *arena);

/*
 * Returns whether the container's runtime reads NVIDIA_VISIBLE_DEVICES. An
 * nvidia runtime named by the pod does. The default runtime does not if devices
 * are injected by CDI (GPU Operator from 25.10 on). If devices are passed as
 * volume mounts, the mounts have precedence; without mounts, the variable
 * counts in privileged containers, and in other containers if the toolkit
 * accepts it.
 */
enum tri container_obeys_variable(const struct container *c,
				  enum device_injection injection);

#endif
