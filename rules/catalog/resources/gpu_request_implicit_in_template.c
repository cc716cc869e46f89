/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports accelerators that are only in limits, in a template whose requests a
 * gang scheduler adds up. The API server copies limits to requests in Pods, but
 * not in templates of custom resources. Volcano counts the requests of its
 * tasks, and Training Operator uses the limits only if no `requests` are set,
 * so the PodGroup's minResources contains no GPUs, and a job that cannot fit is
 * admitted. Volcano always creates a PodGroup, Training Operator only if it is
 * started with a gang scheduler. The finding is an info if nothing shows such a
 * PodGroup, or if the gang has only one pod.
 *
 * Sources: training-operator pkg/controller.v1/common/util.go AddResourceList;
 * volcano pkg/controllers/job/job_controller_util.go CalTaskRequests. Not
 * affected: Kueue (pkg/workload/resources.go), KubeRay (utils
 * CalculatePodResource) and MPI Operator v2, which use the limits.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"

/* True if all resources must be requested: with a NUMA policy, Volcano requires
 * requests of cpu and memory in its tasks, and uses the limits only if no
 * requests are set (validateTaskTopoPolicy). */
static bool needs_all(const struct container *c)
{
	return !node_count(container_requests(c)) &&
	       !node_is_unset(node_get(c->pod->group, "topologyPolicy"));
}

/* Reports a container once, because its other devices are usually parts of the
 * first one. */
static struct finding *report(struct rule_run *run, const struct container *c,
			      const struct node *limit, bool held)
{
	const struct object *object = c->pod->object;
	bool one = object->gang.n <= 1 && !object->gang.unknown;
	struct finding *f = report_container(
		run, c, limit,
		"container `%s` sets a limit but no request for `%s`: %s does not count it",
		container_title(c), limit->key,
		held ? "the PodGroup's minResources"
		     : "if a gang scheduler groups the pods, the PodGroup's minResources");

	if (!held || one)
		finding_severity(f, SEVERITY_INFO);
	finding_cause(run, f, limit->key);
	if (needs_all(c))
		finding_help(run, f, "Set `resources.requests` to the limits.");
	else
		finding_help(run, f, "Add `%s: %s` to `resources.requests`.",
			     limit->key, limit->str);
	if (node_is_map(c->requests))
		finding_label(run, f, c->requests, "the requests lack it");
	return f;
}

static bool is_lacking(const struct resource_entry *limit)
{
	return limit->accelerator && limit->state == QUANTITY_OK &&
	       limit->quantity.nano > 0 &&
	       (!limit->other || node_is_unset(limit->other->node));
}

static int by_key(const void *a, const void *b)
{
	const struct resource_entry *const *x = a, *const *y = b;

	return strcmp((*x)->node->key, (*y)->node->key);
}

/* Returns the limits of accelerators without a request or, if every is set, all
 * limits. They are sorted by key, because the API server sends keys sorted. */
static const struct resource_entry **
lacking(struct rule_run *run, const struct container *c, bool every, size_t *n)
{
	const struct resource_entry **all = ARENA_ARRAY(
		rule_arena(run), const struct resource_entry *, c->nlimits);

	*n = 0;
	FOR_EACH_LIMIT(c, limit)
		if (every || is_lacking(limit))
			all[(*n)++] = limit;
	qsort(all, *n, sizeof(*all), by_key);
	return all;
}

static void check_container(struct rule_run *run, const struct container *c,
			    bool whole)
{
	bool held = whole || c->pod->object->gang_kind == GANG_OPERATOR;
	const struct resource_entry **all;
	const struct node *main;
	struct finding *f;
	struct fix *fix = NULL;
	size_t n;

	/* Training Operator uses the limits if no requests are set. */
	if (node_is_unknown(c->requests) ||
	    (!whole && node_is_unset(c->requests)))
		return;
	all = lacking(run, c, false, &n);
	if (!n)
		return;
	if (needs_all(c))
		all = lacking(run, c, true, &n);
	main = all[0]->node;
	for (size_t i = 1; i < n; i++)
		if (text_eq(all[i]->node->key, c->resource))
			main = all[i]->node;
	f = report(run, c, main, held);
	for (size_t i = 0; i < n; i++) {
		const struct node *limit = all[i]->node;

		if (all[i]->accelerator &&
		    !quantity_is_integer(all[i]->quantity))
			continue;
		if (!fix)
			fix = n > 1 ? finding_fix(
					      run, f, true,
					      "set the missing requests to the limits")
				    : finding_fix(run, f, true,
						  "set the request to %s `%s`",
						  main->str, main->key);
		fix_set_key(fix, c->resources, "requests", limit->key,
			    edit_copy(rule_arena(run), limit));
	}
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct object *o = pod->object;
	enum summed_requests sum = object_request_sum(o);

	if (o->kueue || sum == REQUESTS_NOT_SUMMED)
		return;
	FOR_EACH_CONTAINER(pod, c)
		if (c->extended)
			check_container(run, c, sum == REQUESTS_ALONE);
}

const struct rule rule_gpu_request_implicit_in_template = {
	.name = "gpu-request-implicit-in-template",
	.category = "resources",
	.severity = SEVERITY_WARNING,
	.flags = RULE_ABSENCE | RULE_SAFE_PATCH,
	.scope = PODSPEC,
	.summary = "a gang's pod template sets accelerators only in limits",
	.why = "The PodGroup's minResources is computed from requests: without the GPUs in it, a gang that cannot fit is admitted. The finding is an info if nothing shows that a gang scheduler is used, or if the gang has one pod.",
	.remedy = "Set the same number in requests.",
	.evidence =
		"https://github.com/kubeflow/trainer/tree/release-1.9/pkg/controller.v1/common AddResourceList; volcano CalTaskRequests",
	.check_pod = check,
};
