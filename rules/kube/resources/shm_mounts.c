/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other uses of the volume at /dev/shm: memory there is charged to the
 * container that writes it, so that a volume with other files must stay on
 * disk.
 */
#include <string.h>

#include "base/text.h"
#include "kube/command/env.h"
#include "kube/resources/shm.h"

bool shm_has_volume_alone(const struct pod *pod, const struct node *volume)
{
	const char *name = node_str(node_get(volume, "name"));

	FOR_EACH_CONTAINER_OF_ALL(pod, c) {
		const struct node *mounts = node_get(c->node, "volumeMounts");
		const struct node *shm = container_shm(c).mount;

		FOR_EACH_CHILD(mounts, mount)
			if (node_eq(node_get(mount, "name"), name) &&
			    (mount != shm || c->role == CONTAINER_INIT))
				return false;
	}
	return true;
}

bool shm_holds_files(const struct pod *pod)
{
	FOR_EACH_CONTAINER_OF_ALL(pod, c)
		if (container_says(c, SHM_PATH))
			return true;
	return false;
}

/* True if a mount may show the folder of the volume that /dev/shm is. */
static bool overlaps(const struct node *mount, const char *folder)
{
	const struct node *path = node_get(mount, "subPath");

	if (!node_is_unset(node_get(mount, "subPathExpr")) ||
	    node_is_unknown(path))
		return true;
	return node_str(path) && text_starts(node_str(path), folder);
}

bool shm_shares_files(const struct pod *pod, const struct shm *shm)
{
	const char *name = node_str(node_get(shm->volume, "name"));
	const char *own = node_str(node_get(shm->mount, "subPath"));

	if (!own || strpbrk(own, "/$") || shm_holds_files(pod))
		return true;
	FOR_EACH_CONTAINER_OF_ALL(pod, c)
		FOR_EACH_CHILD(node_get(c->node, "volumeMounts"), mount)
			if (mount != shm->mount &&
			    node_eq(node_get(mount, "name"), name) &&
			    overlaps(mount, own))
				return true;
	return false;
}
