/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports requests for huge pages that the API server rejects, because the
 * limit, or a request for cpu or memory, is missing, the request differs from
 * the limit, or the amount is not a multiple of the page size. Also reports an
 * emptyDir of huge pages in a pod that requests none.
 *
 * Sources: pkg/apis/core/validation ("HugePages require cpu or memory", "must
 * be equal", "integer multiple"); pkg/volume/emptydir (no request, no mount).
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"

static bool is_huge(const struct node *value)
{
	return text_starts(value->key, "hugepages-") && !node_is_unset(value);
}

static bool has_compute(const struct node *map)
{
	return node_is_unknown(map) || node_get(map, "cpu") ||
	       node_get(map, "memory");
}

static const char *problem(const struct node *value, const struct node *limits,
			   bool in_limits)
{
	const char *size = value->key + sizeof("hugepages");
	const struct node *limit;
	struct quantity q, page, other;

	if (!is_huge(value) || node_quantity(value, &q) != QUANTITY_OK)
		return NULL;
	limit = node_get(limits, value->key);
	if (quantity_parse(size, strlen(size), &page) && page.nano > 0 &&
	    q.nano % page.nano)
		return "not a multiple of the page size";
	if (in_limits || node_is_unknown(limit))
		return NULL;
	other = q; /* another rule reports an invalid limit */
	if (node_quantity(limit, &other) == QUANTITY_ABSENT)
		return "requested without a limit";
	return quantity_cmp(q, other) ? "not equal to its limit" : NULL;
}

static void check_map(struct rule_run *run, const struct container *c,
		      const struct node *map, const struct node *limits)
{
	FOR_EACH_CHILD(map, value) {
		const char *what = problem(value, limits, map == limits);

		if (what)
			report_container(run, c, value, "`%s: %s` is %s",
					 value->key, value->str, what);
	}
}

/* Returns the first amount of huge pages in a map, or NULL. */
static const struct node *first_huge(const struct node *map)
{
	FOR_EACH_CHILD(map, value)
		if (is_huge(value))
			return value;
	return NULL;
}

/* Reports huge pages without cpu and memory. A LimitRange may set these before
 * the API server checks. */
static void report_alone(struct rule_run *run, const struct container *c,
			 const struct node *first)
{
	const struct object *object = c->pod->object;
	enum tri defaults = tri_or(rule_limit_default(run, object, "cpu"),
				   rule_limit_default(run, object, "memory"));
	struct finding *f;

	if (defaults == TRI_YES)
		return;
	f = report_container(
		run, c, first, "`%s` is requested without cpu or memory%s",
		first->key,
		defaults == TRI_NO
			? ": the API server rejects the pod"
			: ": if no LimitRange adds them, the API server rejects the pod");
	if (defaults == TRI_UNKNOWN)
		finding_severity(f, SEVERITY_WARNING);
}

static void check_container(struct rule_run *run, const struct container *c,
			    bool *huge)
{
	const struct node *raw = c->limits;
	const struct node *limits = container_limits(c);
	const struct node *requests = container_requests(c);
	const struct node *first = first_huge(limits);

	first = first ? first : first_huge(requests);
	*huge |= first || node_is_unknown(raw);
	/* An operator may add cpu and memory. */
	if (first && !c->pod->flat && !(c->pod->injects & INJECT_MEMORY) &&
	    !has_compute(raw) && !has_compute(requests))
		report_alone(run, c, first);
	if (!first)
		return;
	check_map(run, c, limits, limits);
	check_map(run, c, requests, limits);
}

static void check(struct rule_run *run, const struct pod *pod)
{
	bool huge = node_get(pod->spec, "resources") != NULL;

	FOR_EACH_CONTAINER(pod, c)
		check_container(run, c, &huge);
	if (huge || pod->flat || pod->object->fragment)
		return;
	FOR_EACH_CHILD(pod_field(pod, "volumes"), volume) {
		const struct node *from = node_get(volume, "emptyDir");
		const struct node *medium = node_get(from, "medium");

		if (text_starts(node_str(medium), "HugePages"))
			report_pod(
				run, pod, medium,
				"the pod has a volume of huge pages but requests none: the volume cannot be mounted");
	}
}

const struct rule rule_gpu_hugepages_incomplete = {
	.name = "gpu-hugepages-incomplete",
	.category = "resources",
	.severity = SEVERITY_ERROR,
	.flags = RULE_INFRASTRUCTURE,
	.scope = PODSPEC,
	.summary =
		"a request for huge pages that the API server rejects, or a volume of huge pages without a request",
	.why = "The API server rejects the pod, or its volume cannot be mounted.",
	.remedy =
		"Set hugepages-* in limits to a multiple of the page size, together with cpu or memory.",
	.evidence =
		"https://github.com/kubernetes/kubernetes/tree/master/pkg/apis/core/validation; https://github.com/kubernetes/kubernetes/tree/master/pkg/volume/emptydir; observed on kube-apiserver 1.37.2",
	.check_pod = check,
};
