/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic on numbers that may be unknown. A placeholder makes an amount
 * unknown. Its number is then a lower bound. A negative number in a manifest
 * counts as 0.
 */
#include "kube/quantity.h"

#include <stdlib.h>
#include <string.h>

/* Far above the numbers in any cluster, and far below the point at which sums
 * in a rule could overflow. */
static const int64_t amount_most = 1000000000000;

static int64_t bounded(int64_t n)
{
	return n > amount_most ? amount_most : n;
}

struct amount amount_of(int64_t n)
{
	return (struct amount){.n = bounded(n)};
}

struct amount amount_add(struct amount a, struct amount b)
{
	struct amount sum = {.unknown = a.unknown || b.unknown};

	sum.n = bounded(a.n + b.n);
	return sum;
}

struct amount amount_mul(struct amount a, struct amount b)
{
	struct amount product = {.unknown = a.unknown || b.unknown,
				 .replaced = a.replaced || b.replaced};

	/* A known zero makes the product zero, whatever the other factor is. */
	if ((!a.n && !a.unknown) || (!b.n && !b.unknown))
		return amount_of(0);
	if (__builtin_mul_overflow(a.n, b.n, &product.n))
		product.n = amount_most;
	product.n = bounded(product.n);
	return product;
}

struct amount amount_max(struct amount a, struct amount b)
{
	return (struct amount){.n = a.n > b.n ? a.n : b.n,
			       .unknown = a.unknown || b.unknown};
}

struct amount amount_min(struct amount a, struct amount b)
{
	return (struct amount){.n = a.n < b.n ? a.n : b.n,
			       .unknown = a.unknown || b.unknown};
}

struct amount amount_int(const struct node *node, int64_t unset)
{
	int64_t n;

	if (node_is_unset(node))
		return amount_of(unset);
	if (!node_int(node, &n))
		return (struct amount){.unknown = true};
	return amount_of(n < 0 ? 0 : n);
}

struct amount amount_share(const struct node *node, struct amount n,
			   int percent)
{
	const char *text = node_str(node);
	char *end = NULL;
	long value;

	if (node_is_unset(node))
		value = percent;
	else if (text)
		value = strtol(text, &end, 10);
	else
		return amount_int(node, 0);
	if (end && (end == text || strcmp(end, "%")))
		return (struct amount){.unknown = true};
	if (value < 0)
		value = 0;
	if (value > 1000000 || n.n > INT64_MAX / 1000001)
		return (struct amount){.unknown = true};
	return (struct amount){.n = (n.n * value + 99) / 100,
			       .unknown = n.unknown};
}
