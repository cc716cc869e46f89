/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HorizontalPodAutoscalers that look at nothing but the CPU or the memory of
 * pods. Without metrics the API server fills in the CPU; v1 has all others in
 * an annotation.
 * Source: pkg/apis/autoscaling/v2/defaults.go, autoscaling/annotations.go.
 */
#include "base/array.h"
#include "base/text.h"
#include "index_internal.h"

static bool is_host(const struct node *name)
{
	return node_eq(name, "cpu") || node_eq(name, "memory");
}

/* The name of its resource, of all pods or of a container in them. */
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

/* As many at least as at most. */
static bool is_fixed(const struct node *spec)
{
	int64_t least = 1, most;

	node_int(node_get(spec, "minReplicas"), &least);
	return node_int(node_get(spec, "maxReplicas"), &most) && least == most;
}

void index_add_scaler(struct object_index *set, const struct object *o,
		      uint32_t file)
{
	const struct node *spec, *target, *at, *metrics;

	if (!object_is(o, "autoscaling", "HorizontalPodAutoscaler") ||
	    o->fragment ||
	    object_annotation(o, "autoscaling.alpha.kubernetes.io/metrics"))
		return;
	spec = node_get(o->root, "spec");
	target = node_get(spec, "scaleTargetRef");
	metrics = node_get(spec, "metrics");
	at = metrics_of_host(metrics);
	if ((!at && node_count(metrics)) || node_is_unknown(metrics) ||
	    is_fixed(spec) || !node_str(node_get(target, "name")) ||
	    !node_str(node_get(target, "kind")))
		return;
	*ARRAY_PUSH(set->scalers, set->nscalers,
		    set->scalers_size) = (struct scaler){
		.id = index_id(&set->arena, o),
		.place = place_of(&set->arena, o, at ? at : index_name_node(o),
				  file),
		.metric = index_text(&set->arena, at ? node_str(at) : "cpu"),
		.kind = index_text(&set->arena,
				   node_str(node_get(target, "kind"))),
		.name = index_text(&set->arena,
				   node_str(node_get(target, "name"))),
		.cluster = set->cluster};
}

bool scaler_scales(const struct object_index *set, const struct scaler *scaler,
		   const struct workload *w)
{
	const struct workload of = {.place = scaler->place};
	bool one_file = scaler->place.file == w->place.file;

	/* Without namespaces, those of one file are of the same one. */
	return (*scaler->id.namespace || one_file) &&
	       text_eq(scaler->name, w->id.name) &&
	       text_eq(scaler->kind, w->id.kind) &&
	       text_eq(scaler->id.namespace, w->id.namespace) &&
	       scaler->cluster == w->cluster &&
	       index_set_of(set, &of) == index_set_of(set, w);
}
