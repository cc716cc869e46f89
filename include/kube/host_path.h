/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a mount shows of the host: the volume's path and the mount's subPath
 * together, without the slashes, dots and links that write one place in many
 * ways (/var/run is /run on every host that runs a kubelet).
 */
#ifndef KUBE_HOST_PATH_H
#define KUBE_HOST_PATH_H

#include "base/arena.h"
#include "kube/object.h"

struct host_path {
	const char *path;	 /* on the host; NULL: no hostPath volume */
	const char *at;		 /* in the container */
	const char *volume;	 /* its name */
	const struct node *node; /* hostPath.path */
};
/* Its volumeMounts, NULL when no volume that they can name has a hostPath. */
const struct node *container_host_mounts(const struct container *c);
struct host_path mount_host_path(struct arena *arena, const struct container *c,
				 const struct node *mount);

/* "/a//b/./c/../d/" becomes "/a/b/d". */
const char *host_path_clean(struct arena *arena, const char *path);

#endif
