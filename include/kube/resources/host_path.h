/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path of the host that a mount exposes: the volume's path and the mount's
 * subPath together, without redundant slashes, dots and links (/var/run is /run
 * on every host that runs a kubelet).
 */
#ifndef KUBE_HOST_PATH_H
#define KUBE_HOST_PATH_H

#include "base/arena.h"
#include "kube/object.h"

struct host_path {
	const char *path;	 /* on the host; NULL: not a hostPath volume */
	const char *at;		 /* in the container */
	const char *volume;	 /* its name */
	const struct node *node; /* hostPath.path */
};
/*
 * Returns its volumeMounts; NULL if none of its possible volumes has a
 * hostPath.
 */
const struct node *container_host_mounts(const struct container *c);
struct host_path mount_host_path(struct arena *arena, const struct container *c,
				 const struct node *mount);

/* "/a//b/./c/../d/" becomes "/a/b/d". */
const char *host_path_clean(struct arena *arena, const char *path);

enum host_shows {
	HOST_SHOWS_NOTHING,
	HOST_SHOWS_DEVICE,
	HOST_SHOWS_SHARE,	/* the socket of a sharing daemon (MPS) */
	HOST_SHOWS_FABRIC,	/* RDMA: a network, not an accelerator */
	HOST_SHOWS_ALL_DEVICES, /* /dev, which may contain accelerators */
	HOST_SHOWS_EVERYTHING,	/* / */
};
/* Returns the accelerators of the host that a mount exposes. */
enum host_shows host_path_shows(const struct host_path *shown);
/* True if path is the folder or below it. Both are clean. */
bool host_path_is_within(const char *path, const char *folder);

#endif
