/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports pods on the host network that cannot resolve names of the cluster: by
 * default, the kubelet gives them the resolver of the node. Volcano sets the
 * policy if it is unset (mutate_job.go); MPI Operator v2 always sets it
 * (mpi_job_controller.go newWorker, newLauncherPodTemplate). Pods with name
 * servers in dnsConfig, which are used in addition to the node's, are skipped.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/operators.h"

static bool has_name_servers(const struct pod *pod)
{
	const struct node *list =
		node_get(pod_field(pod, "dnsConfig"), "nameservers");

	return node_is_unknown(list) || node_count(list);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *host = pod_field(pod, "hostNetwork");
	const struct node *policy = pod_field(pod, "dnsPolicy");
	bool unset = node_is_unset(policy);
	struct finding *f;
	struct fix *fix;

	if (!node_is_true(host))
		return;
	if (!unset && !node_eq(policy, "ClusterFirst"))
		return;
	if (has_name_servers(pod) ||
	    (unset && text_eq(pod->object->group, "batch.volcano.sh")) ||
	    object_is_mpi_v2(pod->object))
		return;
	f = report_pod(
		run, pod, unset ? host : policy,
		"dnsPolicy is `ClusterFirst`%s: if pods with hostNetwork look up a Service, they do not find it",
		unset ? " by default" : "");
	fix = finding_fix(run, f, true,
			  "set `dnsPolicy: ClusterFirstWithHostNet`");
	/* With hostNetwork the kubelet treats ClusterFirst as Default. */
	fix_replaces(fix);
	fix_set(fix, pod->spec, "dnsPolicy",
		edit_string(rule_arena(run), "ClusterFirstWithHostNet"));
}

const struct rule rule_hostnetwork_dns_policy = {
	.name = "hostnetwork-dns-policy",
	.category = "network",
	.severity = SEVERITY_INFO,
	.flags = RULE_PREVIEW | RULE_SAFE_PATCH,
	.scope = GPU_PODS | PODSPEC,
	.summary = "GPU pods use hostNetwork with the dnsPolicy ClusterFirst",
	.why = "With hostNetwork, ClusterFirst means the resolver of the node, which does not know the names of Services: the ranks of a job do not find each other by name.",
	.remedy = "Set dnsPolicy: ClusterFirstWithHostNet.",
	.evidence =
		"https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/#pod-s-dns-policy",
	.check_pod = check,
};
