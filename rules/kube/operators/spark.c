/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Spark operator: numbers and devices of drivers and executors, pods that
 * start together, and endless restarts. The field `gpu` of a role overrides
 * Spark's own properties.
 *
 * Sources: Spark operator v1beta2 types; Spark KubernetesUtils.scala
 * (buildResourcesQuantities: VENDOR/NAME).
 */
#include "rules/kube/operator.h"

#include <string.h>

#include "base/text.h"

/* Counts executors, with `max` the most that dynamic allocation may start,
 * which is unknown without maxExecutors. It starts with initialExecutors, but
 * at least with the minimum. */
static struct amount executors(const struct node *spec, bool max)
{
	const struct node *dynamic = node_get(spec, "dynamicAllocation");
	struct amount n =
		amount_field(node_get(spec, "executor"), "instances", 1);

	if (!node_is_true(node_get(dynamic, "enabled")))
		return n;
	if (max)
		return field_is_set(dynamic, "maxExecutors")
			       ? amount_field(dynamic, "maxExecutors", 0)
			       : (struct amount){.n = n.n, .unknown = true};
	n = amount_field(dynamic, "minExecutors", 0);
	return amount_max(n, amount_field(dynamic, "initialExecutors", n.n));
}

COUNT_FORMULA(spark)
{
	return executors(at, false);
}

COUNT_FORMULA(spark_max)
{
	return executors(at, true);
}

/* -- devices --------------------------------------------------------------- */

/* Returns the NAME in spark.ROLE.resource.NAME.amount, or NULL. */
static const char *property_name(struct arena *arena, const char *start,
				 const char *key)
{
	static const char end[] = ".amount";

	if (!text_starts(key, start) || !text_ends(key, end) ||
	    strlen(key) < strlen(start) + sizeof(end))
		return NULL;
	key += strlen(start);
	return arena_strndup(arena, key, strlen(key) - sizeof(end) + 1);
}

static void property_gpus(struct pod_builder *builder, struct pod *pod,
			  const char *start, const struct node *value)
{
	struct arena *arena = builder->arena;
	const char *name = property_name(arena, start, value->key), *vendor;
	struct quantity q = {0};
	const char *resource;
	bool known;

	if (!name)
		return;
	vendor = node_str(
		node_get(value->parent,
			 arena_printf(arena, "%s%s.vendor", start, name)));
	resource = arena_printf(arena, "%s/%s", vendor ? vendor : "", name);
	if (!accelerator_counts(
		    accelerator_find(&builder->config->accelerators, resource)))
		return;
	known = node_quantity(value, &q) == QUANTITY_OK;
	pod_add_devices(builder, pod, resource,
			(struct amount){.n = known && q.nano > 0
						     ? quantity_value(q)
						     : 0,
					.unknown = !known});
}

/* Adds devices from Spark's properties, which the operator's field
 * overrides. */
static void gpus_of_properties(struct pod_builder *builder, struct pod *pod)
{
	const struct node *spec = pod->spec->parent;
	const char *role =
		strcmp(pod->role, "executor") ? "driver" : "executor";
	const char *start =
		arena_printf(builder->arena, "spark.%s.resource.", role);

	if (pod->gpu_by)
		return;
	FOR_EACH_CHILD(node_get(spec, "sparkConf"), value)
		property_gpus(builder, pod, start, value);
}

static void gpus(struct pod_builder *builder, struct pod *pod)
{
	pod_add_device_quantity(builder, pod, node_path(pod->spec, "gpu.name"),
				node_path(pod->spec, "gpu.quantity"));
	gpus_of_properties(builder, pod);
}

/* -- the gang, runs -------------------------------------------------------- */

static struct gang gang(const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");
	struct gang out = {.n = amount_of(1)};

	if (!node_is_unset(node_get(spec, "template")))
		spec = node_get(spec, "template");
	if (!node_is_unset(node_get(spec, "batchScheduler"))) {
		out.n = gang_sum(object);
		out.by_operator = true;
	}
	return out;
}

static const struct node *endless(const struct pod *pod)
{
	const struct node *type =
		node_path(pod->object->root, "spec.restartPolicy.type");

	if (strcmp(pod->object->kind, "SparkApplication"))
		return NULL;
	return node_eq(type, "Always") ? type : NULL;
}

const struct workload_operator operator_spark = {
	.gpus = gpus,
	.gang = gang,
	.makes_pod_groups = true,
	.pods.endless = endless,
};
