/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Publishes findings as diagnostics. Their positions are adjusted to the edits
 * since the text that was linted; a document that can be parsed was
 * linted after all edits.
 */
#include <string.h>

#include "lint/term/program.h"
#include "protocol.h"
#include "session.h"

static json_t *position_json(struct lsp_position p)
{
	return json_pack("{s:i, s:i}", "line", (int)p.line, "character",
			 (int)p.character);
}

json_t *lsp_range(const struct lsp_document *d, uint32_t start, uint32_t end)
{
	return json_pack("{s:o, s:o}", "start",
			 position_json(lsp_position(&d->text, start)), "end",
			 position_json(lsp_position(&d->text, end)));
}

void lsp_finding_place(const struct lsp_document *d,
		       const struct lsp_finding *f, uint32_t *start,
		       uint32_t *end)
{
	bool is_new = d->nmistakes && f >= d->mistakes &&
		      f < d->mistakes + d->nmistakes;
	size_t n = is_new ? 0 : d->nchanges;

	*start = lsp_shift(d->changes, n, f->start);
	*end = lsp_shift(d->changes, n, f->end);
}

static json_t *related_json(const struct lsp_session *session,
			    const struct lsp_related *r)
{
	const struct lsp_document *open =
		lsp_document_by_path(session, r->path);
	struct buf uri;
	json_t *json;

	buf_init(&uri);
	if (open)
		buf_adds(&uri, open->uri);
	else
		lsp_path_uri(r->path, &uri);
	json = json_pack("{s:{s:s, s:{s:o, s:o}}, s:s}", "location", "uri",
			 uri.data, "range", "start", position_json(r->start),
			 "end", position_json(r->end), "message", r->message);
	buf_release(&uri);
	return json;
}

/* Returns a DiagnosticSeverity: 1 error, 2 warning, 3 information. */
static int severity_number(enum severity severity)
{
	return severity == SEVERITY_ERROR     ? 1
	       : severity == SEVERITY_WARNING ? 2
					      : 3;
}

json_t *lsp_diagnostic(const struct lsp_session *session,
		       const struct lsp_document *d,
		       const struct lsp_finding *f)
{
	uint32_t start, end;
	json_t *json, *related;
	struct buf message;

	lsp_finding_place(d, f, &start, &end);
	buf_init(&message);
	buf_adds(&message, f->message);
	if (*f->help)
		buf_addf(&message, "\n%s", f->help);
	json = json_pack("{s:o, s:i, s:s, s:s, s:s}", "range",
			 lsp_range(d, start, end), "severity",
			 severity_number(f->severity), "code", f->rule->name,
			 "source", "gpugate", "message", message.data);
	buf_reset(&message);
	if (docs_add_page(&message, f->rule))
		json_object_set_new(json, "codeDescription",
				    json_pack("{s:s}", "href", message.data));
	buf_release(&message);
	if (!f->nrelated)
		return json;
	related = json_array();
	for (size_t i = 0; i < f->nrelated; i++)
		json_array_append_new(related,
				      related_json(session, &f->related[i]));
	json_object_set_new(json, "relatedInformation", related);
	return json;
}

static void notify(struct lsp_session *session, const char *method,
		   json_t *params)
{
	json_t *message = json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0",
				    "method", method, "params", params);

	if (lsp_write(session->out, message))
		session->ended = true;
}

void lsp_publish_none(struct lsp_session *session, const char *uri)
{
	notify(session, "textDocument/publishDiagnostics",
	       json_pack("{s:s, s:[]}", "uri", uri, "diagnostics"));
}

/* True if the text at the finding was overwritten. */
static bool is_gone(const struct lsp_document *d, const struct lsp_finding *f)
{
	uint32_t start, end;

	lsp_finding_place(d, f, &start, &end);
	return start == end && f->start != f->end;
}

static void publish(struct lsp_session *session, struct lsp_document *d)
{
	json_t *all = json_array();

	for (size_t i = 0; i < d->nmistakes; i++)
		json_array_append_new(
			all, lsp_diagnostic(session, d, &d->mistakes[i]));
	for (size_t i = 0; i < d->n && !lsp_is_policy(d); i++)
		if (!is_gone(d, &d->findings[i]))
			json_array_append_new(
				all,
				lsp_diagnostic(session, d, &d->findings[i]));
	notify(session, "textDocument/publishDiagnostics",
	       json_pack("{s:s, s:I, s:o}", "uri", d->uri, "version",
			 d->version, "diagnostics", all));
}

/* --- publishing ----------------------------------------------------------- */

static bool has_documents(const struct lsp_session *session,
			  const struct lsp_root *root)
{
	for (struct lsp_document *d = session->documents; d; d = d->next)
		if (d->root == root)
			return true;
	return false;
}

bool lsp_is_stale(const struct lsp_session *session)
{
	for (struct lsp_document *d = session->documents; d; d = d->next)
		if (d->stale || d->root->dirty)
			return true;
	return false;
}

void lsp_refresh(struct lsp_session *session)
{
	for (struct lsp_root *r = session->roots; r; r = r->next) {
		if (!r->dirty || !has_documents(session, r))
			continue;
		lsp_root_lint(session, r);
		for (struct lsp_document *d = session->documents; d;
		     d = d->next)
			d->stale |= d->root == r;
	}
	for (struct lsp_document *d = session->documents; d; d = d->next) {
		if (!d->stale)
			continue;
		d->stale = false;
		if (lsp_is_policy(d))
			lsp_policy_mistakes(d);
		else if (d->broken)
			lsp_document_mistakes(d);
		publish(session, d);
	}
}
