/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hostPath of /dev/shm is the node's own tmpfs. It is memory, and large (half
 * of the node's by default), but it is shared: whatever mounts it reads and
 * fills the same files, they outlive the pod, and Pod Security's baseline level
 * forbids hostPath.
 *
 * Source: tmpfs(5) (size=50%); Pod Security Standards, baseline: HostPath
 * Volumes.
 */
#include "engine/rule.h"
#include "kube/resources/shm.h"

static void check(struct rule_run *run, const struct pod *pod)
{
	if (pod->flat || pod_uses_gpu(pod) != TRI_YES)
		return;
	FOR_EACH_CONTAINER(pod, c) {
		struct shm shm = container_shm(c);
		struct finding *f;

		if (c->role == CONTAINER_INIT || shm.unknown ||
		    !shm_is_of_host(&shm))
			continue;
		f = report_container(
			run, c, node_get(shm.volume, "hostPath"),
			"/dev/shm of container `%s` is the node's: every pod that mounts it reads and fills the same memory",
			container_title(c));
		finding_label(run, f, shm.mount, "mounted at /dev/shm");
	}
}

const struct rule rule_shm_hostpath = {
	.name = "shm-hostpath",
	.category = "shm",
	.severity = SEVERITY_WARNING,
	.wants = FACT_GPU | FACT_PODSPEC | FACT_HOST_VOLUME,
	.since = "1.0",
	.summary = "a GPU container has the node's /dev/shm",
	.why = "It is shared with the node and with every pod that does the same, its files stay when the pod is gone, and no limit bounds it but the node's memory.",
	.remedy = "Use emptyDir with medium: Memory and a sizeLimit.",
	.evidence =
		"https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline: HostPath Volumes",
	.check_pod = check,
};
