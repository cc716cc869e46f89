/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports memory volumes that no container mounts. shm-volume-unmounted reports
 * a volume named like shared memory. Skips pods with a container that is merged
 * with one of another object, which may mount the volume (KServe's presets
 * mount `dshm`).
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"

static bool is_mounted(const struct pod *pod, const char *name)
{
	FOR_EACH_CONTAINER_OF_ALL(pod, c) {
		const struct node *mounts = node_get(c->node, "volumeMounts");

		if (node_is_unknown(mounts) || container_is_merged(c))
			return true;
		FOR_EACH_CHILD(mounts, mount)
			if (node_is_unknown(mount) ||
			    node_is_unknown(node_get(mount, "name")) ||
			    node_eq(node_get(mount, "name"), name))
				return true;
	}
	return false;
}

static void check(struct rule_run *run, const struct pod *pod)
{
	if (pod->object->fragment)
		return;
	FOR_EACH_CHILD(pod_field(pod, "volumes"), volume) {
		const struct node *name = node_get(volume, "name");

		/* GKE's own containers mount these volumes. */
		if (!node_str(name) ||
		    text_starts(node_str(name), "gke-gcsfuse-") ||
		    !node_eq(node_get(node_get(volume, "emptyDir"), "medium"),
			     "Memory") ||
		    is_mounted(pod, node_str(name)))
			continue;
		report_pod(run, pod, name,
			   "no container mounts the memory volume `%s`",
			   node_str(name));
	}
}

static const char *const yields_to[] = {"shm-volume-unmounted", NULL};

const struct rule rule_shm_volume_unused = {
	.name = "shm-volume-unused",
	.category = "shm",
	.severity = SEVERITY_WARNING,
	.scope = GPU_PODS | PODSPEC,
	.summary = "a memory volume that no container mounts",
	.why = "The volume has no effect: if it was meant for /dev/shm, the container still has the runtime's 64 MiB there.",
	.remedy = "Mount the volume where it is needed, or remove it.",
	.evidence =
		"https://kubernetes.io/docs/concepts/storage/volumes/#emptydir",
	.yields_to = yields_to,
	.check_pod = check,
};
