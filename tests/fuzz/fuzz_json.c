/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the JSON reader on any bytes. An accepted value is printed and read
 * again and must be the same value, with spans that nest and links that agree;
 * a rejected text is reported once, with a span inside of the text.
 *
 * Inputs: 300000
 */
#include "fuzz_reading.h"

static void check_node(const struct node *node)
{
	const struct node *last = NULL;
	uint32_t n = 0;

	if (node->start >= node->end || node->key_start > node->key_end)
		BUG("span %u-%u", node->start, node->end);
	if (node->type != NODE_MAP && node->type != NODE_SEQ) {
		if (node->first || node->str[node->len])
			BUG("scalar");
		return;
	}
	FOR_EACH_CHILD(node, child) {
		if (child->parent != node || child->index != n++)
			BUG("links of child %u", n);
		if (child->start < node->start || child->end > node->end ||
		    child->key_start < node->start ||
		    child->key_end > child->start)
			BUG("child %u is outside", n);
		if (node->type == NODE_MAP && child->key[child->key_len])
			BUG("key");
		check_node(child);
		last = child;
	}
	if (n != node->len || last != node->last)
		BUG("%u children of %u", n, node->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz fuzz;
	const struct node *root;
	uint32_t used, end;

	fuzz_init(&fuzz, (const char *)data, size);
	end = (uint32_t)fuzz.source.len;
	root = json_read(&fuzz.loader, 0, end, &used);
	if (used > end || fuzz.refusals > 1 || (root && fuzz.refusals))
		BUG("used %u, %u refusals", used, fuzz.refusals);
	if (root) {
		check_node(root);
		fuzz_again(root);
	}
	arena_release(&fuzz.arena);
	return 0;
}
