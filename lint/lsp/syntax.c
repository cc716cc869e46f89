/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles documents that are incomplete while the user types. If a text cannot
 * be parsed, an earlier text that could be parsed is linted instead, and the
 * syntax errors of the new one are reported. Templates are passed to the lint,
 * which recognizes them.
 */
#include "session.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"

static void note_issue(void *context, const struct load_issue *issue)
{
	bool *broken = context;

	*broken |= issue->kind == LOAD_SYNTAX;
}

static bool is_broken(const struct buf *text)
{
	struct arena file = ARENA_INIT, trees = ARENA_INIT;
	struct source source;
	struct loader loader;
	struct doc doc;
	bool broken = false;

	source_init(&source, &file, "", text->data, text->len);
	loader_init(&loader, &source, &load_limits_default, &trees);
	loader.issue = note_issue;
	loader.context = &broken;
	while (loader_next(&loader, &doc) > 0 && !broken)
		arena_reset(&trees);
	arena_release(&file);
	arena_release(&trees);
	return broken;
}

static bool has_markup(const struct buf *text)
{
	return text_find(text->data, text->len, "{{") ||
	       text_find(text->data, text->len, "{%");
}

void lsp_document_look(struct lsp_document *d)
{
	const struct buf *text = &d->text.bytes;
	bool broken = is_broken(text);

	d->stale = true;
	d->broken = broken && d->has_good && !has_markup(text);
	d->mistakes = NULL;
	d->nmistakes = 0;
	if (d->broken)
		return;
	d->root->dirty = true;
	d->has_good = !broken;
	d->ngood = d->nchanges;
	buf_reset(&d->good);
	buf_add(&d->good, text->data, text->len);
}

/* --- syntax errors -------------------------------------------------------- */

static void keep_findings(void *context, uint32_t file,
			  struct finding **findings, size_t n)
{
	struct lsp_document *d = context;
	size_t size = 0;

	(void)file;
	for (size_t i = 0; i < n; i++) {
		const struct finding *f = findings[i];

		if (strcmp(f->rule->name, "invalid-syntax") != 0)
			continue;
		*VEC_PUSH(&d->arena, d->mistakes, d->nmistakes, size) =
			(struct lsp_finding){
				.rule = f->rule,
				.severity = f->severity,
				.start = f->place.start,
				.end = f->place.end,
				.line = f->place.line,
				.message = arena_strdup(&d->arena, f->message),
				.help = ""};
	}
}

void lsp_document_mistakes(struct lsp_document *d)
{
	struct lint *lint = d->root->pass ? &d->root->pass->lint : NULL;
	long index = lint ? files_find(&lint->files, d->path) : -1;
	struct arena trees = ARENA_INIT;
	struct run_options options;
	struct run_file file;
	struct source source;
	struct run run;

	arena_reset(&d->arena);
	d->mistakes = NULL;
	d->nmistakes = 0;
	if (index < 0)
		return;
	options = lint->job.run;
	options.render_repairs = false;
	options.sink = keep_findings;
	options.context = d;
	job_file(&lint->job, (size_t)index, &lint->set_path, &file);
	source_init(&source, &d->arena, d->path, d->text.bytes.data,
		    d->text.bytes.len);
	file.source = &source;
	run_init(&run, &options);
	run_file(&run, &file, &trees, NULL, NULL);
	run_release(&run);
	arena_release(&trees);
}
