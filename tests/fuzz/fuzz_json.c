/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON reader on any bytes. What it accepts is printed and read again
 * and must be the same value, with spans that nest and links that agree;
 * what it refuses is refused once, with a span inside of the text.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "doc/load.h"
#include "doc/node.h"
#include "doc/source.h"

struct fuzz {
	struct arena arena;
	struct source source;
	struct loader loader;
	unsigned refusals;
};

static const struct load_limits limits = {
	.bytes = 1 << 20,
	.depth = 100,
	.nodes = 10000,
};

static void check_issue(void *context, const struct load_issue *issue)
{
	struct fuzz *fuzz = context;

	if (issue->start > issue->end || issue->end > fuzz->source.len)
		BUG("span %u-%u", issue->start, issue->end);
	if (!issue->text || !*issue->text)
		BUG("no text");
	/* Positions must be computable for whatever is reported. */
	source_position(&fuzz->source, issue->start);
	source_position(&fuzz->source, issue->end);
	fuzz->refusals += issue->kind == LOAD_SYNTAX;
}

static void fuzz_init(struct fuzz *fuzz, const char *text, size_t len)
{
	*fuzz = (struct fuzz){.arena = ARENA_INIT};
	source_init(&fuzz->source, &fuzz->arena, "fuzz", text, len);
	fuzz->loader.source = &fuzz->source;
	fuzz->loader.limits = &limits;
	fuzz->loader.arena = &fuzz->arena;
	fuzz->loader.issue = check_issue;
	fuzz->loader.context = fuzz;
}

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

static void check_again(const struct node *root)
{
	struct fuzz fuzz;
	struct buf out;
	const struct node *again;
	uint32_t used;

	buf_init(&out);
	node_json(root, &out);
	fuzz_init(&fuzz, out.data, out.len);
	again = json_read(&fuzz.loader, 0, (uint32_t)out.len, &used);
	if (!again || used != out.len || !node_same(root, again))
		BUG("not the same when read again: %s", out.data);
	arena_release(&fuzz.arena);
	buf_release(&out);
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
		check_again(root);
	}
	arena_release(&fuzz.arena);
	return 0;
}
