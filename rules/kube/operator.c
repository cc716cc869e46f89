/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the operator of an object, and adds devices to its pods for it. */
#include "rules/kube/operator.h"

const struct workload_operator operator_none = {0};

const struct workload_operator *object_operator(const struct object *object)
{
	return object->type ? object->type->by : &operator_none;
}

enum summed_requests object_request_sum(const struct object *object)
{
	const struct workload_operator *by = object_operator(object);

	return by->sums_requests ? by->sums_requests(object)
				 : REQUESTS_NOT_SUMMED;
}

const struct pod_handling *pod_handling(const struct pod *pod)
{
	return &object_operator(pod->object)->pods;
}

const struct workload_operator *
builder_operator(const struct pod_builder *builder)
{
	return builder->row && builder->row->by ? builder->row->by
						: &operator_none;
}

struct container *pod_main_container(struct pod *pod)
{
	for (size_t i = 0; i < pod->ncontainers; i++)
		if (pod->containers[i].role == CONTAINER_MAIN)
			return &pod->containers[i];
	return NULL;
}

void pod_add_devices(struct pod_builder *builder, struct pod *pod,
		     const char *resource, struct amount n)
{
	struct container *c = pod_main_container(pod);

	if (!n.n && !n.unknown)
		return;
	pod->gpu_by |= GPU_BY_OPERATOR;
	if (!c) {
		pod->gpus = amount_add(pod->gpus, n);
		return;
	}
	c->gpus = amount_add(c->gpus, n);
	if (!c->accelerator) {
		c->resource = resource;
		c->accelerator = accelerator_find(
			&builder->config->accelerators, resource);
	}
}

/* Reads a quantity, which may be a number or a string, as an amount; 0 if it is
 * not set or negative, unknown if it is invalid. */
static struct amount quantity_amount(const struct node *node)
{
	struct quantity q;

	switch (node_quantity(node, &q)) {
	case QUANTITY_ABSENT:
		return amount_of(0);
	case QUANTITY_OK:
		return amount_of(q.nano > 0 ? quantity_value(q) : 0);
	default:
		return (struct amount){.unknown = true};
	}
}

void pod_add_device_quantity(struct pod_builder *builder, struct pod *pod,
			     const struct node *name, const struct node *n)
{
	const char *resource = node_str(name);

	pod->device_name = name;
	pod_add_devices(builder, pod, resource ? resource : "nvidia.com/gpu",
			quantity_amount(n));
	if (pod->gpu_by & GPU_BY_OPERATOR)
		pod->gpu_by |= GPU_BY_FIELD;
}

struct amount devices_asked(const struct kube_config *config,
			    const struct node *resources, const char **name)
{
	const struct node *limits = node_get(resources, "limits");
	struct amount sum = {0};

	if (!node_count(limits))
		limits = node_get(resources, "requests");
	FOR_EACH_CHILD(limits, value) {
		struct quantity q;

		if (!accelerator_counts(accelerator_find(&config->accelerators,
							 value->key)))
			continue;
		*name = value->key;
		if (node_quantity(value, &q) != QUANTITY_OK)
			sum.unknown = true;
		else if (q.nano > 0)
			sum = amount_add(sum, amount_of(quantity_value(q)));
	}
	return sum;
}

void pod_add_sidecar_devices(struct pod_builder *builder, struct pod *pod,
			     const struct node *resources)
{
	const char *name = NULL;
	struct amount n = devices_asked(builder->config, resources, &name);

	if (!name || (!n.n && !n.unknown))
		return;
	pod->gpu_by |= GPU_BY_OPERATOR;
	pod->gpus = amount_add(pod->gpus, n);
}

void pod_add_claim(struct pod *pod, enum tri use, struct amount n)
{
	if (use == TRI_NO)
		return;
	pod->gpus = amount_add(pod->gpus, n);
	if (use == TRI_YES)
		pod->gpu_by |= GPU_BY_CLAIM;
	else
		pod->gpu_unknown = true;
}
