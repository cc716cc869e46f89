/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the vendor for a node label. The table has the vendor of most keys. For
 * a key of several vendors the value decides: as an instance type, as a known
 * value (gke-accelerator: tpu-...), or by its first word.
 */
#include "kube/scheduling/labels.h"

/* Returns the vendor in values such as `nvidia` or `nvidia-tesla-v100`, for
 * labels of any vendor. */
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
