/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manages documents and roots, and finds the documents and positions that
 * messages name. The root of a document is the innermost folder of the
 * workspace that contains it, or else its own folder.
 */
#include "session.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "protocol.h"

/* --- roots --------------------------------------------------------------- */

static struct lsp_root *root_find(const struct lsp_session *session,
				  const char *path)
{
	struct lsp_root *root = session->roots;

	while (root && strcmp(root->path, path) != 0)
		root = root->next;
	return root;
}

static struct lsp_root *root_get(struct lsp_session *session, const char *path)
{
	struct lsp_root *root = root_find(session, path);

	if (root)
		return root;
	root = array_zalloc(1, sizeof(*root));
	root->path = strdup(path);
	if (!root->path)
		OUT_OF_MEMORY();
	root->next = session->roots;
	session->roots = root;
	return root;
}

static struct lsp_root *root_of(struct lsp_session *session, const char *path)
{
	struct lsp_root *best = NULL;
	const char *slash = strrchr(path, '/');
	struct buf folder;

	for (struct lsp_root *r = session->roots; r; r = r->next)
		if (r->workspace && path_is_below(r->path, path) &&
		    (!best || strlen(r->path) > strlen(best->path)))
			best = r;
	if (best)
		return best;
	buf_init(&folder);
	buf_add(&folder, path, slash > path ? (size_t)(slash - path) : 1);
	best = root_get(session, folder.data);
	buf_release(&folder);
	return best;
}

/* Finds the root of each document again, after a change of the workspace. */
static void assign_roots(struct lsp_session *session)
{
	for (struct lsp_document *d = session->documents; d; d = d->next) {
		struct lsp_root *root = root_of(session, d->path);

		if (root == d->root)
			continue;
		d->root = root;
		d->findings = NULL;
		d->n = 0;
		root->dirty = true;
	}
	for (struct lsp_root *r = session->roots; r; r = r->next)
		r->dirty = true;
}

static void workspace(struct lsp_session *session, const char *uri, bool add)
{
	struct lsp_root *root = NULL;
	struct buf path;

	buf_init(&path);
	if (lsp_uri_path(uri, &path))
		root = add ? root_get(session, path.data)
			   : root_find(session, path.data);
	if (root) {
		root->workspace = add;
		assign_roots(session);
	}
	buf_release(&path);
}

void lsp_workspace_add(struct lsp_session *session, const char *uri)
{
	workspace(session, uri, true);
}

void lsp_workspace_remove(struct lsp_session *session, const char *uri)
{
	workspace(session, uri, false);
}

/* --- documents ----------------------------------------------------------- */

static struct lsp_document *
lsp_document_by_uri(const struct lsp_session *session, const char *uri)
{
	struct lsp_document *d = session->documents;

	while (d && strcmp(d->uri, uri) != 0)
		d = d->next;
	return d;
}

struct lsp_document *lsp_document_by_path(const struct lsp_session *session,
					  const char *path)
{
	struct lsp_document *d = session->documents;

	while (d && strcmp(d->path, path) != 0)
		d = d->next;
	return d;
}

struct lsp_document *lsp_document_open(struct lsp_session *session,
				       const char *uri, const char *data,
				       size_t len)
{
	struct lsp_document *d = lsp_document_by_uri(session, uri);
	struct buf path;

	buf_init(&path);
	if (d)
		lsp_document_close(session, d);
	if (!lsp_uri_path(uri, &path)) {
		buf_release(&path);
		return NULL;
	}
	d = array_zalloc(1, sizeof(*d));
	d->uri = strdup(uri);
	if (!d->uri)
		OUT_OF_MEMORY();
	d->path = path.data;
	d->root = root_of(session, d->path);
	buf_init(&d->good);
	lsp_text_init(&d->text, session->encoding, data, len);
	lsp_document_look(d);
	d->next = session->documents;
	session->documents = d;
	return d;
}

static void free_document(struct lsp_document *d)
{
	free(d->uri);
	free(d->path);
	free(d->changes);
	buf_release(&d->good);
	lsp_text_release(&d->text);
	arena_release(&d->arena);
	free(d);
}

void lsp_document_close(struct lsp_session *session, struct lsp_document *d)
{
	struct lsp_document **at = &session->documents;

	while (*at != d)
		at = &(*at)->next;
	*at = d->next;
	d->root->dirty = true;
	free_document(d);
}

/*
 * Replaces a part of the text. The common start and end of both texts are not
 * replaced, so that findings there stay valid.
 */
void lsp_document_replace(struct lsp_document *d, uint32_t start, uint32_t end,
			  const char *data, size_t len)
{
	struct lsp_same same = lsp_same_ends(d->text.bytes.data + start,
					     end - start, data, len);

	start += (uint32_t)same.head;
	end -= (uint32_t)same.tail;
	data += same.head;
	len -= same.head + same.tail;
	*ARRAY_PUSH(d->changes, d->nchanges, d->changes_size) =
		(struct lsp_change){start, end, (uint32_t)len};
	lsp_text_replace(&d->text, start, end, data, len);
}

void lsp_session_release(struct lsp_session *session)
{
	while (session->documents)
		lsp_document_close(session, session->documents);
	while (session->roots) {
		struct lsp_root *root = session->roots;

		session->roots = root->next;
		lsp_pass_free(root->pass);
		free(root->path);
		free(root);
	}
	lsp_input_release(&session->input);
}

/* Reads parameters of messages. Parameters of a wrong type count as absent. */

json_t *lsp_member(const json_t *json, const char *dotted)
{
	struct buf key;

	buf_init(&key);
	while (json && *dotted) {
		size_t len = strcspn(dotted, ".");

		buf_reset(&key);
		buf_add(&key, dotted, len);
		json = json_object_get(json, key.data);
		dotted += len + (dotted[len] == '.');
	}
	buf_release(&key);
	return (json_t *)(uintptr_t)json;
}

struct lsp_document *lsp_document_of(const struct lsp_session *session,
				     const json_t *params)
{
	const char *uri =
		json_string_value(lsp_member(params, "textDocument.uri"));

	return uri ? lsp_document_by_uri(session, uri) : NULL;
}

static bool read_number(const json_t *json, uint32_t *number)
{
	json_int_t value = json_integer_value(json);

	*number = value > INT_MAX ? INT_MAX : (uint32_t)value;
	return json_is_integer(json) && value >= 0;
}

bool lsp_read_offset(const struct lsp_document *document, const json_t *json,
		     uint32_t *offset)
{
	struct lsp_position p;

	if (!read_number(json_object_get(json, "line"), &p.line) ||
	    !read_number(json_object_get(json, "character"), &p.character))
		return false;
	*offset = lsp_offset(&document->text, p);
	return true;
}

/*
 * Reports the problems of policies that are open in the editor, as `gpugate
 * lint` prints them. Linting uses the saved file.
 */

static const struct rule policy_rule = {
	.name = "policy",
	.summary = "a problem in the policy; see gpugate-policy(5)",
};

bool lsp_is_policy(const struct lsp_document *d)
{
	return text_ends(d->path, "/.gpugate.yaml") ||
	       (text_find(d->text.bytes.data, d->text.bytes.len,
			  "apiVersion: gpugate.dev/") &&
		text_find(d->text.bytes.data, d->text.bytes.len,
			  "kind: Policy"));
}

static void keep_problem(struct lsp_document *d, struct source *source,
			 const struct policy_problem *p, size_t *size)
{
	size_t len, at = 0;
	const char *line = source_line(source, p->line ? p->line : 1, &len);

	for (unsigned i = 1; i < p->column && at < len; i++) {
		size_t bytes = utf8_length(line + at, len - at);

		at += bytes ? bytes : 1;
	}
	*VEC_PUSH(&d->arena, d->mistakes, d->nmistakes,
		  *size) = (struct lsp_finding){
		.rule = &policy_rule,
		.severity = p->warning ? SEVERITY_WARNING : SEVERITY_ERROR,
		.start = (uint32_t)(line + at - source->text),
		.end = (uint32_t)(line + len - source->text),
		.line = p->line,
		.message = arena_strdup(&d->arena, p->text),
		.help = ""};
}

void lsp_policy_mistakes(struct lsp_document *d)
{
	struct options options = {.isolated = true};
	struct policies policies;
	struct policy_problems problems = {0};
	struct policy_text text = {d->path, d->text.bytes.data,
				   d->text.bytes.len};
	struct source source;
	size_t size = 0;

	arena_reset(&d->arena);
	d->mistakes = NULL;
	d->nmistakes = 0;
	source_init(&source, &d->arena, d->path, text.text, text.len);
	if (!policies_init(&policies, &options, "/"))
		policies_check(&policies, &text, &problems);
	for (size_t i = 0; i < problems.n; i++)
		if (text_eq(problems.items[i].file, d->path))
			keep_problem(d, &source, &problems.items[i], &size);
	policy_problems_release(&problems);
	policies_release(&policies);
}

struct rule_set lsp_rules(const struct lsp_document *d)
{
	struct lint *lint = d->root->pass ? &d->root->pass->lint : NULL;
	long file = lint ? files_find(&lint->files, d->path) : -1;
	struct policy_path_rule rule;

	if (file < 0)
		return program_rules();
	return *policy_rules(
		job_policy(&lint->job, (size_t)file, &lint->set_path, &rule));
}
