/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses quantities from any bytes. An accepted quantity has a canonical text
 * that reads back as the same value and is canonical itself. Rounding changes
 * the value by less than one unit. Adding and then subtracting a second
 * quantity gives the first one.
 *
 * Inputs: 2000000
 */
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "kube/quantity.h"

#define NANO 1000000000

/*
 * Checks the text of a quantity. A binary quantity beyond the range of int64_t,
 * for example a product, has no exact text and is not checked.
 */
static void check_text(struct quantity q)
{
	char text[QUANTITY_TEXT], again[QUANTITY_TEXT];
	struct quantity read;

	quantity_text(q, text);
	if (strchr(text, 'i') &&
	    (quantity_value(q) == INT64_MAX || quantity_value(q) == INT64_MIN))
		return;
	if (!quantity_parse(text, strlen(text), &read) || quantity_cmp(q, read))
		BUG("'%s' is another value when read again", text);
	/* A number of bytes that is not a multiple of Ki is printed without a
	 * suffix, so its format is not visible. */
	if (q.format != QUANTITY_BINARY &&
	    strcmp(quantity_text(read, again), text))
		BUG("'%s' becomes '%s'", text, again);
}

static void check_value(struct quantity q)
{
	int64_t value = quantity_value(q);
	__int128 error = q.nano - (__int128)value * NANO;

	if (value == INT64_MAX || value == INT64_MIN)
		return;
	if (q.nano < 0)
		error = -error;
	if (error > 0 || error <= -NANO)
		BUG("value %lld", (long long)value);
	if (quantity_is_integer(q) != !error)
		BUG("integer %lld", (long long)value);
}

static void check_sum(struct quantity a, struct quantity b)
{
	const __int128 half = (__int128)1 << 125;
	struct quantity sum = quantity_add(a, b);

	if (quantity_cmp(sum, quantity_add(b, a)))
		BUG("order of a sum");
	if (a.nano > -half && a.nano < half && b.nano > -half &&
	    b.nano < half && quantity_cmp(quantity_sub(sum, b), a))
		BUG("sum and difference");
	check_text(sum);
	check_text(quantity_mul(a, quantity_value(b)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const char *cut = size ? memchr(text, '|', size) : NULL;
	size_t len = cut ? (size_t)(cut - text) : size;
	struct quantity a, b = quantity_from(0);
	struct node node = {.type = NODE_STRING, .str = text};
	bool good = quantity_parse(text, len, &a);

	node.len = (uint32_t)len;
	if (good && node_quantity(&node, &b) != QUANTITY_OK)
		BUG("no quantity in a manifest");
	if (cut)
		quantity_parse(cut + 1, size - len - 1, &b);
	if (!good)
		return 0;
	check_text(a);
	check_value(a);
	check_sum(a, b);
	return 0;
}
