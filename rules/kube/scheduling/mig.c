/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the GPU product of a node label, and its number of GPUs. The product
 * label of GPU Feature Discovery is the driver's name of the GPU with dashes
 * ("NVIDIA-A100-SXM4-80GB"). A product is recognized by the parts of that name,
 * and is unknown if the memory is missing.
 *
 * Source: k8s-device-plugin internal/lm/resource.go (`-SHARED`, `-MIG-`).
 */
#include "kube/scheduling/mig.h"

#include <ctype.h>

#include "base/array.h"
#include "rules/kube/data.h"

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
