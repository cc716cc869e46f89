/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path on the host that a mount exposes, and the devices that it shows. The
 * path is that of the volume joined with the mount's subPath, without redundant
 * slashes and dots, and with the link /var/run resolved to /run, as on every
 * host that runs a kubelet.
 */
#ifndef KUBE_HOST_PATH_H
#define KUBE_HOST_PATH_H

#include "base/arena.h"
#include "kube/object.h"

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

#endif
