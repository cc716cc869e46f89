/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A known value is more specific than its key (gke-accelerator: tpu-...), an
 * instance type more than the label with it.
 */
#include "kube/scheduling/labels.h"

/* The vendor in `nvidia`, `nvidia-tesla-v100`: values of a label for any
 * vendor. */
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
