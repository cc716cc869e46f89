/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that no rank may reach, or that may reach none. Policies add up:
 * without the cluster's, one that is not visible may still allow it.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/set/network_policy.h"

static bool has_ranks(const struct workload *w)
{
	struct amount pods = {0};

	for (size_t i = 0; i < w->npods; i++)
		pods = amount_add(pods, w->pods[i].steady);
	/* Kueue and parallelism alone make no ranks: trials of a sweep. Volcano
	 * makes a policy itself that lets them (plugins/svc/svc.go). */
	if (w->class != KIND_TRAINING &&
	    (w->gang_kind == GANG_NONE || w->kueue))
		return false;
	return w->training && !w->child && pods.n > 1 &&
	       !text_starts(w->id.api_version, "batch.volcano.sh/");
}

/* True if the cluster's policies are known, too. */
static bool knows_all(struct rule_run *run, const struct workload *w)
{
	const struct cluster *cluster = rule_cluster(run);

	return cluster && *w->id.namespace &&
	       cluster_count(cluster, CLUSTER_NETWORK_POLICY);
}

static void check(struct rule_run *run, const struct workload *w)
{
	struct isolation alone;
	struct finding *f;
	bool in;

	if (!has_ranks(w) || rule_cluster_lacks(run, CLUSTER_NETWORK_POLICY) ||
	    (!index_keeps(rule_index(run), CLUSTER_NETWORK_POLICY) &&
	     rule_cluster_lost(run)) ||
	    !workload_isolated(rule_index(run), w, rule_arena(run), &alone))
		return;
	in = *alone.type == 'I';
	f = report_place(
		run, &w->id, &alone.pods->place,
		knows_all(run, w)
			? "NetworkPolicy `%s` blocks %s: unless a policy of another kind allows it, the ranks of %s never meet"
			: "NetworkPolicy `%s` blocks %s: unless another policy allows it, the ranks of %s never meet",
		alone.policy->name,
		in ? "traffic from other ranks to these pods"
		   : "traffic from these pods to other ranks",
		rule_title(run, w->id.kind, w->id.name));
	finding_cause(run, f, alone.type);
	finding_label_place(run, f, &alone.policy->place, "the policy");
	if (!knows_all(run, w))
		finding_severity(f, SEVERITY_INFO);
}

const struct rule rule_networkpolicy_blocks_rendezvous = {
	.name = "networkpolicy-blocks-rendezvous",
	.category = "network",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_SET,
	.flags = RULE_PREVIEW,
	.since = "1.0",
	.summary =
		"network policies block traffic between the ranks of a training job",
	.why = "The ranks never meet: they hold their GPUs until the rendezvous times out.",
	.remedy =
		"Add a NetworkPolicy that allows traffic between the pods of the job (a podSelector with the job's label, in ingress and egress).",
	.evidence =
		"https://kubernetes.io/docs/concepts/services-networking/network-policies/",
	.check_workload = check,
};
