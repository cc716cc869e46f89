/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applies splices and verifies the result: the new text is parsed as a file,
 * and every document must have its expected content. Callers verify the text
 * before they write a file, so that a defect of this code cannot break a
 * manifest.
 */
#include "base/err.h"
#include "doc/splice.h"

void splices_apply(const char *text, size_t len,
		   const struct splice_list *splices, struct buf *out)
{
	uint32_t at = 0;

	for (size_t i = 0; i < splices->n; i++) {
		const struct splice *splice = &splices->items[i];

		if (splice->start < at || splice->end < splice->start ||
		    splice->end > len)
			BUG("splice %zu: %u-%u behind %u of %zu", i,
			    splice->start, splice->end, at, len);
		buf_add(out, text + at, splice->start - at);
		buf_add(out, splice->text, splice->len);
		at = splice->end;
	}
	buf_add(out, text + at, len - at);
}

/* A text that is parsed again: the one before or the one after the edits. */
struct rereading {
	struct arena arena;
	struct source source;
	struct loader loader;
	unsigned refusals;
};

static void count_refusals(void *context, const struct load_issue *issue)
{
	struct rereading *reading = context;

	reading->refusals += issue->kind == LOAD_SYNTAX;
}

static void reading_start(struct rereading *reading, const char *name,
			  const char *text, size_t len)
{
	*reading = (struct rereading){.arena = ARENA_INIT};
	/* The file's byte order mark was removed already; another one would be
	 * text. */
	source_init(&reading->source, &reading->arena, name, "", 0);
	reading->source.text = text;
	reading->source.len = len;
	loader_init(&reading->loader, &reading->source, &load_limits_default,
		    &reading->arena);
	reading->loader.issue = count_refusals;
	reading->loader.context = reading;
}

static int compare(struct rereading *before, struct rereading *after,
		   const struct splice_expect *expect, size_t n,
		   struct err *err)
{
	struct doc old, new;

	for (;;) {
		int more = loader_next(&before->loader, &old);
		const struct node *wanted = old.root;

		if (loader_next(&after->loader, &new) != more)
			return err_set(err, 0,
				       "the file would have a different number "
				       "of documents");
		if (!more)
			break;
		if (n && expect->number == old.number) {
			wanted = expect++->root;
			n--;
		}
		if (wanted ? !node_same(wanted, new.root) : !!new.root)
			return err_set(err, 0,
				       "document %u would not read as intended",
				       new.number);
	}
	if (n || before->refusals != after->refusals)
		return err_set(err, 0, "the file would not read as before");
	return 0;
}

int splices_check(const struct source *before, const struct buf *after,
		  const struct splice_expect *expect, size_t n, struct err *err)
{
	struct rereading old, new;
	int status;

	reading_start(&old, before->name, before->text, before->len);
	reading_start(&new, before->name, after->data, after->len);
	status = compare(&old, &new, expect, n, err);
	arena_release(&old.arena);
	arena_release(&new.arena);
	return status;
}
