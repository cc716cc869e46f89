/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports containers that do not set cpu or memory although a quota limits
 * them. Such a quota requires the value in every container, including init
 * containers; otherwise the pod is forbidden ("must specify limits.cpu for:
 * ..."), and the owner has 0 pods. A LimitRange's default sets the value before
 * the quota is checked. Source: pkg/quota/v1/evaluator/core/pods.go
 * enforcePodContainerConstraints.
 */
#include <string.h>

#include "base/array.h"
#include "engine/rule.h"
#include "kube/quota/quota.h"

/* Returns the entry of `hard` with that key, or NULL. */
static const struct resource_amount *quota_hard(const struct quota *quota,
						const char *key)
{
	for (size_t i = 0; i < quota->nhard; i++)
		if (!strcmp(quota->hard[i].resource, key))
			return &quota->hard[i];
	return NULL;
}

struct demanded {
	const char *key;      /* key in spec.hard */
	const char *resource; /* resource in the container */
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

/* True if a LimitRange of the namespace sets the value by default. A default
 * limit also sets the request. */
static bool defaulted(const struct object_index *index,
		      const struct workload *w, const struct demanded *key)
{
	size_t n;
	const struct limit_range *ranges = index_limit_ranges(index, w, &n);

	for (size_t i = 0; i < n; i++) {
		const struct limit_range *r = &ranges[i];

		if (listed(r->defaults, r->ndefaults, key->resource) ||
		    (!key->limit &&
		     listed(r->default_requests, r->ndefault_requests,
			    key->resource)))
			return true;
	}
	return false;
}

/* True if the container sets the value. Requests default to limits, and a value
 * of the pod counts for its containers. */
static bool sets(const struct container *c, const struct demanded *key)
{
	const struct node *level = pod_field(c->pod, "resources");
	struct quantity q;

	if (container_limit(c, key->resource, &q) != QUANTITY_ABSENT ||
	    node_get(node_get(level, "limits"), key->resource))
		return true;
	return !key->limit &&
	       (container_request(c, key->resource, &q) != QUANTITY_ABSENT ||
		node_get(node_get(level, "requests"), key->resource));
}

/* Returns the first container that does not set the value, or NULL. */
static const struct container *find_gap(const struct pod *pod,
					const struct demanded *key)
{
	if (pod && !pod->flat)
		FOR_EACH_CONTAINER(pod, c)
			if (!sets(c, key))
				return c;
	return NULL;
}

static void check_pod(struct rule_run *run, const struct workload *w, size_t i,
		      const struct quota *quota)
{
	for (size_t k = 0; k < ARRAY_SIZE(keys); k++) {
		const struct resource_amount *hard =
			quota_hard(quota, keys[k].key);
		const struct container *gap;
		const struct node *name;
		struct finding *f;

		if (!hard || defaulted(rule_index(run), w, &keys[k]))
			continue;
		gap = find_gap(rule_pod(run, w, i), &keys[k]);
		if (!gap)
			continue;
		name = node_get(gap->node, "name");
		f = report_place(
			run, &w->id, rule_place(run, name ? name : gap->node),
			"container `%s` sets no %s %s, but %s forbids pods without it",
			text_or_empty(gap->name), keys[k].resource,
			keys[k].limit ? "limit" : "request",
			rule_title(run, "quota", quota->id.name));
		finding_label_place(run, f, &hard->place, "`%s` is counted",
				    keys[k].key);
		finding_cause(run, f, keys[k].key);
	}
}

static void check(struct rule_run *run, const struct workload *w)
{
	size_t n;
	const struct quota *quotas = index_quotas(rule_index(run), w, &n);

	for (size_t q = 0; q < n && !w->fragment; q++)
		for (size_t p = 0; p < w->npods; p++)
			if (quota_selects(&quotas[q], &w->pods[p]) == TRI_YES)
				check_pod(run, w, p, &quotas[q]);
}

const struct rule rule_quota_missing_cpu_memory = {
	.name = "quota-missing-cpu-memory",
	.category = "quota",
	.severity = SEVERITY_ERROR,
	.needs = NEEDS_SET,
	.flags = RULE_ABSENCE,
	.summary =
		"a quota requires cpu or memory values that a container does not set",
	.why = "The quota forbids Pods without these values: a workload is accepted, but stays at 0 pods.",
	.remedy =
		"Set the value in every container, init containers too, or give the namespace a LimitRange default.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/quota/v1/evaluator/core/pods.go enforcePodContainerConstraints",
	.check_workload = check,
};
