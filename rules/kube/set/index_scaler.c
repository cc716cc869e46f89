/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads HorizontalPodAutoscalers and KEDA's ScaledObjects, and finds those that
 * scale by the CPU or the memory of pods alone. Without metrics, the API server
 * sets the CPU as metric; in v1, other metrics are in an annotation. Source:
 * pkg/apis/autoscaling/v2/defaults.go, autoscaling/annotations.go; KEDA
 * apis/keda/v1alpha1/scaledobject_types.go.
 */
#include "base/array.h"
#include "base/text.h"
#include "index_internal.h"

static bool is_host(const struct node *name)
{
	return node_eq(name, "cpu") || node_eq(name, "memory");
}

/* Returns the name of the metric's resource, for all pods or for one container
 * in them; NULL for other metrics. */
static const struct node *resource_of(const struct node *metric)
{
	const struct node *name = node_path(metric, "resource.name");

	return name ? name : node_path(metric, "containerResource.name");
}

const struct node *metrics_of_host(const struct node *metrics)
{
	const struct node *found = NULL;

	FOR_EACH_CHILD(metrics, metric) {
		if (!is_host(resource_of(metric)))
			return NULL;
		found = resource_of(metric);
	}
	return found;
}

/* True if minimum and maximum are equal. */
static bool is_fixed(const struct node *spec)
{
	int64_t least = 1, most;

	node_int(node_get(spec, "minReplicas"), &least);
	return node_int(node_get(spec, "maxReplicas"), &most) && least == most;
}

/* Returns the metric of a HorizontalPodAutoscaler that reads only the CPU or
 * the memory; NULL for another one, or if its minimum and maximum are equal.
 * Sets *at to the node with the metric's name; NULL if it is the default. */
static const char *host_metric(const struct object *o, const struct node *spec,
			       const struct node **at)
{
	const struct node *metrics = node_get(spec, "metrics");

	*at = metrics_of_host(metrics);
	if ((!*at && node_count(metrics)) || node_is_unknown(metrics) ||
	    is_fixed(spec) ||
	    object_annotation(o, "autoscaling.alpha.kubernetes.io/metrics"))
		return NULL;
	return *at ? node_str(*at) : "cpu";
}

/* Returns the kind of the scaled object. KEDA's default, also for an empty
 * text, is Deployment. */
static const char *target_kind(const struct node *kind, bool keda)
{
	const char *text = text_or_empty(node_str(kind));

	return keda && !*text ? "Deployment" : text;
}

void index_add_scaler(struct object_index *set, const struct object *o,
		      uint32_t file)
{
	bool keda = object_is(o, "keda.sh", "ScaledObject");
	const struct node *spec, *target, *kind, *most, *at = NULL;
	const char *metric;
	struct scaler *scaler;

	if ((!keda &&
	     !object_is(o, "autoscaling", "HorizontalPodAutoscaler")) ||
	    o->fragment)
		return;
	spec = node_get(o->root, "spec");
	target = node_get(spec, "scaleTargetRef");
	kind = node_get(target, "kind");
	most = node_get(spec, keda ? "maxReplicaCount" : "maxReplicas");
	metric = keda ? NULL : host_metric(o, spec, &at);
	if (!node_str(node_get(target, "name")) ||
	    (!node_str(kind) && !(keda && node_is_unset(kind))))
		return;
	scaler = ARRAY_PUSH(set->scalers, set->nscalers, set->scalers_size);
	*scaler = (struct scaler){
		.id = index_id(&set->arena, o),
		.place = place_of(&set->arena, o, at ? at : index_name_node(o),
				  file),
		.metric = metric ? index_text(&set->arena, metric) : NULL,
		.kind = index_text(&set->arena, target_kind(kind, keda)),
		.name = index_text(&set->arena,
				   node_str(node_get(target, "name"))),
		.cluster = set->cluster};
	if (node_int(most, &scaler->most))
		scaler->most_place = place_of(&set->arena, o, most, file);
}

bool scaler_scales(const struct object_index *set, const struct scaler *scaler,
		   const struct workload *w)
{
	const struct workload of = {.place = scaler->place};
	bool one_file = scaler->place.file == w->place.file;

	/* Objects of one file that do not set a namespace are in the same
	 * namespace. */
	return (*scaler->id.namespace || one_file) &&
	       text_eq(scaler->name, w->id.name) &&
	       text_eq(scaler->kind, w->id.kind) &&
	       text_eq(scaler->id.namespace, w->id.namespace) &&
	       scaler->cluster == w->cluster &&
	       index_set_of(set, &of) == index_set_of(set, w);
}
