/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the loader on any bytes as a file. Every resulting document must have
 * spans inside of the text, links that agree, unique keys, and a value that is
 * valid JSON; a document is rejected at most once.
 *
 * Inputs: 22000
 */
#include "fuzz_reading.h"

/* Returns true for a copy of an anchored or merged value: its span is outside
 * of its parent. */
static bool is_elsewhere(const struct node *node)
{
	return node->flags & (NODE_ALIASED | NODE_MERGED);
}

static void check_child(const struct node *node, const struct node *child)
{
	if (child->parent != node)
		BUG("parent of child %u", child->index);
	if (node->type == NODE_MAP) {
		if (!child->key || child->key[child->key_len])
			BUG("key of child %u", child->index);
		if (strlen(child->key) == child->key_len &&
		    node_get(node, child->key) != child)
			BUG("key \"%s\" is there twice", child->key);
	}
	if (is_elsewhere(node) || is_elsewhere(child))
		return;
	if (child->start < node->start || child->end > node->end ||
	    child->key_start < node->start || child->key_end > child->start)
		BUG("child %u is outside", child->index);
}

static void check_node(const struct fuzz *fuzz, const struct node *node)
{
	const struct node *last = NULL;
	uint32_t n = 0;

	if (node->start > node->end || node->end > fuzz->source.len ||
	    node->key_start > node->key_end)
		BUG("span %u-%u", node->start, node->end);
	if (node->type != NODE_MAP && node->type != NODE_SEQ) {
		if (node->first || !node->str || node->str[node->len])
			BUG("scalar");
		return;
	}
	for (const struct node *child = node->first; child;
	     child = child->next) {
		if (child->index != n++)
			BUG("index of child %u", n);
		check_child(node, child);
		check_node(fuzz, child);
		last = child;
	}
	if (n != node->len || last != node->last)
		BUG("%u children of %u", n, node->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz fuzz;
	unsigned number = 0;
	uint32_t end = 0;
	struct doc doc;

	fuzz_init(&fuzz, (const char *)data, size);
	while (loader_next(&fuzz.loader, &doc)) {
		/*
		 * The document `null` of a stream of JSON values takes a
		 * number, but is not returned.
		 */
		if (doc.number <= number || doc.start < end ||
		    doc.start >= doc.end || doc.end > fuzz.source.len)
			BUG("document %u: %u-%u", doc.number, doc.start,
			    doc.end);
		if (fuzz.refusals != !doc.root)
			BUG("%u refusals", fuzz.refusals);
		fuzz.refusals = 0;
		number = doc.number;
		end = doc.start;
		if (!doc.root)
			continue;
		check_node(&fuzz, doc.root);
		fuzz_again(doc.root);
	}
	arena_release(&fuzz.arena);
	return 0;
}
