/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A GPU quota with scopes counts only the pods its scopes select, and scopes
 * are not validated against extended resources: a BestEffort scope sees only
 * pods without cpu and memory, a Terminating one only pods with a deadline.
 * Speaks when GPU workloads of the set in that namespace are outside, and no
 * other quota counts them.
 * Source: pkg/apis/core/validation validateResourceQuotaScopes.
 */
#include "engine/rule.h"
#include "kube/quota.h"

static bool counted(struct rule_run *run, const struct workload *w,
		    const struct workload_pod *pod)
{
	const struct fact_set *facts = rule_facts(run);

	for (size_t q = 0; q < facts->nquotas; q++)
		if (quota_in_namespace(&facts->quotas[q], w->id.namespace) &&
		    quota_has_accelerator(rule_accelerators(run),
					  &facts->quotas[q]) &&
		    quota_selects(&facts->quotas[q], pod) != TRI_NO)
			return true;
	return false;
}

/* A GPU pod of the quota's namespace that no GPU quota selects. */
static const struct workload_pod *outside(struct rule_run *run,
					  const struct quota *quota,
					  const struct workload **owner)
{
	const struct fact_set *facts = rule_facts(run);

	for (size_t i = 0; i < facts->nworkloads; i++) {
		const struct workload *w = &facts->workloads[i];

		if (!quota_in_namespace(quota, w->id.namespace))
			continue;
		*owner = w;
		for (size_t p = 0; p < w->npods; p++)
			if (w->pods[p].gpu && w->pods[p].gpus.n > 0 &&
			    !counted(run, w, &w->pods[p]))
				return &w->pods[p];
	}
	return NULL;
}

static void check(struct rule_run *run)
{
	const struct fact_set *facts = rule_facts(run);

	for (size_t q = 0; q < facts->nquotas; q++) {
		const struct quota *quota = &facts->quotas[q];
		const struct workload_pod *pod;
		const struct workload *w = NULL;
		struct finding *f;

		if (!quota->nscopes ||
		    !quota_has_accelerator(rule_accelerators(run), quota))
			continue;
		pod = outside(run, quota, &w);
		if (!pod)
			continue;
		f = report_place(
			run, &quota->id, &quota->scopes[0].place,
			"scope `%s` leaves out the GPU pods of %s `%s`: this quota does not count them",
			quota->scopes[0].name, w->id.kind, w->id.name);
		finding_label_place(run, f, &pod->place, "not selected");
	}
}

const struct rule rule_quota_scope_hides_gpu = {
	.name = "quota-scope-hides-gpu",
	.category = "quota",
	.severity = SEVERITY_WARNING,
	.action = ACTION_WARN,
	.needs = NEEDS_SET,
	.since = "1.0",
	.summary = "a GPU quota's scopes leave out the namespace's GPU pods",
	.why = "Scopes are not checked against extended resources: the quota stays empty, or is passed by leaving out cpu requests.",
	.remedy = "Drop the scope, or add a quota for the other pods.",
	.evidence =
		"pkg/apis/core/validation validateResourceQuotaScopes; observed accepted on kube-apiserver",
	.check_set = check,
};
