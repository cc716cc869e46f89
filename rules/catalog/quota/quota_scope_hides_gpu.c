/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports GPU quotas with scopes if the input has a GPU workload in that
 * namespace with pods that no GPU quota counts. A quota counts only the pods
 * that all its scopes select: BestEffort selects pods without cpu and memory,
 * Terminating pods with a deadline. Scopes are not validated for extended
 * resources. Source: pkg/apis/core/validation validateResourceQuotaScopes.
 */
#include "engine/rule.h"
#include "kube/quota/quota.h"

static bool counted(struct rule_run *run, const struct quota *quotas, size_t n,
		    const struct workload_pod *pod)
{
	for (size_t q = 0; q < n; q++)
		if (quota_has_accelerator(rule_accelerators(run), &quotas[q]) &&
		    quota_selects(&quotas[q], pod) != TRI_NO)
			return true;
	return false;
}

/* Returns the first GPU pod that no GPU quota of its namespace selects, or
 * NULL. */
static const struct pod *outside(struct rule_run *run, const struct workload *w,
				 const struct quota *quotas, size_t n)
{
	for (size_t p = 0; p < w->npods; p++)
		if (w->pods[p].gpu && w->pods[p].gpus.n > 0 &&
		    !counted(run, quotas, n, &w->pods[p]))
			return rule_pod(run, w, p);
	return NULL;
}

static void report(struct rule_run *run, const struct quota *quota,
		   const struct workload *w, const struct pod *pod)
{
	struct finding *f;

	if (!quota->nscopes ||
	    !quota_has_accelerator(rule_accelerators(run), quota))
		return;
	f = report_place(
		run, &quota->id, &quota->scopes[0].place,
		quota->nscopes > 1
			? "scope `%s` and the other scopes together exclude GPU pods of %s: this quota does not count them"
			: "scope `%s` excludes GPU pods of %s: this quota does not count them",
		quota->scopes[0].name, rule_title(run, w->id.kind, w->id.name));
	finding_label_place(run, f, rule_place(run, pod->spec), "not selected");
}

static bool has_scopes(const struct object_index *index)
{
	for (size_t q = 0; q < index->nquotas; q++)
		if (index->quotas[q].nscopes)
			return true;
	return false;
}

/* Reports each quota only once, for one workload of its namespace. */
static void check(struct rule_run *run)
{
	const struct object_index *index = rule_index(run);
	bool *reported = ARENA_ARRAY(rule_arena(run), bool, index->nquotas);

	if (!has_scopes(index))
		return;
	FOR_EACH_WORKLOAD(index, w) {
		size_t n, own;
		const struct quota *quotas = index_own_quotas(index, w, &own);
		const struct quota *all = index_quotas(index, w, &n);
		const struct pod *pod;

		if (!own || reported[quotas - index->quotas])
			continue;
		pod = outside(run, w, all, n);
		for (size_t q = 0; pod && q < own; q++)
			report(run, &quotas[q], w, pod);
		reported[quotas - index->quotas] = pod != NULL;
	}
}

const struct rule rule_quota_scope_hides_gpu = {
	.name = "quota-scope-hides-gpu",
	.category = "quota",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_SET,
	.summary = "a GPU quota's scopes exclude GPU pods of the namespace",
	.why = "A quota counts only pods that its scopes select, whatever devices they request: the GPUs of other pods are not limited.",
	.remedy = "Remove the scope, or add a quota for the other pods.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/apis/core/validation validateResourceQuotaScopes; observed accepted on kube-apiserver",
	.check_set = check,
};
