/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /dev/shm of a container: the mount, its volume, and whether the container
 * needs more than the runtime's 64 MiB.
 */
#ifndef KUBE_SHM_H
#define KUBE_SHM_H

#include "kube/object.h"

#define SHM_PATH "/dev/shm"
/* The volume that fixes add. */
#define SHM_VOLUME "gpugate-shm"

struct shm {
	const struct node *mount;     /* volumeMounts entry, or NULL */
	const struct node *volume;    /* volumes entry, or NULL */
	const struct node *empty_dir; /* its emptyDir, or NULL */
	bool memory;		      /* medium: Memory */
	bool unknown;		      /* a placeholder hides it */
	enum quantity_state size_state;
	struct quantity size; /* sizeLimit */
	const struct node *size_node;
};

struct shm container_shm(const struct container *c);
/* True if the operator mounts, or may mount, /dev/shm for this container. */
bool shm_is_injected(const struct container *c);
/*
 * Certainty that the container exchanges data through /dev/shm. Known users are
 * collectives of training on several devices, data loaders with workers, and a
 * server that spreads one model over several devices. An unknown program with
 * several devices possibly does. With one device, training depends on the data
 * loader, which runs in the rank's process by default.
 */
enum shm_needed {
	SHM_NOT_NEEDED,
	SHM_DEPENDS, /* depends on something outside of the manifest */
	SHM_MAY_BE_NEEDED,
	SHM_NEEDED,
};
struct shm_need {
	enum shm_needed is;
	const char *by; /* the program that needs it, or "if ...", for a
			   message; or NULL */
};
struct shm_need container_shm_need(const struct container *c);
/* True if it needs more than the runtime's default of 64 MiB, outside of the
 * host's IPC namespace. */
bool container_lacks_shm(const struct container *c);
/* A Memory emptyDir of the pod whose name suggests shared memory, or NULL. */
const struct node *pod_shm_volume(const struct pod *pod);
/*
 * A size for /dev/shm: half of the memory limit (container_bound()), between
 * 1Gi and 64Gi; without a limit 2Gi for each GPU of the pod, between 2Gi and
 * 16Gi. Returns false if the limit is below 2Gi or unknown, so that a
 * volume is mounted only if the policy requests it.
 */
bool shm_default_size(const struct container *c, struct quantity *size);
/* The smallest such size among this container and those with the volume at
 * /dev/shm. Returns false if one of them has none. */
bool shm_volume_size(const struct container *also, const struct node *volume,
		     struct quantity *size);
/* The smallest such size among the pod's GPU containers, for a new volume.
 * Returns false if one of them has none. */
bool shm_new_size(const struct pod *pod, struct quantity *size);
/* True if the size is below the memory limit of each of these containers. */
bool shm_size_fits(const struct container *also, const struct node *volume,
		   struct quantity size);
/* True if the volume is mounted at /dev/shm only, by containers that run at the
 * same time: nothing else is stored in it. */
bool shm_has_volume_alone(const struct pod *pod, const struct node *volume);
/* Makes a Memory emptyDir, and its mount at /dev/shm. */
struct node *shm_new_volume(struct arena *arena, const char *name,
			    const char *size);
struct node *shm_new_mount(struct arena *arena, const char *name);
/* True for several GPUs in the pod, or several processes per node. */
bool pod_is_multi_gpu(const struct pod *pod);

#endif
