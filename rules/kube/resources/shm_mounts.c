/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other uses of the volume at /dev/shm: files in memory are charged to the
 * container that writes them, so a volume with other files must stay on disk.
 */

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
