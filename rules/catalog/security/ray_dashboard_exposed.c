/* SPDX-License-Identifier: Apache-2.0 */
/*
 * KubeRay makes the Service and the Ingress of the head as the group says.
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/lifecycle/lifecycle.h"

static const struct node *exposed(const struct node *head)
{
	static const char *const fields[] = {"serviceType",
					     "headService.spec.type", NULL};

	for (const char *const *field = fields; *field; field++) {
		const struct node *type = node_path(head, *field);

		if (node_eq(type, "LoadBalancer") || node_eq(type, "NodePort"))
			return type;
	}
	return node_is_true(node_get(head, "enableIngress"))
		       ? node_get(head, "enableIngress")
		       : NULL;
}

/* Token authentication of Ray 2.52 and later. */
static bool asks_for_token(const struct node *cluster)
{
	return node_eq(node_path(cluster, "authOptions.mode"), "token");
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *head = pod->group;
	const struct node *at = exposed(head);

	if (!text_eq(pod->object->group, "ray.io") ||
	    strcmp(pod->role, "Head") != 0 || !at ||
	    !object_gpu_pod(pod->object) ||
	    (head->parent && asks_for_token(head->parent)))
		return;
	report_pod(run, pod, at,
		   "`%s: %s` leads to the dashboard, which runs jobs for "
		   "whoever reaches it",
		   at->key, node_is_true(at) ? "true" : node_str(at));
}

const struct rule rule_ray_dashboard_exposed = {
	.name = "ray-dashboard-exposed",
	.category = "security",
	.severity = SEVERITY_WARNING,
	.flags = RULE_PREVIEW,
	.wants = FACT_RAY,
	.since = "1.0",
	.summary =
		"the dashboard of a Ray cluster that is reachable from outside",
	.why = "Whoever reaches port 8265 submits jobs, without a password: the cluster's GPUs and secrets are theirs.",
	.remedy =
		"Keep the head's Service inside of the cluster (ClusterIP), and reach the dashboard by kubectl port-forward or a proxy that asks who it is.",
	.evidence =
		"https://docs.ray.io/en/latest/ray-security/index.html; https://nvd.nist.gov/vuln/detail/CVE-2023-48022",
	.check_pod = check,
};
