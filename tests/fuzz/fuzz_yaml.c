/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loader on any bytes, as a file. Whatever documents come out must have
 * spans inside of the text, links that agree, keys that are there once, and a
 * value that is good JSON; a document is refused once or not at all.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
	.documents = 1000,
	.directives = 64,
	.flow_work = 1000000,
};

static void check_issue(void *context, const struct load_issue *issue)
{
	struct fuzz *fuzz = context;

	if (issue->start > issue->end || issue->end > fuzz->source.len)
		BUG("span %u-%u", issue->start, issue->end);
	if (!issue->text || !*issue->text)
		BUG("no text");
	for (const char *p = issue->text; *p; p++)
		if ((unsigned char)*p < ' ')
			BUG("control character in \"%s\"", issue->text);
	source_position(&fuzz->source, issue->start);
	source_position(&fuzz->source, issue->end);
	fuzz->refusals += issue->kind == LOAD_SYNTAX;
}

static void fuzz_init(struct fuzz *fuzz, const char *text, size_t len)
{
	*fuzz = (struct fuzz){.arena = ARENA_INIT};
	source_init(&fuzz->source, &fuzz->arena, "fuzz", text, len);
	loader_init(&fuzz->loader, &fuzz->source, &limits, &fuzz->arena);
	fuzz->loader.issue = check_issue;
	fuzz->loader.context = fuzz;
}

/* Spans of aliases lie elsewhere, before the node. */
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

static void check_json(const struct node *root)
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
	unsigned number = 0;
	uint32_t end = 0;
	struct doc doc;

	fuzz_init(&fuzz, (const char *)data, size);
	while (loader_next(&fuzz.loader, &doc)) {
		if (doc.number != ++number || doc.start < end ||
		    doc.start >= doc.end || doc.end > fuzz.source.len)
			BUG("document %u: %u-%u", doc.number, doc.start,
			    doc.end);
		if (fuzz.refusals != !doc.root)
			BUG("%u refusals", fuzz.refusals);
		fuzz.refusals = 0;
		end = doc.start;
		if (!doc.root)
			continue;
		check_node(&fuzz, doc.root);
		check_json(doc.root);
	}
	arena_release(&fuzz.arena);
	return 0;
}
