/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the largest number of accelerators from the values of instance-type
 * and count labels that a pod's selectors allow. Terms of node affinity are
 * alternatives, so the largest number counts. data/instance_types.tsv lists the
 * accelerators of instance types.
 */
#include "kube/scheduling/node_devices.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "kube/scheduling/mig.h"

static void narrow_types(struct node_devices *found,
			 const struct node_label *label,
			 const struct node *value, unsigned *types)
{
	const struct instance_type *type;
	const char *text = node_str(value);
	int64_t n = 0;

	if (!label || !text)
		return;
	if (label->meaning == LABEL_COUNT) {
		n = strtol(text, NULL, 10);
	} else if (label->meaning == LABEL_INSTANCE) {
		type = instance_type_find(text);
		found->type = type && !(*types)++ ? type : NULL;
		n = type ? type->accelerators : 0;
	}
	if (n > found->most && n <= 1024) {
		found->most = n;
		found->at = value;
	}
}

struct node_devices pod_node_devices(const struct pod *pod)
{
	static const char path[] =
		"nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
		"nodeSelectorTerms";
	struct node_devices found = {0};
	unsigned types = 0;

	FOR_EACH_CHILD(pod_field(pod, "nodeSelector"), value)
		narrow_types(&found, node_label_find(value->key), value,
			     &types);
	FOR_EACH_CHILD(node_path(pod_field(pod, "affinity"), path), term)
		FOR_EACH_CHILD(node_get(term, "matchExpressions"), e) {
			const char *key = node_str(node_get(e, "key"));

			if (!node_eq(node_get(e, "operator"), "In"))
				continue;
			FOR_EACH_CHILD(node_get(e, "values"), value)
				narrow_types(&found,
					     key ? node_label_find(key) : NULL,
					     value, &types);
		}
	return found;
}

struct quantity instance_type_memory(const struct instance_type *type)
{
	struct quantity memory =
		quantity_mul(quantity_from(INT64_C(1) << 30), type->memory);

	memory.format = QUANTITY_BINARY;
	return memory;
}

static int64_t chips_of_node(const char *topology)
{
	long side[3] = {1, 1, 1};
	int sides = 0, end = 0;
	int64_t chips;

	for (; sides < 3; sides++, topology += end) {
		end = 0;
		if (sscanf(topology, sides ? "x%3ld%n" : "%3ld%n", &side[sides],
			   &end) < 1 ||
		    !end || side[sides] < 1)
			break;
	}
	if (*topology || sides < 2)
		return -1;
	chips = side[0] * side[1] * side[2];
	if (sides == 3)
		return chips < 4 ? chips : 4;
	return chips > 8 ? -1 : chips;
}

/* Returns the number of accelerators of nodes with the label; -1 if the label
 * does not determine it. */
int64_t node_label_devices(const char *key, const char *value)
{
	const struct node_label *label = node_label_find(key);
	const struct instance_type *type;
	char *end;
	long long n;

	if (label && label->meaning == LABEL_INSTANCE) {
		type = instance_type_find(value);
		return type ? type->accelerators : -1;
	}
	if (label && label->meaning == LABEL_PRODUCT)
		return mig_product_most(value);
	if (text_eq(key, "cloud.google.com/gke-tpu-topology"))
		return chips_of_node(value);
	if (!label || label->meaning != LABEL_COUNT)
		return -1;
	n = strtoll(value, &end, 10);
	return *end || end == value ? -1 : n;
}

int64_t node_need_devices(const struct node_need *need)
{
	const struct node *value = node_need_value(need, 0);
	int64_t most = -1;

	for (; value; value = node_need_next(need, value)) {
		int64_t n = node_str(value)
				    ? node_label_devices(need->key, value->str)
				    : -1;

		if (n < 0)
			return -1;
		most = n > most ? n : most;
	}
	return most;
}
