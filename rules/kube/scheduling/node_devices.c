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
#include <string.h>

#include "base/text.h"
#include "kube/scheduling/mig.h"

/* Returns the meaning of the label if the need lists its values, else 0. */
static int meaning_of(const struct node_need *need)
{
	const struct node_label *label = node_label_find(need->key);

	return label && node_need_value(need, 0) ? (int)label->meaning : 0;
}

static bool is_type(const struct node_need *need)
{
	return meaning_of(need) == LABEL_INSTANCE;
}

static bool is_type_or_count(const struct node_need *need)
{
	return is_type(need) || meaning_of(need) == LABEL_COUNT;
}

static void add_value(struct node_devices *found, const struct node_need *need,
		      const struct node *value)
{
	const char *text = text_or_empty(node_str(value));
	const struct instance_type *type =
		is_type(need) ? instance_type_find(text) : NULL;
	int64_t n = type ? type->accelerators : 0;

	if (!is_type(need))
		n = strtol(text, NULL, 10);
	found->bounded &= type || n > 0;
	if (type && !found->type && !found->several)
		found->type = type;
	found->several |= is_type(need) && (!type || found->type != type);
	if (n > found->most && n <= 1024) {
		found->most = n;
		found->at = value;
	}
}

struct node_devices pod_node_devices(const struct pod *pod)
{
	struct node_needs needs = pod_node_needs(pod);
	struct node_devices found = {.bounded = !needs.unknown};

	for (size_t i = 0; i < needs.n; i++) {
		const struct node_need *need = &needs.items[i];
		const struct node *value = node_need_value(need, 0);

		if (!is_type_or_count(need))
			continue;
		for (; value; value = node_need_next(need, value))
			add_value(&found, need, value);
	}
	found.bounded &= node_needs_imply(&needs, is_type_or_count);
	if (found.several || needs.unknown ||
	    !node_needs_imply(&needs, is_type))
		found.type = NULL;
	return found;
}

struct quantity instance_type_memory(const struct instance_type *type)
{
	struct quantity memory =
		quantity_mul(quantity_from(INT64_C(1) << 30), type->memory);

	memory.format = QUANTITY_BINARY;
	return memory;
}

/* Returns the number of chips on one host of a TPU slice ("2x4", "4x4x8"): at
 * most 4 of a slice with three dimensions, and all of a slice with two, or -1
 * if it has more than 8. Returns -1 for other texts. */
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

/* True for a resource with a domain other than that of Kubernetes. */
static bool is_extended(const struct resource_entry *entry)
{
	const char *name = entry->node->key;

	return strchr(name, '/') && !text_contains(name, "kubernetes.io/") &&
	       (entry->state != QUANTITY_OK || entry->quantity.nano > 0);
}

bool pod_asks_extended(const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c)
		FOR_EACH_ASKED(c, entry)
			if (is_extended(entry))
				return true;
	return false;
}

/* True if the volume is a path of the node, except those that all nodes have.
 */
static bool is_node_data(const struct node *volume)
{
	static const char *const everywhere[] = {"/etc/", "/usr/share/",
						 "/dev/shm",
						 "/var/run/docker.sock", NULL};
	const char *path = node_str(node_path(volume, "hostPath.path"));

	return path && !text_any(path, everywhere, text_starts);
}

bool pod_needs_its_nodes(const struct pod *pod)
{
	FOR_EACH_CHILD(pod_field(pod, "volumes"), volume)
		if (is_node_data(volume))
			return true;
	return pod_asks_extended(pod);
}
