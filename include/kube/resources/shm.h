/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /dev/shm of a container: the mount, its volume, and whether the container is
 * one that needs more than the runtime's 64 MiB.
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
/* The operator mounts /dev/shm for this container by itself, or may do. */
bool shm_is_injected(const struct container *c);
/*
 * Certainty that the container exchanges data through /dev/shm. Known users are
 * collectives of training on several devices, data loaders with workers, and a
 * server that spreads one model over several devices. An unknown program with
 * several devices may. With one device, training depends on the data loader,
 * which by default runs in the process of the rank.
 */
enum shm_needed {
	SHM_NOT_NEEDED,
	SHM_DEPENDS, /* on what the manifest does not say */
	SHM_MAY_BE_NEEDED,
	SHM_NEEDED,
};
struct shm_need {
	enum shm_needed is;
	const char *by; /* program that needs it, or "if ...", for a message; or
			   NULL */
};
struct shm_need container_shm_need(const struct container *c);
/* True if it needs more than the 64 MiB that the runtime gives it, outside of
 * the host's IPC namespace. */
bool container_lacks_shm(const struct container *c);
/* A Memory emptyDir of the pod that is named like shared memory, or NULL. */
const struct node *pod_shm_volume(const struct pod *pod);
/*
 * A size for /dev/shm: half of the memory limit (container_bound()) between 1Gi
 * and 64Gi; without a limit 2Gi a GPU of the pod between 2Gi and 16Gi. false:
 * the limit is below 2Gi, or unknown, and nothing should be mounted without
 * asking.
 */
bool shm_default_size(const struct container *c, struct quantity *size);
/* The smallest of these among the containers that have the volume at /dev/shm
 * and this one. false: one of them has none. */
bool shm_volume_size(const struct container *also, const struct node *volume,
		     struct quantity *size);
/* The smallest of these among the pod's GPU containers, for a new volume.
 * false: one of them has none. */
bool shm_new_size(const struct pod *pod, struct quantity *size);
/* True if the size is below the memory limit of each of these containers. */
bool shm_size_fits(const struct container *also, const struct node *volume,
		   struct quantity size);
/* True if the volume is mounted at /dev/shm only, by containers that run at the
 * same time: nothing else is stored in it. */
bool shm_has_volume_alone(const struct pod *pod, const struct node *volume);
/* True if a command or variable names /dev/shm: its files may be more than
 * shared memory (a model). */
bool shm_holds_files(const struct pod *pod);
/* A Memory emptyDir, and its mount at /dev/shm. */
struct node *shm_new_volume(struct arena *arena, const char *name,
			    const char *size);
struct node *shm_new_mount(struct arena *arena, const char *name);
/* Several GPUs in the pod, or several processes a node. */
bool pod_is_multi_gpu(const struct pod *pod);

#endif
