/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Volumes of pods: shared memory, host paths, and volumes that a list of
 * volumes does not have.
 */
#ifndef KUBE_RESOURCES_VOLUME_H
#define KUBE_RESOURCES_VOLUME_H

#include "base/arena.h"
#include "kube/object.h"

/*
 * /dev/shm of a container: the mount, its volume, and whether the container
 * needs more than the runtime's 64 MiB.
 */

#define SHM_PATH "/dev/shm"
/* Name of the volume that fixes add. */
#define SHM_VOLUME "gpugate-shm"

struct shm {
	const struct node *mount;     /* volumeMounts entry, or NULL */
	const struct node *volume;    /* volumes entry, or NULL */
	const struct node *empty_dir; /* the volume's emptyDir, or NULL */
	bool memory;		      /* medium: Memory */
	/* a placeholder hides the mount or its volume */
	bool unknown;
	enum quantity_state size_state;
	struct quantity size; /* sizeLimit */
	const struct node *size_node;
};

struct shm container_shm(const struct container *c);
/* True if the operator mounts, or may mount, /dev/shm for this container. */
bool shm_is_injected(const struct container *c);
/*
 * Certainty that the container exchanges data through /dev/shm. Programs known
 * to do so are collectives of training on several devices, data loaders with
 * workers, and a server that spreads one model over several devices. An unknown
 * program with several devices may do so. With one device, training depends on
 * the data loader, which runs in the rank's process by default.
 */
enum shm_needed {
	SHM_NOT_NEEDED,
	SHM_DEPENDS, /* depends on something outside of the manifest */
	SHM_MAY_BE_NEEDED,
	SHM_NEEDED,
};
struct shm_need {
	enum shm_needed is;
	/* clause for a message ("NCCL exchanges data through it"), or NULL */
	const char *by;
};
struct shm_need container_shm_need(const struct container *c);
/* True if a GPU container, other than an init container, needs or may need more
 * than the runtime's default of 64 MiB, and certainly nothing provides it: no
 * mount, operator or annotation of CRI-O. The host's IPC namespace is not
 * considered. */
bool container_lacks_shm(const struct container *c);
/* Returns a Memory emptyDir of the pod whose name suggests shared memory, or
 * NULL. */
const struct node *pod_shm_volume(const struct pod *pod);
/*
 * Computes a size for /dev/shm. It is half of the memory limit
 * (container_bound()), between 1Gi and 64Gi. Without a limit, it is 2Gi for
 * each GPU of the pod, between 2Gi and 16Gi. Returns false if the limit is
 * below 2Gi or unknown. The volume is then added only if the policy sets its
 * size.
 */
bool shm_default_size(const struct container *c, struct quantity *size);
/* Computes the smallest shm_default_size() of this container and of those that
 * mount the volume at /dev/shm. Returns false if one of them has no such
 * size. */
bool shm_volume_size(const struct container *also, const struct node *volume,
		     struct quantity *size);
/* Computes the smallest shm_default_size() of the pod's GPU containers, for a
 * new volume. Returns false if one of them has no such size. */
bool shm_new_size(const struct pod *pod, struct quantity *size);
/* True if the size is below the memory limit of this container and of those
 * that mount the volume. False if a limit is unknown. */
bool shm_size_fits(const struct container *also, const struct node *volume,
		   struct quantity size);
/* True if all mounts of the volume are at /dev/shm, in containers that run at
 * the same time, so that the volume contains nothing else. */
bool shm_has_volume_alone(const struct pod *pod, const struct node *volume);
/* Return a new Memory emptyDir volume, and a new mount of it at /dev/shm. */
struct node *shm_new_volume(struct arena *arena, const char *name,
			    const char *size);
struct node *shm_new_mount(struct arena *arena, const char *name);

/*
 * The path on the host that a mount exposes, and the devices that it shows. The
 * path is that of the volume joined with the mount's subPath, without redundant
 * slashes and dots, and with the link /var/run resolved to /run, as on every
 * host that runs a kubelet.
 */

struct host_path {
	/* on the host, or NULL (not a hostPath volume) */
	const char *path;
	const char *at;		 /* in the container */
	const char *volume;	 /* name of the volume */
	const struct node *node; /* hostPath.path */
};
/*
 * Returns the container's volumeMounts; NULL if the pod certainly lacks
 * hostPath volumes.
 */
const struct node *container_host_mounts(const struct container *c);
struct host_path mount_host_path(struct arena *arena, const struct container *c,
				 const struct node *mount);

/* Cleans a path ("/a//b/./c/../d/" gives "/a/b/d") and resolves the links
 * /var/run, /proc/PID/root and /proc/PID/cwd. */
const char *host_path_clean(struct arena *arena, const char *path);

enum host_shows {
	HOST_SHOWS_NOTHING,
	HOST_SHOWS_DEVICE,
	/* a folder whose files define devices for the kubelet or a runtime */
	HOST_SHOWS_DEFINITIONS,
	/* the socket of a daemon that shares GPUs (MPS) */
	HOST_SHOWS_SHARE,
	HOST_SHOWS_FABRIC,	/* RDMA devices: a network, no accelerator */
	HOST_SHOWS_ALL_DEVICES, /* /dev, which may contain accelerators */
	HOST_SHOWS_EVERYTHING,	/* the root folder */
};
/* Returns which accelerators of the host a mount exposes. */
enum host_shows host_path_shows(const struct host_path *shown);
/* True if path is the folder or below it. Both are clean. */
bool host_path_is_within(const char *path, const char *folder);

/* Volumes that a pod gets although its own list does not have them. */

/* True if fields of the object outside the pod define a volume or a claim of
 * that name, or if the operator may add it. */
bool pod_has_other_volume(const struct pod *pod, const char *name);

#endif
