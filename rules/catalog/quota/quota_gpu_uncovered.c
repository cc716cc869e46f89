/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports workloads that request an accelerator that no quota of their
 * namespace limits, although quotas limit others. Each extended resource is
 * counted separately: a quota on nvidia.com/gpu does not count
 * nvidia.com/mig-1g.10gb or nvidia.com/gpu.shared. A share of devices that are
 * counted (HAMi's gpumem with nvidia.com/gpu) is skipped. Source:
 * pkg/quota/v1/evaluator/core/pods.go podComputeUsageHelper.
 */
#include "base/text.h"
#include "engine/rule.h"
#include "kube/quota/quota.h"

/* Returns a quota of the namespace that limits some accelerator, or NULL. Sets
 * *covered if a quota lists this resource. */
static const struct quota *find_quota(struct rule_run *run,
				      const struct workload *w,
				      const char *resource, bool *covered)
{
	const struct quota *other = NULL, *quotas;
	size_t n;

	*covered = false;
	quotas = index_quotas(rule_index(run), w, &n);
	for (size_t i = 0; i < n; i++) {
		if (quota_hard_requests(&quotas[i], resource))
			*covered = true;
		if (quota_has_accelerator(rule_accelerators(run), &quotas[i]))
			other = &quotas[i];
	}
	return other;
}

/* True if the resource is memory or cores of devices whose number a quota
 * limits. */
static bool is_part(struct rule_run *run, const struct workload *w,
		    const struct workload_pod *pod,
		    const struct accelerator *share)
{
	bool covered = false;

	if (accelerator_counts(share))
		return false;
	for (size_t d = 0; d < pod->ndemand && !covered; d++) {
		const struct accelerator *a = accelerator_find(
			rule_accelerators(run), pod->demand[d].resource);

		if (accelerator_counts(a) && text_eq(a->vendor, share->vendor))
			find_quota(run, w, pod->demand[d].resource, &covered);
	}
	return covered;
}

static void check_pod(struct rule_run *run, const struct workload *w, size_t i)
{
	const struct workload_pod *facts = &w->pods[i];

	for (size_t d = 0; d < facts->ndemand; d++) {
		const char *resource = facts->demand[d].resource;
		const struct accelerator *a =
			accelerator_find(rule_accelerators(run), resource);
		const struct quota *quota;
		const struct pod *pod;
		struct finding *f;
		bool covered;

		if (!a || facts->demand[d].quantity.nano == 0)
			continue;
		quota = find_quota(run, w, resource, &covered);
		if (!quota || covered || is_part(run, w, facts, a))
			continue;
		pod = rule_pod(run, w, i);
		if (!pod)
			return;
		f = report_place(
			run, &w->id, rule_place(run, pod->spec),
			"no quota in namespace `%s` lists `%s`: requests for it are not limited",
			w->id.namespace, resource);
		finding_label_place(run, f, &quota->place,
				    "limits other accelerators");
		finding_cause(run, f, resource);
	}
}

static void check(struct rule_run *run, const struct workload *w)
{
	for (size_t i = 0; i < w->npods; i++)
		check_pod(run, w, i);
}

const struct rule rule_quota_gpu_uncovered = {
	.name = "quota-gpu-uncovered",
	.category = "quota",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_SET,
	.summary =
		"a workload requests an accelerator that no quota in the namespace lists",
	.why = "Each resource name is counted separately, so MIG slices and shared GPUs bypass a quota on nvidia.com/gpu.",
	.remedy = "Add requests.<resource> for that resource to the quota.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/quota/v1/evaluator/core/pods.go",
	.check_workload = check,
};
