/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports containers with IPC_LOCK that do not run as root. Kubernetes adds
 * capabilities to the bounding set; a process that is not root has only those
 * that its program file has (capabilities(7)).
 */
#include "engine/rule.h"

static const struct node *ipc_lock(const struct container *c)
{
	const struct node *add =
		node_path(c->node, "securityContext.capabilities.add");

	FOR_EACH_CHILD(add, name)
		if (node_eq(name, "IPC_LOCK") || node_eq(name, "CAP_IPC_LOCK"))
			return name;
	return NULL;
}

static bool is_not_root(const struct container *c)
{
	int64_t user;

	if (node_int(container_security(c, "runAsUser"), &user))
		return user != 0;
	return node_is_true(container_security(c, "runAsNonRoot"));
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		const struct node *at = ipc_lock(c);

		if (at && c->gpus.n > 0 && is_not_root(c) &&
		    !node_is_true(container_security(c, "privileged")))
			report_container(
				run, c, at,
				"container `%s` does not run as root: unless its program file has the capability, IPC_LOCK has no effect",
				container_title(c));
	}
}

const struct rule rule_ipc_lock_nonroot_ineffective = {
	.name = "ipc-lock-nonroot-ineffective",
	.category = "network",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW,
	.summary = "IPC_LOCK is added to a container that does not run as root",
	.why = "For a user other than root, an added capability takes effect only if the program file has it (setcap). Otherwise, if the runtime limits locked memory, RDMA falls back to TCP although the manifest looks right.",
	.remedy =
		"Run the container as root, or raise the memlock limit of the container runtime (LimitMEMLOCK).",
	.evidence =
		"https://github.com/NVIDIA/nvidia-container-toolkit/issues/2037; capabilities(7): no ambient set in Kubernetes",
	.check_pod = check,
};
