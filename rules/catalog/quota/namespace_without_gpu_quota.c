/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports namespaces with GPU workloads and without a quota on accelerators.
 * Without a snapshot, the rule needs quotas in the input: any quota of the
 * namespace, or one on accelerators in another namespace. Skips workloads in a
 * queue (Kueue, Volcano, KAI), which limits them too.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/claim.h"
#include "kube/quota/quota.h"

/* True if the quota has no scopes and limits devices of a class, which may be
 * GPUs. */
static bool limits_class(const struct quota *quota)
{
	for (size_t i = 0; i < quota->nhard && !quota->nscopes; i++)
		if (text_ends(quota->hard[i].resource, CLASS_DEVICES))
			return true;
	return false;
}

static bool has_gpu_quota(struct rule_run *run, const struct quota *quotas,
			  size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (quota_has_accelerator(rule_accelerators(run), &quotas[i]) ||
		    limits_class(&quotas[i]))
			return true;
	return false;
}

/* Returns whether another namespace of the input has a GPU quota; unknown if
 * such a quota has no namespace. */
static enum tri others_have(struct rule_run *run, const struct workload *w)
{
	const struct object_index *index = rule_index(run);
	enum tri found = TRI_NO;

	for (size_t i = 0; i < index->nquotas; i++) {
		const struct quota *quota = &index->quotas[i];

		if (quota->set != index_set_of(index, w) ||
		    !has_gpu_quota(run, quota, 1))
			continue;
		if (!*quota->id.namespace)
			return TRI_UNKNOWN;
		found = TRI_YES;
	}
	return found;
}

static void check(struct rule_run *run, const struct workload *w)
{
	const struct object_index *index = rule_index(run);
	const struct quota *quotas;
	enum tri others = TRI_NO;
	size_t n, own = 0;

	if (w->child || w->kueue || w->queue)
		return;
	if (rule_cluster_lacks(run, CLUSTER_QUOTA))
		return;
	if (*w->id.namespace)
		index_own_quotas(index, w, &own);
	if (!rule_cluster(run))
		others = others_have(run, w);
	if (!rule_cluster(run) &&
	    ((!own && others == TRI_NO) || rule_set_is_partial(run))) {
		rule_not_run(run, rule_without_cluster(run));
		return;
	}
	if (!*w->id.namespace || others == TRI_UNKNOWN) {
		rule_not_run(run, "the namespace is unknown");
		return;
	}
	if (rule_cluster(run) &&
	    !cluster_namespace(rule_cluster(run), w->id.namespace,
			       rule_arena(run))) {
		rule_not_run(
			run,
			"the cluster snapshot does not have the namespace");
		return;
	}
	quotas = index_quotas(index, w, &n);
	if (has_gpu_quota(run, quotas, n))
		return;
	if (rule_cluster(run))
		cluster_absent(rule_cluster(run), CLUSTER_QUOTA,
			       w->id.namespace, NULL);
	report_place(run, &w->id, &w->place,
		     "namespace `%s` of this GPU workload has no GPU quota%s",
		     w->id.namespace,
		     rule_cluster(run) ? ""
		     : own	       ? ": its quotas cover other resources"
				       : ", but other namespaces have one");
}

const struct rule rule_namespace_without_gpu_quota = {
	.name = "namespace-without-gpu-quota",
	.category = "quota",
	.severity = SEVERITY_INFO,
	.needs = NEEDS_SET,
	.flags = RULE_ABSENCE,
	.summary = "a namespace with GPU workloads has no GPU quota",
	.why = "One team can take every GPU of the cluster.",
	.remedy =
		"Add a ResourceQuota with requests.<resource>, or submit the workload to a queue.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/quota/v1/evaluator/core",
	.check_workload = check,
};
