/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a reader on a text, and checks the result for the fuzzers of both
 * readers: an error has a message and a span inside the text, and an accepted
 * value is the same after it is printed as JSON and read again.
 */
#ifndef FUZZ_READING_H
#define FUZZ_READING_H

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

static const struct load_limits fuzz_limits = {
	.bytes = 1 << 20,
	.depth = 100,
	.nodes = 10000,
	.documents = 1000,
	.directives = 64,
	.flow_work = 1000000,
};

static inline void fuzz_issue(void *context, const struct load_issue *issue)
{
	struct fuzz *fuzz = context;

	if (issue->start > issue->end || issue->end > fuzz->source.len)
		BUG("span %u-%u", issue->start, issue->end);
	if (!issue->text || !*issue->text)
		BUG("no text");
	for (const char *p = issue->text; *p; p++)
		if ((unsigned char)*p < ' ')
			BUG("control character in \"%s\"", issue->text);
	/* Positions of all issues must be computable. */
	source_position(&fuzz->source, issue->start);
	source_position(&fuzz->source, issue->end);
	fuzz->refusals += issue->kind == LOAD_SYNTAX;
}

/* Prepares a loader for the text. The caller must release the arena. */
static inline void fuzz_init(struct fuzz *fuzz, const char *text, size_t len)
{
	*fuzz = (struct fuzz){.arena = ARENA_INIT};
	source_init(&fuzz->source, &fuzz->arena, "fuzz", text, len);
	loader_init(&fuzz->loader, &fuzz->source, &fuzz_limits, &fuzz->arena);
	fuzz->loader.issue = fuzz_issue;
	fuzz->loader.context = fuzz;
}

static inline void fuzz_again(const struct node *root)
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

#endif
