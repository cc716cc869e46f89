/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accelerator names: look-ups in the tables made from data/ *.tsv. Exact rows
 * are found by bisection; the few rows that end in '*' are prefixes and
 * tried afterwards.
 */
#include "kube/accelerator.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "data.h"

static bool prefix_matches(const char *pattern, const char *name)
{
	size_t len = strlen(pattern);

	return len && pattern[len - 1] == '*' &&
	       !strncmp(pattern, name, len - 1);
}

static bool row_matches(const char *pattern, const char *name)
{
	return !strcmp(pattern, name) || prefix_matches(pattern, name);
}

/* Index of the row whose first member, a string, equals name; -1: none. */
static long bisect(const void *rows, size_t n, size_t size, const char *name)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const char *const *key =
			(const void *)((const char *)rows + middle * size);
		int order = strcmp(*key, name);

		if (!order)
			return (long)middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return -1;
}

#define BISECT(table, name) bisect(table, table##_n, sizeof(*(table)), name)

static const struct accelerator *known(const char *resource)
{
	long i = BISECT(data_accelerators, resource);

	if (i >= 0)
		return &data_accelerators[i];
	for (size_t r = 0; r < data_accelerators_n; r++)
		if (prefix_matches(data_accelerators[r].name, resource))
			return &data_accelerators[r];
	return NULL;
}

const struct accelerator *
accelerator_find(const struct accelerator_extra *extra, const char *resource)
{
	/* cpu, memory and the like have no domain. */
	if (!resource || !strchr(resource, '/'))
		return NULL;
	for (size_t i = 0; extra && i < extra->n; i++)
		if (row_matches(extra->items[i].name, resource))
			return &extra->items[i];
	return known(resource);
}

bool accelerator_counts(const struct accelerator *accelerator)
{
	return accelerator && accelerator->class != ACCEL_SHARE;
}

bool fabric_resource(const char *resource)
{
	for (size_t i = 0; resource && i < data_fabric_n; i++)
		if (row_matches(data_fabric[i].text, resource))
			return true;
	return false;
}

/* --- names that resemble an accelerator's --------------------------------- */

#define NAME_MAX_ 128

static void lower(const char *from, char to[NAME_MAX_])
{
	size_t i = 0;

	for (; from[i] && i < NAME_MAX_ - 1; i++)
		to[i] = (char)tolower((unsigned char)from[i]);
	to[i] = '\0';
}

static const char *const bare_names[][2] = {
	{"gpu", "nvidia.com/gpu"},
	{"gpus", "nvidia.com/gpu"},
	{"nvidia-gpu", "nvidia.com/gpu"},
	{"nvidia.gpu", "nvidia.com/gpu"},
	{"nvidia", "nvidia.com/gpu"},
	{"tpu", "google.com/tpu"},
	{"alpha.kubernetes.io/nvidia-gpu", "nvidia.com/gpu"},
	{"nvidia/gpu", "nvidia.com/gpu"},
	{"amd/gpu", "amd.com/gpu"},
	{"google/tpu", "google.com/tpu"},
	{"intel/gpu", "gpu.intel.com/i915"},
	{"cloud-tpus.google.com/v2", "google.com/tpu"},
	{"nvidia.com/gpus", "nvidia.com/gpu"},
	{"nvidia.com/gpu-count", "nvidia.com/gpu"},
};

/* The part in front of the '/' must be near to the vendor's own: another
 * domain is another device. */
static bool close_enough(const char *name, const char *to)
{
	const char *a = strchr(name, '/'), *b = strchr(to, '/');
	unsigned limit = strlen(to) < 10 ? 1 : 2;

	if (!a || !b)
		return false;
	/* A suffix of its own (gpu-a100, gpu.a100) is a renamed resource. */
	if (strlen(a) > strlen(b) + 1)
		return false;
	return text_distance(name, to, limit) <= limit;
}

const struct accelerator *
accelerator_resembles(const struct accelerator_extra *extra,
		      const char *resource)
{
	char name[NAME_MAX_];

	/* Most are cpu and memory: fabrics all have a domain. */
	if (!resource || strlen(resource) >= NAME_MAX_ ||
	    (strchr(resource, '/') &&
	     (accelerator_find(extra, resource) || fabric_resource(resource))))
		return NULL;
	lower(resource, name);
	for (size_t i = 0; i < sizeof(bare_names) / sizeof(*bare_names); i++)
		if (!strcmp(bare_names[i][0], name))
			return known(bare_names[i][1]);
	if (!strchr(name, '/'))
		return NULL;
	if (known(name))
		return known(name);
	for (size_t i = 0; i < data_accelerators_n; i++)
		if (!strchr(data_accelerators[i].name, '*') &&
		    close_enough(name, data_accelerators[i].name))
			return &data_accelerators[i];
	return NULL;
}

bool gpu_taint_key(const struct accelerator_extra *extra, const char *key)
{
	for (size_t i = 0; key && extra && i < extra->n; i++)
		if (text_eq(extra->items[i].taint, key))
			return true;
	for (size_t i = 0; key && i < data_accelerators_n; i++)
		if (text_eq(data_accelerators[i].taint, key))
			return true;
	return false;
}

/* --- labels -----------------------------------------------------------------
 */

const struct node_label *node_label_find(const char *key)
{
	long i = key ? BISECT(data_node_labels, key) : -1;

	if (i >= 0)
		return &data_node_labels[i];
	for (size_t r = 0; key && r < data_node_labels_n; r++)
		if (prefix_matches(data_node_labels[r].key, key))
			return &data_node_labels[r];
	return NULL;
}

const struct label_value *label_value_find(const char *key, const char *value)
{
	for (size_t i = 0; i < data_label_values_n; i++)
		if (text_eq(data_label_values[i].key, key) &&
		    text_eq(data_label_values[i].value, value))
			return &data_label_values[i];
	return NULL;
}

bool label_values_known(const char *key)
{
	for (size_t i = 0; i < data_label_values_n; i++)
		if (text_eq(data_label_values[i].key, key))
			return true;
	return false;
}

const char *label_value_nearest(const char *key, const char *value)
{
	const char *names[64];
	size_t n = 0;

	for (size_t i = 0; i < data_label_values_n; i++)
		if (text_eq(data_label_values[i].key, key) &&
		    n < sizeof(names) / sizeof(*names))
			names[n++] = data_label_values[i].value;
	return text_nearest(value, names, n);
}

const struct instance_type *instance_type_find(const char *name)
{
	long i = name ? BISECT(data_instance_types, name) : -1;

	return i < 0 ? NULL : &data_instance_types[i];
}

/* --- MIG
 * ---------------------------------------------------------------------- */

bool mig_profile_on(const char *profile, const char *product)
{
	for (size_t i = 0; i < data_mig_profiles_n; i++)
		if (text_eq(data_mig_profiles[i].profile, profile) &&
		    (!product ||
		     text_eq(data_mig_profiles[i].product, product)))
			return true;
	return false;
}

bool mig_profile_known(const char *profile)
{
	return mig_profile_on(profile, NULL);
}

const char *mig_profile_nearest(const char *profile)
{
	const char *best = NULL;
	unsigned least = 3;

	for (size_t i = 0; profile && i < data_mig_profiles_n; i++) {
		unsigned d = text_distance(
			profile, data_mig_profiles[i].profile, least - 1);

		if (d >= least)
			continue;
		least = d;
		best = data_mig_profiles[i].profile;
	}
	return best;
}

/* --- images
 * --------------------------------------------------------------------- */

static const char *find_part(const char *text, const char *part, size_t len)
{
	if (!len)
		return text;
	while ((text = strchr(text, *part)) && strncmp(text, part, len) != 0)
		text++;
	return text;
}

/*
 * Only '*': anything, '/' included. Between two of them the first place that
 * fits is as good as any later one.
 */
static bool wild_match(const char *pattern, const char *text)
{
	const char *star = strchr(pattern, '*');
	size_t len = star ? (size_t)(star - pattern) : 0;

	if (!star)
		return !strcmp(pattern, text);
	if (strncmp(pattern, text, len) != 0)
		return false;
	text += len;
	for (;;) {
		pattern = star + 1;
		star = strchr(pattern, '*');
		if (!star)
			return text_ends(text, pattern);
		len = (size_t)(star - pattern);
		text = find_part(text, pattern, len);
		if (!text)
			return false;
		text += len;
	}
}

static bool image_in(const char *image, bool gpu)
{
	for (size_t i = 0; image && i < data_images_n; i++)
		if (data_images[i].gpu == gpu &&
		    wild_match(data_images[i].text, image))
			return true;
	return false;
}

bool image_is_gpu_infrastructure(const char *image)
{
	return image_in(image, false);
}

bool image_is_gpu(const char *image)
{
	return image_in(image, true) && !image_is_gpu_infrastructure(image);
}
