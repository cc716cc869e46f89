/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A quota that names cpu or memory makes every container, init containers
 * too, declare it; a pod with one that does not is forbidden: "must specify
 * limits.cpu for: ...". The owner then shows 0 pods. A LimitRange's default
 * fills the value in before the quota looks.
 * Source: pkg/quota/v1/evaluator/core/pods.go enforcePodContainerConstraints.
 */
#include <string.h>

#include "engine/rule.h"
#include "kube/quota.h"

struct demanded {
	const char *key;      /* in spec.hard */
	const char *resource; /* in the container */
	bool limit;
};

static const struct demanded keys[] = {
	{"cpu", "cpu", false},
	{"requests.cpu", "cpu", false},
	{"limits.cpu", "cpu", true},
	{"memory", "memory", false},
	{"requests.memory", "memory", false},
	{"limits.memory", "memory", true},
};

static bool listed(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* A LimitRange of the namespace supplies it (default feeds requests too). */
static bool defaulted(const struct fact_set *facts, const char *namespace,
		      const struct demanded *key)
{
	for (size_t i = 0; i < facts->nlimit_ranges; i++) {
		const struct limit_range *r = &facts->limit_ranges[i];

		if (strcmp(r->id.namespace, namespace))
			continue;
		if (listed(r->defaults, r->ndefaults, key->resource) ||
		    (!key->limit &&
		     listed(r->default_requests, r->ndefault_requests,
			    key->resource)))
			return true;
	}
	return false;
}

static const struct missing *missing_of(const struct workload_pod *pod,
					const struct demanded *key)
{
	if (!strcmp(key->resource, "cpu"))
		return key->limit ? &pod->missing_cpu_limit
				  : &pod->missing_cpu_request;
	return key->limit ? &pod->missing_memory_limit
			  : &pod->missing_memory_request;
}

static void check_pod(struct rule_run *run, const struct workload *w,
		      const struct workload_pod *pod, const struct quota *quota)
{
	for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++) {
		const struct resource_amount *hard =
			quota_hard(quota, keys[k].key);
		const struct missing *gap = missing_of(pod, &keys[k]);
		struct finding *f;

		if (!hard || !gap->container ||
		    defaulted(rule_facts(run), w->id.namespace, &keys[k]))
			continue;
		f = report_place(
			run, &w->id, &gap->place,
			"container `%s` sets no %s %s, and quota `%s` forbids pods without it",
			gap->container, keys[k].resource,
			keys[k].limit ? "limit" : "request", quota->id.name);
		finding_label_place(run, f, &hard->place, "`%s` is counted",
				    keys[k].key);
		finding_cause(run, f, keys[k].key);
	}
}

static void check(struct rule_run *run, const struct workload *w)
{
	const struct fact_set *facts = rule_facts(run);

	for (size_t q = 0; q < facts->nquotas; q++)
		for (size_t p = 0; p < w->npods; p++)
			if (quota_in_namespace(&facts->quotas[q],
					       w->id.namespace) &&
			    !w->pods[p].fragment &&
			    quota_selects(&facts->quotas[q], &w->pods[p]) ==
				    TRI_YES)
				check_pod(run, w, &w->pods[p],
					  &facts->quotas[q]);
}

const struct rule rule_quota_missing_cpu_memory = {
	.name = "quota-missing-cpu-memory",
	.category = "quota",
	.severity = SEVERITY_ERROR,
	.action = ACTION_DENY,
	.needs = NEEDS_SET,
	.flags = RULE_ABSENCE,
	.since = "1.0",
	.summary =
		"a quota demands cpu or memory that a container does not set",
	.why = "Its pods are forbidden while the owner is accepted: the workload sits there with 0 pods.",
	.remedy =
		"Set the value in every container, init containers too, or give the namespace a LimitRange default.",
	.evidence =
		"pkg/quota/v1/evaluator/core/pods.go enforcePodContainerConstraints",
	.check_workload = check,
};
