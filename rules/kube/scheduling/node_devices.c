/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads accelerators from labels of nodes, and computes the largest number of
 * them from the values of instance-type and count labels that a pod's
 * selectors allow. Terms of node affinity are alternatives, so the largest
 * number counts. data/instance_types.tsv lists the accelerators of instance
 * types.
 */
#include "kube/scheduling/node_devices.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "rules/kube/data.h"

/*
 * Finds the vendor for a node label. The table has the vendor of most keys. For
 * a key of several vendors the value decides: as an instance type, as a known
 * value (gke-accelerator: tpu-...), or by its first word.
 */

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

/*
 * Finds the GPU product of a node label, and its number of GPUs. The product
 * label of GPU Feature Discovery is the driver's name of the GPU with dashes
 * ("NVIDIA-A100-SXM4-80GB"). A product is recognized by the parts of that name,
 * and is unknown if the memory is missing.
 *
 * Source: k8s-device-plugin internal/lm/resource.go (`-SHARED`, `-MIG-`).
 */

const struct mig_profile *mig_profiles(size_t *n)
{
	*n = data_mig_profiles_n;
	return data_mig_profiles;
}

/* True if the text is a part of s: between dashes, or after the last one. */
static bool has_part(const char *s, const char *text, size_t len)
{
	for (const char *at = strchr(s, '-'); at; at = strchr(at + 1, '-'))
		if (!strncmp(at + 1, text, len) &&
		    (!at[1 + len] || at[1 + len] == '-'))
			return true;
	return false;
}

static bool names_product(const char *label, const char *product)
{
	const char *memory = strchr(product, '-');

	if (!memory)
		return has_part(label, product, strlen(product));
	return has_part(label, product, (size_t)(memory - product)) &&
	       has_part(label, memory + 1, strlen(memory + 1));
}

static const char *product_of_gfd(const char *label)
{
	const char *product = "";

	/* With strategy "single", the label already describes slices. The
	 * larger RTX PRO 5000 has other profiles. */
	if (strstr(label, "-MIG-") || strstr(label, "-72GB"))
		return NULL;
	for (size_t i = 0; i < data_mig_profiles_n; i++) {
		/* The rows of a product are adjacent. */
		if (text_eq(data_mig_profiles[i].product, product))
			continue;
		product = data_mig_profiles[i].product;
		if (names_product(label, product))
			return product;
	}
	return NULL;
}

const char *mig_product_of(const char *key, const char *value)
{
	const struct node_label *label = node_label_find(key);
	const struct label_value *known = label_value_find(key, value);
	const struct instance_type *type;

	if (known)
		return known->product;
	if (text_eq(key, "nvidia.com/gpu.product"))
		return product_of_gfd(value);
	if (!label || label->meaning != LABEL_INSTANCE)
		return NULL;
	type = instance_type_find(value);
	return type ? type->product : NULL;
}

/* Returns the product with which a part of a label's value begins, in upper or
 * lower case, or NULL. */
static const struct product_size *product_at(const char *part)
{
	for (size_t i = 0; i < data_products_n; i++) {
		const char *product = data_products[i].product;
		size_t len = strlen(product);

		if (!strncasecmp(part, product, len) &&
		    (!part[len] || part[len] == '-'))
			return &data_products[i];
	}
	return NULL;
}

int mig_product_most(const char *value)
{
	const struct product_size *product = NULL;

	for (const char *at = strchr(value, '-'); at && !product;
	     at = strchr(at + 1, '-'))
		if (tolower((unsigned char)at[1]) == 'g')
			product = product_at(at + 1);
	/* With time-slicing or MIG, a node offers more devices than it has
	 * GPUs. */
	if (!product || text_ends(value, "-SHARED") || strstr(value, "-MIG-"))
		return -1;
	return product->most;
}

/* Adds a choice, sorted by key, because the order in the map is arbitrary. */
static void add_choice(struct mig_choices *all, struct mig_choice one)
{
	const size_t most = ARRAY_SIZE(all->items);

	for (size_t i = 0; i < all->n; i++)
		if (strcmp(one.key, all->items[i].key) < 0) {
			struct mig_choice behind = all->items[i];

			all->items[i] = one;
			one = behind;
		}
	if (all->n < most)
		all->items[all->n++] = one;
}

struct mig_choices mig_choices_of(const struct pod *pod)
{
	struct node_needs needs = pod_node_needs(pod);
	struct mig_choices all = {0};

	for (size_t i = 0; i < needs.n; i++) {
		const struct node_need *need = &needs.items[i];
		const struct node *value = node_need_value(need, 0);
		struct mig_choice one = {need->key, value, NULL};

		/* Another of the ORed terms may match instead. */
		if ((need->term && needs.terms > 1) ||
		    !node_need_requires(need) || !node_str(value) ||
		    node_need_value(need, 1))
			continue;
		one.product = mig_product_of(need->key, node_str(value));
		if (one.product)
			add_choice(&all, one);
	}
	return all;
}

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
