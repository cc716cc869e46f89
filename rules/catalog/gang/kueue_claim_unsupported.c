/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports claims with which Kueue never admits a workload: claims that pods
 * share, requests that it cannot count, device classes without a resource, and
 * more devices than the ClusterQueue has. Kueue counts claims only by
 * `deviceClassMappings` of its Configuration, and since 0.18 it does not admit
 * other claims (0.14 to 0.17 only with the gate DynamicResourceAllocation).
 * Mappings with sources count other units than devices.
 *
 * Source: kueue v0.19.0 pkg/controller/core/workload_controller.go Reconcile(),
 * pkg/dra/claims.go, pkg/features/kube_features.go (KueueDRAIntegration,
 * KueueDRARejectWorkloadsWhenDRADisabled).
 */
#include <string.h>

#include "base/text.h"
#include "engine/rule.h"
#include "kube/claim.h"
#include "kube/quota/quota.h"
#include "kube/set/index_find.h"

/* --- claims --------------------------------------------------------------- */

static void check_entry(struct rule_run *run, const struct pod *pod,
			const struct node *entry)
{
	const struct node *shared = node_get(entry, "resourceClaimName");
	const struct claim *claim = claim_of(pod, entry);

	if (!node_is_unset(shared)) {
		finding_help(
			run,
			report_pod(
				run, pod, shared,
				"the pods name a ResourceClaim: Kueue 0.18 and later never admit them"),
			"Name a ResourceClaimTemplate in `resourceClaimTemplateName`.");
	} else if (claim && claim->unqueued) {
		report_pod(
			run, pod, entry,
			"the claim has `%s`: Kueue 0.18 and later never admit the pods",
			claim->unqueued);
	}
}

static void check_pod(struct rule_run *run, const struct pod *pod)
{
	if (!node_str(object_kueue_label(pod->object)) || pod->flat)
		return;
	FOR_EACH_CHILD(pod_field(pod, "resourceClaims"), entry)
		check_entry(run, pod, entry);
}

/* --- classes -------------------------------------------------------------- */

/* Returns the mapping of the device class, or one with an unknown class that
 * may be it; NULL if there is none. */
static const struct node *find_mapping(const struct node *mappings,
				       const char *class)
{
	FOR_EACH_CHILD(mappings, mapping)
		FOR_EACH_CHILD(node_get(mapping, "deviceClassNames"), name)
			if (node_eq(name, class) || node_is_unknown(name))
				return mapping;
	return NULL;
}

/* True if Kueue may lower the number of the object's pods
 * (pkg/controller/jobs/job, JobMinParallelismAnnotation). */
static bool may_shrink(const struct object *object)
{
	return object_is(object, "batch", "Job") &&
	       object_annotation(object, "kueue.x-k8s.io/job-min-parallelism");
}

static void check_mapped(struct rule_run *run, const struct workload *w,
			 const struct pod *pod, const char *resource,
			 struct quantity each)
{
	struct amount pods =
		amount_mul(pod->steady, object_copies(pod->object));
	const struct found_object *queue = rule_cluster_queue(run, w);
	char text[QUANTITY_TEXT], most[QUANTITY_TEXT];
	bool single = text_eq(w->id.kind, "Deployment") ||
		      text_eq(w->id.kind, "LeaderWorkerSet");
	struct quantity need = quantity_mul(each, single ? 1 : pods.n);
	struct queue_offer offer;

	if (!queue || may_shrink(pod->object) || pods.unknown)
		return;
	offer = queue_offers(queue->root, resource);
	if (!offer.covered && !offer.unlimited)
		report_place(
			run, &w->id, rule_place(run, pod->spec),
			"the claims of the pods count as `%s`, which ClusterQueue `%s` does not cover: %s is never admitted",
			resource, queue->name,
			rule_title(run, w->id.kind, w->id.name));
	else if (!offer.unlimited && quantity_cmp(need, offer.most) > 0)
		report_place(
			run, &w->id, rule_place(run, pod->spec),
			"the claims of the pods count as %s %s, but ClusterQueue `%s` has at most %s: %s is never admitted",
			quantity_text(need, text), resource, queue->name,
			quantity_text(offer.most, most),
			rule_title(run, w->id.kind, w->id.name));
}

/* Returns the name of the device class if claims make the request, or NULL. */
static const char *class_of(struct rule_run *run,
			    const struct pod_demand *demand)
{
	if (!text_ends(demand->resource, CLASS_DEVICES))
		return NULL;
	return arena_strndup(rule_arena(run), demand->resource,
			     strlen(demand->resource) - strlen(CLASS_DEVICES));
}

/* Adds up the devices of all classes of the pod that count as the same resource
 * as the d-th demand. Returns false if the number is unknown, or if such a
 * class precedes the d-th demand, so that the sum is checked there. */
static bool sum_resource(struct rule_run *run, const struct workload_pod *pod,
			 size_t d, const struct node *mappings,
			 struct quantity *sum)
{
	const struct node *own =
		find_mapping(mappings, class_of(run, &pod->demand[d]));
	const char *resource = node_str(node_get(own, "name"));

	for (size_t i = 0; i < pod->ndemand; i++) {
		const char *class = class_of(run, &pod->demand[i]);
		const struct node *mapping =
			class ? find_mapping(mappings, class) : NULL;

		if (!node_eq(node_get(mapping, "name"), resource))
			continue;
		if (i < d || pod->demand[i].unknown)
			return false;
		*sum = quantity_add(*sum, pod->demand[i].quantity);
	}
	return true;
}

static void check_class(struct rule_run *run, const struct workload *w,
			const struct pod *pod, size_t d,
			const struct component_config *config)
{
	const struct workload_pod *facts = &w->pods[pod - pod->object->pods];
	const char *class = class_of(run, &facts->demand[d]);
	const struct node *mappings =
		node_path(config->root, "resources.deviceClassMappings");
	const struct node *mapping =
		class ? find_mapping(mappings, class) : NULL;
	const char *resource = node_str(node_get(mapping, "name"));
	struct quantity sum = quantity_from(0);
	struct finding *f;

	if (!class || node_is_unknown(mappings))
		return;
	if (!mapping) {
		f = report_place(
			run, &w->id, rule_place(run, pod->spec),
			"Kueue's Configuration does not map device class `%s`: Kueue never admits %s",
			class, rule_title(run, w->id.kind, w->id.name));
		finding_label_place(run, f, &config->place,
				    "deviceClassMappings");
	} else if (resource && node_is_unset(node_get(mapping, "sources")) &&
		   sum_resource(run, facts, d, mappings, &sum)) {
		check_mapped(run, w, pod, resource, sum);
	}
}

/* True if the pod has claims that Kueue cannot count. */
static bool is_unqueued(const struct pod *pod)
{
	FOR_EACH_CHILD(pod_field(pod, "resourceClaims"), entry) {
		const struct claim *claim = claim_of(pod, entry);

		if (claim && claim->unqueued)
			return true;
	}
	return false;
}

static void check_demands(struct rule_run *run, const struct workload *w,
			  const struct component_config *config)
{
	const struct object *object = rule_object(run, w);

	for (size_t p = 0; object && p < w->npods; p++)
		for (size_t d = 0; d < w->pods[p].ndemand; d++)
			if (!is_unqueued(&object->pods[p]))
				check_class(run, w, &object->pods[p], d,
					    config);
}

static void check(struct rule_run *run, const struct workload *w)
{
	const struct object_index *set = rule_index(run);

	if (!w->kueue_queue || w->child)
		return;
	for (size_t i = 0; i < set->nconfigs; i++) {
		const struct component_config *config = &set->configs[i];

		if (config->type == CONFIG_KUEUE &&
		    config_is_beside(set, config, w) &&
		    !node_is_unset(node_path(
			    config->root, "resources.deviceClassMappings"))) {
			check_demands(run, w, config);
			return;
		}
	}
}

const struct rule rule_kueue_claim_unsupported = {
	.name = "kueue-claim-unsupported",
	.category = "gang",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_SET,
	.summary = "a claim with which Kueue never admits a workload",
	.why = "Kueue counts a claim of a template by the resource of its device class. Workloads with other claims, or with more devices than the queue has, stay suspended.",
	.remedy =
		"Use a ResourceClaimTemplate that requests a number of devices within the quota, of a class in Kueue's deviceClassMappings.",
	.evidence =
		"https://github.com/kubernetes-sigs/kueue/blob/v0.19.0/pkg/dra/claims.go",
	.check_workload = check,
	.check_pod = check_pod,
};
