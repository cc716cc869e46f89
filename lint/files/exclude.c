/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements --exclude. Excluded files are not counted, because the user asked
 * for it.
 */
#include "exclude.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/glob.h"
#include "base/text.h"

struct exclude {
	struct glob *glob;
	bool path; /* contains a '/': matches paths, not names */
};

/* Compiles a pattern. "./x/" has the same meaning as "x". */
static struct exclude compile(const char *text, struct err *err)
{
	struct arena arena = ARENA_INIT;
	struct exclude exclude;
	size_t len;

	if (text_starts(text, "./"))
		text += 2;
	len = strlen(text);
	if (len > 1 && text[len - 1] == '/')
		len--;
	text = arena_strndup(&arena, text, len);
	exclude = (struct exclude){glob_compile(text, 0, err),
				   strchr(text, '/') != NULL};
	if (!exclude.glob)
		err_wrap(err, "--exclude %s", text);
	arena_release(&arena);
	return exclude;
}

int excludes_init(struct excludes *excludes, const struct list *patterns,
		  struct err *err)
{
	memset(excludes, 0, sizeof(*excludes));
	for (size_t i = 0; i < patterns->n; i++) {
		struct exclude exclude = compile(patterns->items[i], err);

		if (!exclude.glob)
			return -1;
		*ARRAY_PUSH(excludes->items, excludes->n, excludes->size) =
			exclude;
	}
	return 0;
}

bool excludes_match(const struct excludes *excludes, const char *shown,
		    const char *absolute)
{
	const char *slash = strrchr(shown, '/');
	const char *name = slash ? slash + 1 : shown;

	for (size_t i = 0; i < excludes->n; i++) {
		const struct exclude *e = &excludes->items[i];

		if (glob_match(e->glob, e->path ? shown : name) ||
		    (e->path && glob_match(e->glob, absolute)))
			return true;
	}
	return false;
}

bool excludes_match_any(const struct excludes *excludes, const char *shown,
			const char *absolute)
{
	struct buf part;
	bool hit = false;

	buf_init(&part);
	for (const char *at = shown; *at && !hit;) {
		size_t len = strcspn(at + 1, "/") + 1;

		buf_add(&part, at, len);
		at += len;
		hit = excludes_match(excludes, part.data, *at ? "" : absolute);
	}
	buf_release(&part);
	return hit;
}

void excludes_release(struct excludes *excludes)
{
	for (size_t i = 0; i < excludes->n; i++)
		glob_free(excludes->items[i].glob);
	free(excludes->items);
}
