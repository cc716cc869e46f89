/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code actions: the fix of each finding, all safe fixes that --fix would apply,
 * and the comment that suppresses a finding, as --add-ignore writes it. A text
 * that cannot be parsed has no actions.
 */
#include <string.h>

#include "base/text.h"
#include "lint/run/lint.h"
#include "session.h"

static const char fix_all[] = "source.fixAll.gpugate";
static const char reason[] = "TODO: say why";

struct action_list {
	struct lsp_session *session;
	struct lsp_document *document;
	const json_t *only; /* requested kinds (NULL: any) */
	uint32_t start, end;
	json_t *out;
};

/* True if the client wants this kind. Kinds form a tree: "source" includes
 * "source.fixAll.gpugate". */
static bool wants(const struct action_list *list, const char *kind)
{
	if (!list->only)
		return true;
	for (size_t i = 0; i < json_array_size(list->only); i++) {
		const char *only =
			json_string_value(json_array_get(list->only, i));

		if (text_starts(kind, only) &&
		    (!kind[strlen(only)] || kind[strlen(only)] == '.' ||
		     !*only))
			return true;
	}
	return false;
}

static json_t *text_edit(const struct lsp_document *d, uint32_t start,
			 uint32_t end, const char *text, size_t len)
{
	return json_pack("{s:o, s:s%}", "range", lsp_range(d, start, end),
			 "newText", text, len);
}

/* Takes over the reference to edits. */
static json_t *workspace_edit(const struct action_list *list, json_t *edits)
{
	const struct lsp_document *d = list->document;

	if (list->session->versions)
		return json_pack("{s:[{s:{s:s, s:I}, s:o}]}", "documentChanges",
				 "textDocument", "uri", d->uri, "version",
				 d->version, "edits", edits);
	return json_pack("{s:{s:o}}", "changes", d->uri, edits);
}

/* Adds an action to list->out, which owns it. */
static json_t *add_action(struct action_list *list, const char *kind,
			  const char *title, const struct lsp_finding *finding,
			  json_t *edits)
{
	json_t *action = json_pack("{s:s, s:s, s:o}", "title", title, "kind",
				   kind, "edit", workspace_edit(list, edits));

	if (finding)
		json_object_set_new(
			action, "diagnostics",
			json_pack("[o]",
				  lsp_diagnostic(list->session, list->document,
						 finding)));
	json_array_append_new(list->out, action);
	return action;
}

/* Returns the difference between the texts as one edit. */
static json_t *difference(const struct lsp_document *d, const struct buf *after)
{
	const struct buf *before = &d->text.bytes;
	struct lsp_same same = lsp_same_ends(before->data, before->len,
					     after->data, after->len);

	return json_pack("[o]", text_edit(d, (uint32_t)same.head,
					  (uint32_t)(before->len - same.tail),
					  after->data + same.head,
					  after->len - same.tail - same.head));
}

/* --- one fix -------------------------------------------------------------- */

static void add_repair(struct action_list *list, const struct lsp_finding *f)
{
	const struct fix_result *repair = f->repair;
	json_t *edits, *action;
	struct buf title;

	if (!repair || !wants(list, "quickfix"))
		return;
	edits = json_array();
	for (unsigned i = 0; i < repair->nedits; i++) {
		const struct fix_edit *e = &repair->edits[i];

		json_array_append_new(edits, text_edit(list->document, e->start,
						       e->end, e->text,
						       strlen(e->text)));
	}
	buf_init(&title);
	buf_addf(&title, "%s [%s]%s", repair->title, f->rule->name,
		 repair->safe ? "" : " (unsafe)");
	action = add_action(list, "quickfix", title.data, f, edits);
	if (repair->safe)
		json_object_set_new(action, "isPreferred", json_true());
	buf_release(&title);
}

/* --- suppression comments ------------------------------------------------- */

/* True if an earlier finding on the line has the same suppression comment. */
static bool is_repeated(const struct lsp_document *d,
			const struct lsp_finding *f)
{
	for (const struct lsp_finding *g = d->findings; g < f; g++)
		if (g->line == f->line && g->rule == f->rule)
			return true;
	return false;
}

static void add_comment(struct action_list *list, const struct lsp_finding *f)
{
	struct lsp_document *d = list->document;
	struct lint *lint = &d->root->pass->lint;
	long file = files_find(&lint->files, d->path);
	struct finding finding = {.rule = f->rule, .place.line = f->line};
	struct add_ignore plan = {
		.reason = reason, .findings = &finding, .n = 1};
	struct policy_path_rule rule;
	struct arena arena = ARENA_INIT;
	struct source source;
	struct buf title;

	if (file < 0 || is_repeated(d, f) || !wants(list, "quickfix"))
		return;
	source_init(&source, &arena, d->path, d->text.bytes.data,
		    d->text.bytes.len);
	plan.source = &source;
	plan.policy =
		job_policy(&lint->job, (size_t)file, &lint->set_path, &rule);
	add_ignore_plan(&plan);
	buf_init(&title);
	buf_addf(&title, "Ignore %s here, with a reason", f->rule->name);
	if (plan.added)
		add_action(list, "quickfix", title.data, f,
			   difference(d, &plan.text));
	buf_release(&title);
	buf_release(&plan.text);
	arena_release(&arena);
}

/* --- all fixes ------------------------------------------------------------ */

static void add_fix_all(struct action_list *list)
{
	struct lsp_document *d = list->document;
	struct lint *lint = &d->root->pass->lint;
	long index = files_find(&lint->files, d->path);
	struct arena arena = ARENA_INIT;
	struct source source;
	struct run_file file;
	struct fixer fixer;
	struct err err = {0};
	struct buf text;

	if (index < 0)
		return;
	source_init(&source, &arena, d->path, d->text.bytes.data,
		    d->text.bytes.len);
	job_file(&lint->job, (size_t)index, &lint->set_path, &file);
	buf_init(&text);
	fixer_init(&fixer, &lint->job.run, false);
	if (fixer_text(&fixer, &file, &source, &text, &err) > 0)
		add_action(list, fix_all, "Apply all safe fixes", NULL,
			   difference(d, &text));
	fixer_release(&fixer);
	buf_release(&text);
	arena_release(&arena);
}

/* --- the list of actions -------------------------------------------------- */

static bool is_touched(const struct action_list *list,
		       const struct lsp_finding *f)
{
	return f->start <= list->end && f->end >= list->start;
}

json_t *lsp_actions(struct lsp_session *session, struct lsp_document *d,
		    const json_t *params)
{
	struct action_list list = {
		.session = session,
		.document = d,
		.only = lsp_member(params, "context.only"),
	};
	bool repairs = list.only != NULL;

	if (!lsp_read_offset(d, lsp_member(params, "range.start"),
			     &list.start) ||
	    !lsp_read_offset(d, lsp_member(params, "range.end"), &list.end))
		return NULL;
	list.out = json_array();
	if (d->broken || d->nchanges || lsp_is_policy(d) || !d->root->pass)
		return list.out;
	for (size_t i = 0; i < d->n; i++) {
		if (!is_touched(&list, &d->findings[i]))
			continue;
		add_repair(&list, &d->findings[i]);
		add_comment(&list, &d->findings[i]);
		repairs |= d->findings[i].repair != NULL;
	}
	if (repairs && wants(&list, fix_all))
		add_fix_all(&list);
	return list.out;
}
