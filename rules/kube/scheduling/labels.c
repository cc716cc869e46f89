/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A value that is known says more than its key (gke-accelerator: tpu-...), an
 * instance type more than the label that holds it.
 */
#include "kube/scheduling/labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "kube/scheduling/mig.h"

bool labels_next(struct arena *arena, const char **text, struct label_pair *out)
{
	while (**text) {
		size_t len = strcspn(*text, ",");
		char *key = arena_strndup(arena, *text, len);
		char *value = strchr(key, '=');

		*text += len + ((*text)[len] == ',');
		if (!value)
			continue;
		*value++ = '\0';
		*out = (struct label_pair){key, value};
		return true;
	}
	return false;
}

/* `nvidia`, `nvidia-tesla-v100`: of a label for any vendor's. */
static const char *vendor_of_value(const char *value)
{
	static const char *const vendors[] = {"nvidia", "amd", "aws", NULL};

	for (const char *const *vendor = vendors; *vendor; vendor++) {
		size_t len = strlen(*vendor);

		if (text_starts(value, *vendor) &&
		    (!value[len] || value[len] == '-'))
			return *vendor;
	}
	return NULL;
}

const char *node_label_vendor(const char *key, const char *value)
{
	const struct node_label *label = node_label_find(key);
	const struct label_value *known;
	const struct instance_type *type;

	if (!label || label->vendor)
		return label ? label->vendor : NULL;
	if (label->meaning == LABEL_INSTANCE) {
		type = instance_type_find(value);
		return type ? type->vendor : NULL;
	}
	known = label_value_find(key, value);
	if (known)
		return known->vendor;
	return label->meaning == LABEL_PRODUCT ||
			       label->meaning == LABEL_PRESENCE
		       ? vendor_of_value(value)
		       : NULL;
}

/*
 * Chips of a node of a TPU topology: those of a slice on one host; of larger
 * slices with three sides 4. Hosts of flat ones have 4 or 8: -1.
 */
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

int64_t node_label_count(const char *key, const char *value)
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

bool node_label_suits(const struct pod *pod, const struct label_pair *label)
{
	const char *vendor = node_label_vendor(label->key, label->value);

	FOR_EACH_CONTAINER(pod, c)
		if (vendor && c->accelerator &&
		    !text_eq(c->accelerator->vendor, vendor))
			return false;
	return true;
}

const char *node_product_label(const struct pod *pod)
{
	static const char *const labels[][2] = {
		{"amd", "amd.com/gpu.product-name"},
		{"intel", "gpu.intel.com/product"},
		{"google", "cloud.google.com/gke-tpu-accelerator"},
		{"huawei", "accelerator-type"},
		{"nvidia", "nvidia.com/gpu.product"},
	};

	FOR_EACH_CONTAINER(pod, c)
		for (size_t i = 0;
		     c->accelerator && i < sizeof(labels) / sizeof(*labels);
		     i++)
			if (text_eq(c->accelerator->vendor, labels[i][0]))
				return labels[i][1];
	return "node.kubernetes.io/instance-type";
}

bool pod_wants_profiles(const struct pod *pod)
{
	bool found = false;

	FOR_EACH_CONTAINER(pod, c) {
		if (c->accelerator &&
		    !text_starts(c->resource, "nvidia.com/mig-"))
			return false;
		found |= c->accelerator != NULL;
	}
	return found;
}

bool pod_resource_names_model(const struct pod *pod)
{
	FOR_EACH_CONTAINER(pod, c) {
		const char *vendor =
			c->accelerator ? c->accelerator->vendor : NULL;
		const char *name =
			c->resource ? strchr(c->resource, '/') : NULL;

		if (name && strpbrk(name, "0123456789") && vendor &&
		    strcmp(vendor, "nvidia") && strcmp(vendor, "amd") &&
		    strcmp(vendor, "intel"))
			return true;
	}
	return false;
}
