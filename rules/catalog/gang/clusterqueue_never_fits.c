/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports workloads that their ClusterQueue can never admit: a resource is in
 * none of its resource groups, one PodSet needs more than any flavor has,
 * including borrowing (a PodSet gets one flavor), or every flavor has a taint,
 * a label, or a topology that is missing or lacks a level, which excludes the
 * pods. Also reports ClusterQueues that select no namespace, unless they may
 * lend their quota to a cohort. Kueue's configuration, which is not part of the
 * input, may exclude or replace resources, as its example does with parts of
 * devices, and may ignore resources that no group covers (quotaCheckStrategy,
 * ff69552e). A resource in no group is therefore a warning, unless it is a
 * whole device. Source: kueue pkg/scheduler/flavorassigner at 0037224
 * (flavorassigner.go, checkFlavorForPodSets; tas_flavorassigner.go);
 * clusterqueue_types.go (namespaceSelector); apis/config configuration_types.go
 * (excludeResourcePrefixes, transformations).
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/claim.h"
#include "kube/quota/quota.h"
#include "kube/set/index_find.h"

/* Returns the least parallelism of a Job, or 0 if it is not set. Kueue's
 * partial admission may lower its parallelism (pkg/controller/jobs/job,
 * JobMinParallelismAnnotation). */
static int64_t min_parallelism(const struct object *o)
{
	static const char key[] = "kueue.x-k8s.io/job-min-parallelism";
	const struct node *at = object_annotation(o, key);
	long n;

	if (!at || !object_is(o, "batch", "Job"))
		return 0;
	n = node_str(at) ? strtol(node_str(at), NULL, 10) : 1;
	return n > 1 ? n : 1;
}

/* Returns the number of pods of this template that Kueue must admit at once.
 * For a Job with partial admission it is the least parallelism, for a
 * Deployment one, and for a LeaderWorkerSet a group, whose size is unknown
 * here, so one. */
static int64_t queue_pods(const struct pod *pod)
{
	const struct object *o = pod->object;
	int64_t pods = amount_mul(pod->steady, object_copies(o)).n;
	int64_t least = min_parallelism(o);

	if (text_eq(o->kind, "Deployment") ||
	    text_eq(o->kind, "LeaderWorkerSet"))
		return pods ? 1 : 0;
	return least && least < pods ? least : pods;
}

/* --- quantities ----------------------------------------------------------- */

static struct finding *report_uncovered(struct rule_run *run,
					const struct workload *w,
					const struct pod *pod,
					const char *resource, const char *queue)
{
	const struct accelerator *device =
		accelerator_find(rule_accelerators(run), resource);
	struct finding *f = report_place(
		run, &w->id, rule_place(run, pod->spec),
		"ClusterQueue `%s` does not cover `%s`: unless Kueue's configuration makes an exception, %s is never admitted",
		queue, resource, rule_title(run, w->id.kind, w->id.name));

	if (!device || device->class != ACCEL_WHOLE)
		finding_severity(f, SEVERITY_WARNING);
	return f;
}

/* True if an earlier pod template of the object requests the resource, so that
 * it has been reported there. */
static bool is_asked_before(const struct workload *w, const struct pod *pod,
			    const char *resource)
{
	size_t p = (size_t)(pod - pod->object->pods);

	while (p--)
		for (size_t d = 0; d < w->pods[p].ndemand; d++)
			if (text_eq(w->pods[p].demand[d].resource, resource) &&
			    w->pods[p].demand[d].quantity.nano > 0)
				return true;
	return false;
}

static void check_demand(struct rule_run *run, const struct workload *w,
			 const struct pod *pod, const struct pod_demand *demand,
			 const struct found_object *cluster_queue)
{
	const struct node *queue = cluster_queue->root;
	const char *name = cluster_queue->name;
	struct queue_offer offer;
	struct quantity need;
	char text[QUANTITY_TEXT], most[QUANTITY_TEXT];
	struct finding *f;

	need = quantity_mul(demand->quantity, queue_pods(pod));
	if (need.nano <= 0 || text_ends(demand->resource, CLASS_DEVICES))
		return;
	offer = queue_offers(queue, demand->resource);
	if (offer.unlimited || (!offer.covered && offer.replaced) ||
	    (offer.covered && quantity_cmp(need, offer.most) <= 0))
		return;
	/* The API server rejects a queue that lists a resource without a
	 * flavor. */
	if (offer.covered && !offer.flavor)
		return;
	if (!offer.covered && is_asked_before(w, pod, demand->resource))
		return;
	quantity_text(need, text);
	if (!offer.covered)
		f = report_uncovered(run, w, pod, demand->resource, name);
	else
		f = report_place(
			run, &w->id, rule_place(run, pod->spec),
			"the pods request %s %s, but ClusterQueue `%s` has at most %s (flavor `%s`): %s is never admitted",
			text, demand->resource, name,
			quantity_text(offer.most, most),
			offer.flavor ? offer.flavor : "",
			rule_title(run, w->id.kind, w->id.name));
	finding_cause(run, f, demand->resource);
}

/* Checks native resources, which Kueue counts but the index lacks. *said is the
 * list of uncovered resources that was reported for earlier pods. */
static void check_native(struct rule_run *run, const struct workload *w,
			 const struct pod *pod,
			 const struct found_object *queue, const char **said)
{
	static const char *const names[] = {"cpu", "memory",
					    "ephemeral-storage", NULL};
	const char *uncovered = NULL;

	for (const char *const *name = names; *name; name++) {
		struct pod_demand demand = {.resource = *name};
		struct queue_offer offer = queue_offers(queue->root, *name);

		demand.quantity =
			pod_request(pod, *name, false, &demand.unknown);
		if (demand.unknown || demand.quantity.nano <= 0)
			continue;
		if (offer.covered || offer.unlimited)
			check_demand(run, w, pod, &demand, queue);
		else if (queue_pods(pod) > 0)
			uncovered = uncovered ? arena_printf(rule_arena(run),
							     "%s`, `%s",
							     uncovered, *name)
					      : *name;
	}
	if (uncovered && !text_eq(uncovered, *said))
		report_uncovered(run, w, pod, uncovered, queue->name);
	if (uncovered)
		*said = uncovered;
}

/* --- flavors -------------------------------------------------------------- */

static const struct found_object *find_named(struct rule_run *run,
					     const struct workload *w,
					     enum cluster_kind kind,
					     const struct node *name)
{
	return node_str(name) ? index_find(rule_index(run), w, kind, name->str,
					   rule_arena(run))
			      : NULL;
}

/* Checks one resource group, of which each PodSet gets one flavor. Returns
 * true, after a report, if no flavor accepts the pods. */
static bool report_group(struct rule_run *run, const struct workload *w,
			 const struct pod *pod, const struct node *group,
			 const struct found_object *queue)
{
	struct flavor_misfit first = {NULL, NULL};
	const char *name = NULL;
	size_t n = 0;

	FOR_EACH_CHILD(node_get(group, "flavors"), one) {
		const struct found_object *flavor = find_named(
			run, w, CLUSTER_FLAVOR, node_get(one, "name"));
		const struct found_object *topology;
		struct flavor_misfit refusal;

		if (!flavor || !flavor->root)
			return false;
		topology = find_named(
			run, w, CLUSTER_TOPOLOGY,
			node_path(flavor->root, "spec.topologyName"));
		refusal = queue_flavor_misfit(rule_arena(run), pod, flavor,
					      topology);
		if (!refusal.text)
			return false;
		if (!n++) {
			first = refusal;
			name = flavor->name;
		}
	}
	if (n)
		report_pod(
			run, pod, first.at,
			"flavor `%s` %s%s: ClusterQueue `%s` never admits %s",
			name, first.text,
			n > 1 ? ", and the others do not fit either" : "",
			queue->name, rule_title(run, w->id.kind, w->id.name));
	return n;
}

static bool group_is_asked(const struct node *group, const struct pod *pod)
{
	FOR_EACH_CHILD(node_get(group, "coveredResources"), resource) {
		bool unknown = false;

		if (node_str(resource) &&
		    pod_request(pod, resource->str, false, &unknown).nano > 0 &&
		    !unknown)
			return true;
	}
	return false;
}

static void check_flavors(struct rule_run *run, const struct workload *w,
			  const struct object *object,
			  const struct found_object *queue)
{
	if (!index_keeps(rule_index(run), CLUSTER_FLAVOR) && !w->cluster)
		return;
	FOR_EACH_POD(object, pod) {
		if (pod->flat)
			continue;
		FOR_EACH_CHILD(node_path(queue->root, "spec.resourceGroups"),
			       group)
			if (group_is_asked(group, pod) &&
			    report_group(run, w, pod, group, queue))
				break;
	}
}

/* Reports a queue without a namespaceSelector, which selects no namespace,
 * unless it is in a cohort, to which it may lend its quota. */
static void check_queue(struct rule_run *run, const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");

	if (!object_is(object, "kueue.x-k8s.io", "ClusterQueue") ||
	    object->fragment || node_is_unknown(spec) ||
	    !node_is_unset(node_get(spec, "cohort")) ||
	    !node_is_unset(node_get(spec, "cohortName")) ||
	    !node_is_unset(node_get(spec, "namespaceSelector")))
		return;
	finding_help(
		run,
		report_object(
			run, object, spec,
			"`namespaceSelector` is not set, so it selects no namespace: the ClusterQueue admits nothing"),
		"Set `namespaceSelector`; `{}` selects all namespaces.");
}

static void check(struct rule_run *run, const struct workload *w)
{
	const struct found_object *queue = NULL;
	const struct object *object = NULL;
	const char *said = NULL;

	if (w->kueue_queue && !w->child && *w->id.namespace)
		queue = rule_cluster_queue(run, w);
	if (queue)
		object = rule_object(run, w);
	if (!object)
		return;
	for (size_t p = 0; p < w->npods; p++)
		for (size_t d = 0; d < w->pods[p].ndemand; d++)
			check_demand(run, w, &object->pods[p],
				     &w->pods[p].demand[d], queue);
	FOR_EACH_POD(object, pod)
		if (!pod->flat)
			check_native(run, w, pod, queue, &said);
	check_flavors(run, w, object, queue);
}

const struct rule rule_clusterqueue_never_fits = {
	.name = "clusterqueue-never-fits",
	.category = "gang",
	.severity = SEVERITY_ERROR,
	.needs = NEEDS_SET,
	.summary =
		"a workload that its Kueue ClusterQueue can never admit, or a ClusterQueue that admits nothing",
	.why = "The workload stays suspended until it or the queue changes; in a StrictFIFO queue, later workloads wait behind it.",
	.remedy =
		"Request resources that fit a flavor of the queue (quota, labels, taints, topology), or choose another queue.",
	.evidence =
		"https://github.com/kubernetes-sigs/kueue/tree/main/pkg/scheduler/flavorassigner",
	.check_object = check_queue,
	.check_workload = check,
};
