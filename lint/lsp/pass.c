/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a lint with the same steps as the command, but with its own report and
 * with the documents' texts in place of files. Its memory stays until the next
 * lint, so that requests about its findings (rules, fixes) can be answered.
 */
#include "session.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/path.h"
#include "base/text.h"
#include "lint/run/lint.h"

struct lsp_collector {
	struct lsp_session *session;
	struct lsp_pass *pass;
	struct lsp_collected {
		struct lsp_document *document;
		struct lsp_finding *findings;
		size_t n;
	} * items;
	size_t n, size;
};

/* --- findings ------------------------------------------------------------ */

static struct lsp_position position_of(enum lsp_encoding encoding,
				       struct source *source, uint32_t offset)
{
	struct position at = source_position(source, offset);
	size_t len;
	const char *line = source_line(source, at.line, &len);
	size_t before = (size_t)(source->text + offset - line);

	return (struct lsp_position){
		at.line - 1,
		lsp_units(encoding, line, before < len ? before : len)};
}

static void copy_related(struct lsp_collector *c,
			 const struct report_file *file,
			 const struct finding *from, struct lsp_finding *to)
{
	struct arena *arena = &c->pass->arena;
	struct lsp_related *items =
		ARENA_ARRAY(arena, struct lsp_related, from->nrelated);

	to->related = items;
	for (size_t i = 0; i < from->nrelated; i++) {
		const struct related *r = &from->related[i];
		struct source *source =
			file->source(file->context, r->place.file);
		enum lsp_encoding encoding = c->session->encoding;

		if (!source)
			continue;
		items[to->nrelated++] = (struct lsp_related){
			arena_strdup(arena, file->path_of(file->context,
							  r->place.file)),
			position_of(encoding, source, r->place.start),
			position_of(encoding, source, r->place.end),
			arena_strdup(arena, r->message)};
	}
}

/* Returns NULL for a fix that cannot be applied. */
static const struct fix_result *copy_repair(struct arena *arena,
					    const struct fix_result *from)
{
	struct fix_result *to;
	struct fix_edit *edits;

	if (!from || from->masked || *from->refused || !from->nedits)
		return NULL;
	to = ARENA_NEW(arena, struct fix_result);
	edits = ARENA_ARRAY(arena, struct fix_edit, from->nedits);
	for (unsigned i = 0; i < from->nedits; i++) {
		edits[i] = from->edits[i];
		edits[i].text = arena_strdup(arena, edits[i].text);
	}
	*to = *from;
	to->title = arena_strdup(arena, from->title);
	to->edits = edits;
	return to;
}

static void copy_finding(struct lsp_collector *c,
			 const struct report_file *file,
			 const struct finding *from, struct lsp_finding *to)
{
	struct arena *arena = &c->pass->arena;
	struct source *source = file->source(file->context, file->index);
	uint32_t bom = source ? source->bom : 0;

	*to = (struct lsp_finding){
		.rule = from->rule,
		.severity = from->severity,
		.start = from->place.start + bom,
		.end = from->place.end + bom,
		.line = from->place.line,
		.message = arena_strdup(arena, from->message),
		.help = arena_strdup(arena, finding_remedy(from)),
		.repair = copy_repair(arena, from->repair),
	};
	copy_related(c, file, from, to);
}

static void collect(void *state, const struct report_file *file,
		    const struct finding *findings, size_t n)
{
	struct lsp_collector *c = state;
	struct lsp_document *document =
		lsp_document_by_path(c->session, file->path);
	struct lsp_finding *kept;
	struct fold fold = {0};
	size_t nkept = 0;

	if (!document)
		return;
	/* A document shows its own findings, so folding ends with it. */
	if (!c->session->options->show_all) {
		fold.fail_on = c->session->options->fail_on;
		fold_count(&fold, findings, n);
		findings = fold_findings(&fold, &c->pass->arena, findings, &n);
	}
	kept = ARENA_ARRAY(&c->pass->arena, struct lsp_finding, n);
	for (size_t i = 0; i < n; i++)
		if (!findings[i].suppressed)
			copy_finding(c, file, &findings[i], &kept[nkept++]);
	*ARRAY_PUSH(c->items, c->n, c->size) =
		(struct lsp_collected){document, kept, nkept};
}

static void reported(void *state, const struct report_summary *summary)
{
	struct lsp_collector *c = state;

	(void)summary;
	c->pass->reported = true;
}

static const struct report_format report_lsp = {
	.name = "lsp", .whole = true, .file = collect, .end = reported};

/* --- files to lint -------------------------------------------------------- */

static int manifest_entry(const struct dirent *entry)
{
	return path_is_manifest(entry->d_name);
}

/* Adds the manifests that are directly in the folder. */
static void add_folder(struct options *options, const char *folder)
{
	struct dirent **entries;
	int n = scandir(folder, &entries, manifest_entry, alphasort);
	struct buf path;

	buf_init(&path);
	for (int i = 0; i < n; i++) {
		buf_reset(&path);
		path_join(folder, entries[i]->d_name, &path);
		if (entries[i]->d_type == DT_REG ||
		    entries[i]->d_type == DT_UNKNOWN)
			list_add(&options->arena, &options->paths,
				 arena_strdup(&options->arena, path.data));
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	buf_release(&path);
}

static struct lsp_pass *prepare(const struct lsp_session *session,
				const struct lsp_root *root)
{
	struct lsp_pass *pass = array_zalloc(1, sizeof(*pass));
	struct options *options = &pass->options;

	*options = *session->options;
	options->arena = (struct arena){0};
	options->paths = (struct list){0};
	options->quiet = 1;
	options->force_exclude = true;
	pass->lint.options = options;
	pass->lint.listed = !root->workspace;
	if (root->workspace)
		list_add(&options->arena, &options->paths, root->path);
	else
		add_folder(options, root->path);
	return pass;
}

static void give_texts(const struct lsp_session *session,
		       const struct lsp_root *root, struct lsp_pass *pass)
{
	struct lint_text *texts;
	size_t n = 0;

	for (struct lsp_document *d = session->documents; d; d = d->next)
		n += d->root == root;
	texts = ARENA_ARRAY(&pass->arena, struct lint_text, n);
	pass->lint.texts = texts;
	for (struct lsp_document *d = session->documents; d; d = d->next)
		if (d->root == root)
			texts[pass->lint.ntexts++] = (struct lint_text){
				d->path, d->good.data, d->good.len};
}

/* Drops the document's findings, and the edits that lead to the good text,
 * because the new findings refer to that text. */
static void forget_findings(struct lsp_document *d)
{
	d->findings = NULL;
	d->n = 0;
	d->nchanges -= d->ngood;
	if (d->nchanges)
		memmove(d->changes, d->changes + d->ngood,
			d->nchanges * sizeof(*d->changes));
	d->ngood = 0;
}

static void take_over(struct lsp_session *session, struct lsp_root *root,
		      const struct lsp_collector *c)
{
	for (struct lsp_document *d = session->documents; d; d = d->next)
		if (d->root == root)
			forget_findings(d);
	for (size_t i = 0; i < c->n; i++) {
		c->items[i].document->findings = c->items[i].findings;
		c->items[i].document->n = c->items[i].n;
	}
	lsp_pass_free(root->pass);
	root->pass = c->pass;
}

void lsp_pass_free(struct lsp_pass *pass)
{
	if (!pass)
		return;
	lint_close(&pass->lint);
	arena_release(&pass->arena);
	arena_release(&pass->options.arena);
	free(pass);
}

void lsp_root_lint(struct lsp_session *session, struct lsp_root *root)
{
	struct lsp_collector c = {.session = session};
	struct outputs *outputs;
	int64_t start = progress_clock();

	root->dirty = false;
	c.pass = prepare(session, root);
	give_texts(session, root, c.pass);
	outputs = &c.pass->lint.outputs;
	*ARRAY_PUSH(outputs->items, outputs->n, outputs->size) =
		(struct output){.format = &report_lsp, .state = &c};
	if (!lint_open(&c.pass->lint))
		lint_run(&c.pass->lint);
	if (c.pass->reported)
		take_over(session, root, &c);
	else
		lsp_pass_free(c.pass);
	free(c.items);
	root->milliseconds = (int)(progress_clock() - start);
}
