/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accelerators only in limits, in a template that a gang scheduler adds up.
 * Pods get the request from the limit, templates of custom resources do not.
 * Volcano counts the requests of its tasks, Training Operator stops at the
 * first `requests` it finds, so the PodGroup's minResources has no GPUs in it
 * and a job that cannot fit is admitted. Volcano always makes a PodGroup,
 * Training Operator where it is started with a gang scheduler.
 *
 * Sources: training-operator pkg/controller.v1/common/util.go AddResourceList;
 * volcano pkg/controllers/job/job_controller_util.go CalTaskRequests. Not
 * meant: Kueue (pkg/workload/resources.go), KubeRay (utils
 * CalculatePodResource) and MPI Operator v2 fill in limits.
 */
#include "engine/rule.h"

/* Once for a container: its further devices are mostly parts of the first. */
static struct finding *report(struct rule_run *run, const struct container *c,
			      const struct node *limit, bool held)
{
	const struct object *object = c->pod->object;
	bool one = object->gang.n <= 1 && !object->gang.unknown;
	struct finding *f = report_container(
		run, c, limit,
		"container `%s` limits `%s` but does not request it: %s counts none of it",
		container_title(c), limit->key,
		held ? "the PodGroup's minResources"
		     : "if a gang scheduler holds the pods together, it");

	if (!held || one)
		finding_severity(f, SEVERITY_INFO);
	finding_cause(run, f, limit->key);
	finding_help(run, f, "add `%s: %s` to `resources.requests`", limit->key,
		     limit->str);
	if (node_is_map(c->requests))
		finding_label(run, f, c->requests, "the requests lack it");
	return f;
}

static void check_container(struct rule_run *run, const struct container *c,
			    bool whole)
{
	const struct node *requests = c->requests;
	bool held = whole || c->pod->object->gang_kind == GANG_OPERATOR;
	struct finding *f = NULL;
	struct fix *fix = NULL;

	/* Training Operator takes the limits where there are no requests. */
	if (node_is_unknown(requests) || (!whole && node_is_unset(requests)))
		return;
	FOR_EACH_LIMIT(c, entry) {
		const struct node *limit = entry->node;
		struct quantity q = entry->quantity;

		if (!entry->accelerator || entry->state != QUANTITY_OK ||
		    q.nano <= 0 ||
		    (entry->other && !node_is_unset(entry->other->node)))
			continue;
		if (!f)
			f = report(run, c, limit, held);
		if (!quantity_is_integer(q))
			continue;
		if (!fix)
			fix = finding_fix(run, f, true, "request %s `%s`",
					  limit->str, limit->key);
		fix_set_key(fix, c->resources, "requests", limit->key,
			    edit_copy(rule_arena(run), limit));
	}
}

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct object *o = pod->object;
	enum summed_requests sum = object_request_sum(o);

	if (pod->flat || o->kueue || sum == REQUESTS_NOT_SUMMED)
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
	.wants = FACT_EXTENDED | FACT_PODSPEC,
	.since = "1.0",
	.summary = "accelerators only in the limits of a gang's template",
	.why = "The PodGroup's minResources is made from requests: without the GPUs in it a gang that cannot fit is admitted. An info where nothing shows a gang scheduler.",
	.remedy = "Write the same number into requests.",
	.evidence =
		"https://github.com/kubeflow/trainer/tree/release-1.9/pkg/controller.v1/common AddResourceList; volcano CalTaskRequests",
	.check_pod = check,
};
