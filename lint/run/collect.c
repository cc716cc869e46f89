/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores findings. Threads begin files in rising order. When COLLECT_MAX
 * findings are stored, they are all in files that were begun already, so that
 * at least COLLECT_MAX findings precede those of any later file, which can be
 * dropped at once. The exact limit is computed from the final counts.
 */
#include "collect.h"

#include <stdlib.h>

#include "base/array.h"

void collection_init(struct collection *c, size_t nfiles,
		     const atomic_size_t *begun)
{
	*c = (struct collection){.nfiles = nfiles, .most = COLLECT_MAX};
	c->files = array_zalloc(nfiles, sizeof(*c->files));
	atomic_init(&c->n, 0);
	atomic_init(&c->end, nfiles);
}

void collection_release(struct collection *c)
{
	free(c->files);
	arena_release(&c->memory.arena);
}

/* Appends copies to the findings of the file. */
static void append(struct collected *of, struct finding *const *findings,
		   size_t n, struct finding_memory *memory)
{
	struct finding *items =
		ARENA_ARRAY(&memory->arena, struct finding, of->n + n);

	if (of->n)
		memcpy(items, of->items, of->n * sizeof(*items));
	for (size_t i = 0; i < n; i++)
		finding_copy(&items[of->n + i], findings[i], memory);
	of->n += (uint32_t)n;
	of->items = items;
}

void collect_file(struct collection *c, uint32_t file,
		  struct finding *const *findings, size_t n,
		  struct finding_memory *memory)
{
	struct collected *of = &c->files[file];
	size_t end = c->nfiles;

	of->alone = true;
	if (file >= atomic_load(&c->end)) {
		of->n = (uint32_t)n;
		return;
	}
	append(of, findings, n, memory);
	if (atomic_fetch_add(&c->n, n) + n >= c->most)
		atomic_compare_exchange_strong(&c->end, &end,
					       atomic_load(c->begun));
}

void collect_set(struct collection *c, uint32_t file,
		 struct finding *const *findings, size_t n)
{
	struct collected *of = &c->files[file];
	bool alone = !of->n;

	for (; c->next < file; c->next++)
		c->before += c->files[c->next].n;
	if ((of->n && !of->items) || c->before >= c->most) {
		of->n += (uint32_t)n;
		of->items = NULL;
		return;
	}
	append(of, findings, n, &c->memory);
	if (!alone)
		findings_sort(of->items, of->n);
}

long collection_cut(struct collection *c)
{
	size_t sum = 0, kept = 0;
	bool cut = false;

	for (size_t i = 0; i < c->nfiles; i++) {
		struct collected *of = &c->files[i];

		if (sum >= c->most) {
			cut |= of->n > 0;
			of->items = NULL;
			of->n = 0;
		} else if (of->n) {
			sum += of->n;
			kept = i;
		}
	}
	c->before = 0;
	return cut ? (long)kept : -1;
}

void finding_uncount(struct run_counts *counts, const struct finding *finding)
{
	if (finding->severity == SEVERITY_ERROR)
		counts->errors--;
	else if (finding->severity == SEVERITY_WARNING)
		counts->warnings--;
	else
		counts->infos--;
}

/* --- findings that repeat one about a runtime of another file ------------- */

/* Returns the number of stored findings. Sets *any if one of them is about a
 * pod or a value of a runtime in some file. */
static size_t count_all(const struct collection *c, bool *any)
{
	size_t n = 0;

	for (size_t i = 0; i < c->nfiles; i++) {
		const struct collected *of = &c->files[i];

		for (size_t f = 0; of->items && f < of->n; f++) {
			const struct finding *one = &of->items[f];

			*any |= one->spec.base_file != NO_FILE ||
				one->value_file != NO_FILE;
			n++;
		}
	}
	return n;
}

static void uncount(struct run_counts *counts, const struct finding *f)
{
	if (f->suppressed)
		counts->suppressed--;
	else
		finding_uncount(counts, f);
	fix_uncount(counts, f);
}

static void drop(struct collected *of, struct run_counts *counts)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < of->n; i++)
		if (of->items[i].repeated)
			uncount(counts, &of->items[i]);
		else
			of->items[n++] = of->items[i];
	of->n = n;
}

void collection_drop_repeated(struct collection *c, struct run_counts *counts)
{
	bool any = false;
	size_t n = count_all(c, &any), at = 0;
	struct finding **all;

	if (!any)
		return;
	all = array_zalloc(n, sizeof(*all));
	for (size_t i = 0; i < c->nfiles; i++)
		for (size_t f = 0; c->files[i].items && f < c->files[i].n; f++)
			all[at++] = &c->files[i].items[f];
	if (findings_repeat(all, n))
		for (size_t i = 0; i < c->nfiles; i++)
			if (c->files[i].items)
				drop(&c->files[i], counts);
	free(all);
}

void text_findings_add(struct text_findings *text,
		       struct finding *const *findings, size_t n)
{
	struct arena *arena = &text->memory.arena;

	for (size_t i = 0; i < n; i++) {
		struct finding *copy = ARENA_NEW(arena, struct finding);

		finding_copy(copy, findings[i], &text->memory);
		*VEC_PUSH(arena, text->items, text->n, text->size) = copy;
	}
}

void text_findings_end(struct text_findings *text)
{
	finding_table_init(&text->table, text->items, text->n);
}

void text_findings_release(struct text_findings *text)
{
	finding_table_release(&text->table);
	arena_release(&text->memory.arena);
	*text = (struct text_findings){0};
}
