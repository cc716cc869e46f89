/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports hostPath volumes at /dev/shm. The host's /dev/shm is a tmpfs with
 * half of the node's memory by default, but every container that mounts it uses
 * the same files, which outlive the pod, and Pod Security's baseline level
 * forbids hostPath. Any other folder of the node is shared in the same way,
 * unless each pod has a separate part (subPathExpr). Source: tmpfs(5)
 * (size=50%); Pod Security Standards, baseline: HostPath Volumes.
 */
#include "engine/rule.h"
#include "kube/resources/volume.h"

/* True if the volume is the node's /dev/shm (hostPath), or a folder in it. */
static bool shm_is_of_host(const struct shm *shm)
{
	const char *path = node_str(node_path(shm->volume, "hostPath.path"));

	return path && host_path_is_within(path, SHM_PATH);
}

/* Returns the folder of the node that all pods with this volume share, or
 * NULL. */
static const char *shared_folder(const struct shm *shm)
{
	const struct node *path = node_path(shm->volume, "hostPath.path");

	if (node_is_unknown(path) ||
	    (!shm_is_of_host(shm) && node_get(shm->mount, "subPathExpr")))
		return NULL;
	return node_str(path);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		struct shm shm = container_shm(c);
		const char *folder = shared_folder(&shm);
		const struct node *at = node_get(shm.volume, "hostPath");
		struct finding *f;

		if (c->role == CONTAINER_INIT || shm.unknown || !folder)
			continue;
		if (shm_is_of_host(&shm))
			f = report_container(
				run, c, at,
				"container `%s` mounts the node's /dev/shm: every pod that mounts it can read and fill the same memory",
				container_title(c));
		else
			f = report_container(
				run, c, at,
				"container `%s` mounts `%s` of the node at /dev/shm: every pod that mounts it can read and fill the same folder",
				container_title(c), folder);
		finding_label(run, f, shm.mount, "mounted at /dev/shm");
	}
}

const struct rule rule_shm_hostpath = {
	.name = "shm-hostpath",
	.category = "shm",
	.severity = SEVERITY_WARNING,
	.scope = GPU_PODS | PODSPEC,
	.summary = "a GPU container uses a folder of the node as /dev/shm",
	.why = "The folder is shared with the node and with every pod that mounts it, its files stay after the pod is gone, and no limit of the pod applies to it.",
	.remedy = "Use emptyDir with medium: Memory and a sizeLimit.",
	.evidence =
		"https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline: HostPath Volumes",
	.check_pod = check,
};
