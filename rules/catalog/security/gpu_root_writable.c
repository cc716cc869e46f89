/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports GPU containers that run as root. Without runAsUser, the image
 * decides, and is unknown here. In a user namespace, root is an unprivileged
 * user on the node, which the Pod Security Standards allow.
 */
#include "engine/rule.h"
#include "kube/object.h"

/* True if the container is privileged or adds capabilities: they have an effect
 * only for root, so that root is intended. */
static bool needs_root(const struct container *c)
{
	const struct node *own = node_get(c->node, "securityContext");

	return node_count(node_path(own, "capabilities.add")) ||
	       node_is_true(node_get(own, "privileged"));
}

static bool has_own_users(const struct pod *pod)
{
	const struct node *host = pod_field(pod, "hostUsers");

	return !node_is_unset(host) && !node_is_true(host);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		const struct node *user = container_security(c, "runAsUser");
		int64_t id;

		if (c->gpus.n > 0 && node_int(user, &id) && !id &&
		    !needs_root(c) && !has_own_users(pod))
			report_container(run, c, user,
					 "container `%s` runs as root",
					 container_title(c));
	}
}

const struct rule rule_gpu_root_writable = {
	.name = "gpu-root-writable",
	.category = "security",
	.severity = SEVERITY_INFO,
	.flags = RULE_PREVIEW,
	.summary = "a GPU container runs as root",
	.why = "A vulnerability in the model server or its libraries gives root privileges in the container.",
	.remedy =
		"Set runAsNonRoot: true and a runAsUser that the image supports.",
	.evidence =
		"https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted",
	.check_pod = check,
};
