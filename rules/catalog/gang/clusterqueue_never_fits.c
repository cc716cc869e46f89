/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A workload that its ClusterQueue can never admit: the accelerator is in
 * none of its resource groups, or one PodSet needs more than any flavor has,
 * borrowing included (a PodSet gets one flavor). Its configuration, which is
 * not seen, may leave resources out or replace them, as its example does with
 * parts of devices. Source: kueue pkg/scheduler/flavorassigner;
 * apis/config configuration_types.go (excludeResourcePrefixes,
 * transformations).
 */
#include "engine/rule.h"
#include "kube/quota/queue.h"
#include "kube/set/referred.h"

/* The ClusterQueue behind the workload's LocalQueue; NULL: not known. */
static const struct node *queue_of(struct rule_run *run,
				   const struct workload *w, const char **name)
{
	const struct object_index *set = rule_index(run);
	struct arena *arena = rule_arena(run);
	const struct referred *queue = index_referred(
		set, w, CLUSTER_LOCAL_QUEUE, w->kueue_queue, arena);

	if (!queue) {
		rule_needs_cluster(run, CLUSTER_LOCAL_QUEUE);
		return NULL;
	}
	*name = node_str(node_path(queue->root, "spec.clusterQueue"));
	if (!*name)
		return NULL;
	queue = index_referred(set, w, CLUSTER_QUEUE, *name, arena);
	if (!queue) {
		rule_needs_cluster(run, CLUSTER_QUEUE);
		return NULL;
	}
	return queue->root;
}

static struct finding *report_uncovered(struct rule_run *run,
					const struct workload *w,
					const struct workload_pod *pod,
					const char *resource, const char *queue)
{
	const struct accelerator *device =
		accelerator_find(rule_accelerators(run), resource);
	struct finding *f = report_place(
		run, &w->id, &pod->place,
		"ClusterQueue `%s` does not cover `%s`: unless Kueue is configured to replace it, %s is never admitted",
		queue, resource, rule_title(run, w->id.kind, w->id.name));

	if (device->class != ACCEL_WHOLE)
		finding_severity(f, SEVERITY_WARNING);
	return f;
}

static void check_demand(struct rule_run *run, const struct workload *w,
			 const struct workload_pod *pod,
			 const struct pod_demand *demand)
{
	const char *name = NULL;
	const struct node *queue = queue_of(run, w, &name);
	struct queue_offer offer;
	struct quantity need;
	char text[QUANTITY_TEXT], most[QUANTITY_TEXT];
	struct finding *f;

	need = quantity_mul(demand->quantity, queue_pods(w, pod));
	if (!queue || need.nano <= 0)
		return;
	offer = queue_offers(queue, demand->resource);
	if (offer.unlimited ||
	    (!offer.covered && queue_replaces(queue, demand->resource)) ||
	    (offer.covered && quantity_cmp(need, offer.most) <= 0))
		return;
	quantity_text(need, text);
	if (!offer.covered)
		f = report_uncovered(run, w, pod, demand->resource, name);
	else
		f = report_place(
			run, &w->id, &pod->place,
			"%s %s, ClusterQueue `%s` gives at most %s (flavor `%s`): %s is never admitted",
			text, demand->resource, name,
			quantity_text(offer.most, most),
			offer.flavor ? offer.flavor : "",
			rule_title(run, w->id.kind, w->id.name));
	finding_cause(run, f, demand->resource);
}

static void check(struct rule_run *run, const struct workload *w)
{
	if (!w->kueue_queue || w->child || !*w->id.namespace)
		return;
	for (size_t p = 0; p < w->npods; p++)
		for (size_t d = 0; d < w->pods[p].ndemand; d++)
			if (accelerator_find(rule_accelerators(run),
					     w->pods[p].demand[d].resource))
				check_demand(run, w, &w->pods[p],
					     &w->pods[p].demand[d]);
}

const struct rule rule_clusterqueue_never_fits = {
	.name = "clusterqueue-never-fits",
	.category = "gang",
	.severity = SEVERITY_ERROR,
	.needs = NEEDS_SET,
	.since = "1.0",
	.summary = "a workload that its Kueue ClusterQueue can never admit",
	.why = "It stays suspended forever, and others wait behind it.",
	.remedy =
		"Ask for less, choose another queue, or have its quota raised.",
	.evidence =
		"https://github.com/kubernetes-sigs/kueue/tree/main/pkg/scheduler/flavorassigner",
	.check_workload = check,
};
