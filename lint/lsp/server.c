/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `gpugate lsp`: the table of methods, and the loop that reads messages.
 * Changed documents are linted when no message is waiting, or when a request
 * needs the result. Before that, the server waits as long as the last lint
 * took, but at most LONGEST_WAIT, so that in a large workspace it does not lint
 * after every keystroke.
 */
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "lint/term/log.h"
#include "session.h"

/* Error codes of JSON-RPC 2.0 and LSP 3.17. */
enum {
	PARSE_ERROR = -32700,
	INVALID_REQUEST = -32600,
	METHOD_NOT_FOUND = -32601,
	INVALID_PARAMS = -32602,
	NOT_INITIALIZED = -32002,
	LONGEST_WAIT = 300, /* in milliseconds */
};

static void respond(struct lsp_session *session, const json_t *id,
		    json_t *result)
{
	json_t *message = json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id",
				    id, "result", result);

	if (lsp_write(session->out, message))
		session->ended = true;
}

/* Responds with an error; id is NULL if it could not be parsed. */
static void respond_error(struct lsp_session *session, const json_t *id,
			  int code, const char *text)
{
	json_t *message =
		json_pack("{s:s, s:O?, s:{s:i, s:s}}", "jsonrpc", "2.0", "id",
			  id, "error", "code", code, "message", text);

	if (!id)
		json_object_set_new(message, "id", json_null());
	if (lsp_write(session->out, message))
		session->ended = true;
}

/* --- start and end -------------------------------------------------------- */

static void choose_encoding(struct lsp_session *session, const json_t *params)
{
	const json_t *offered =
		lsp_member(params, "capabilities.general.positionEncodings");

	for (size_t i = 0; i < json_array_size(offered); i++) {
		const char *text =
			json_string_value(json_array_get(offered, i));

		if (text && !strcmp(text, "utf-8"))
			session->encoding = LSP_UTF8;
	}
}

static void each_folder(struct lsp_session *session, const json_t *folders,
			void (*take)(struct lsp_session *, const char *uri))
{
	for (size_t i = 0; i < json_array_size(folders); i++) {
		const char *uri = json_string_value(
			json_object_get(json_array_get(folders, i), "uri"));

		if (uri)
			take(session, uri);
	}
}

static json_t *initialize(struct lsp_session *session, const json_t *params)
{
	const json_t *folders = lsp_member(params, "workspaceFolders");
	const char *root = json_string_value(lsp_member(params, "rootUri"));

	choose_encoding(session, params);
	if (json_array_size(folders))
		each_folder(session, folders, lsp_workspace_add);
	else if (root)
		lsp_workspace_add(session, root);
	session->versions = json_is_true(
		lsp_member(params, "capabilities.workspace.workspaceEdit."
				   "documentChanges"));
	session->watches = json_is_true(lsp_member(
		params, "capabilities.workspace.didChangeWatchedFiles."
			"dynamicRegistration"));
	session->initialized = true;
	return json_pack(
		"{s:{s:s, s:{s:b, s:i, s:b}, s:{s:[s,s]}, s:b, s:{s:[s,s]}, "
		"s:{s:{s:b, s:b}}}, s:{s:s, s:s}}",
		"capabilities", "positionEncoding",
		session->encoding == LSP_UTF8 ? "utf-8" : "utf-16",
		"textDocumentSync", "openClose", true, "change", 2, "save",
		true, "codeActionProvider", "codeActionKinds", "quickfix",
		"source.fixAll.gpugate", "hoverProvider", true,
		"completionProvider", "triggerCharacters", "[", ",",
		"workspace", "workspaceFolders", "supported", true,
		"changeNotifications", true, "serverInfo", "name", "gpugate",
		"version", program_version);
}

static void initialized(struct lsp_session *session, const json_t *params)
{
	json_t *message;

	(void)params;
	if (!session->watches)
		return;
	message = json_pack(
		"{s:s, s:s, s:s, s:{s:[{s:s, s:s, s:{s:[{s:s}]}}]}}", "jsonrpc",
		"2.0", "id", "watch", "method", "client/registerCapability",
		"params", "registrations", "id", "watch", "method",
		"workspace/didChangeWatchedFiles", "registerOptions",
		"watchers", "globPattern", "**/*.{yaml,yml,json}");
	if (lsp_write(session->out, message))
		session->ended = true;
}

static json_t *shut_down(struct lsp_session *session, const json_t *params)
{
	(void)params;
	session->shut_down = true;
	return json_null();
}

static void end(struct lsp_session *session, const json_t *params)
{
	(void)params;
	session->ended = true;
}

/* --- documents ----------------------------------------------------------- */

static void did_open(struct lsp_session *session, const json_t *params)
{
	const json_t *item = lsp_member(params, "textDocument");
	const json_t *text = json_object_get(item, "text");
	const char *uri = json_string_value(json_object_get(item, "uri"));
	struct lsp_document *document;

	if (!uri || !json_is_string(text))
		return;
	document = lsp_document_open(session, uri, json_string_value(text),
				     json_string_length(text));
	if (document)
		document->version =
			json_integer_value(json_object_get(item, "version"));
}

static void change(struct lsp_document *document, const json_t *item)
{
	const json_t *range = json_object_get(item, "range");
	const json_t *text = json_object_get(item, "text");
	uint32_t start = 0, end = (uint32_t)document->text.bytes.len;

	if (!json_is_string(text))
		return;
	if (range &&
	    (!lsp_read_offset(document, json_object_get(range, "start"),
			      &start) ||
	     !lsp_read_offset(document, json_object_get(range, "end"), &end)))
		return;
	if (end < start)
		end = start;
	lsp_document_replace(document, start, end, json_string_value(text),
			     json_string_length(text));
}

static void did_change(struct lsp_session *session, const json_t *params)
{
	struct lsp_document *document = lsp_document_of(session, params);
	const json_t *changes = json_object_get(params, "contentChanges");

	if (!document)
		return;
	for (size_t i = 0; i < json_array_size(changes); i++)
		change(document, json_array_get(changes, i));
	lsp_document_look(document);
	document->version =
		json_integer_value(lsp_member(params, "textDocument.version"));
}

static void did_close(struct lsp_session *session, const json_t *params)
{
	struct lsp_document *document = lsp_document_of(session, params);

	if (!document)
		return;
	lsp_publish_none(session, document->uri);
	lsp_document_close(session, document);
}

/* Reads everything again, because settings or other manifests have changed. */
static void files_changed(struct lsp_session *session, const json_t *params)
{
	(void)params;
	for (struct lsp_root *r = session->roots; r; r = r->next)
		r->dirty = true;
}

static void folders_changed(struct lsp_session *session, const json_t *params)
{
	each_folder(session, lsp_member(params, "event.removed"),
		    lsp_workspace_remove);
	each_folder(session, lsp_member(params, "event.added"),
		    lsp_workspace_add);
}

/* --- requests ------------------------------------------------------------- */

static json_t *ask(struct lsp_session *session, const json_t *params,
		   json_t *(*answer)(struct lsp_document *, uint32_t))
{
	struct lsp_document *document;
	uint32_t offset;

	document = lsp_document_of(session, params);
	if (!document)
		return json_null();
	if (!lsp_read_offset(document, json_object_get(params, "position"),
			     &offset))
		return NULL;
	return answer(document, offset);
}

static json_t *hover(struct lsp_session *session, const json_t *params)
{
	return ask(session, params, lsp_hover);
}

static json_t *complete(struct lsp_session *session, const json_t *params)
{
	return ask(session, params, lsp_complete);
}

static json_t *code_actions(struct lsp_session *session, const json_t *params)
{
	struct lsp_document *document = lsp_document_of(session, params);

	return document ? lsp_actions(session, document, params) : json_null();
}

/* --- the loop ------------------------------------------------------------ */

/*
 * The methods. A request returns its result, or NULL if its parameters are
 * wrong.
 */
static const struct method {
	const char *name;
	json_t *(*request)(struct lsp_session *session, const json_t *params);
	void (*notification)(struct lsp_session *session, const json_t *params);
} methods[] = {
	{"initialize", initialize, NULL},
	{"initialized", NULL, initialized},
	{"shutdown", shut_down, NULL},
	{"exit", NULL, end},
	{"textDocument/didOpen", NULL, did_open},
	{"textDocument/didChange", NULL, did_change},
	{"textDocument/didSave", NULL, files_changed},
	{"textDocument/didClose", NULL, did_close},
	{"textDocument/codeAction", code_actions, NULL},
	{"textDocument/hover", hover, NULL},
	{"textDocument/completion", complete, NULL},
	{"workspace/didChangeWatchedFiles", NULL, files_changed},
	{"workspace/didChangeWorkspaceFolders", NULL, folders_changed},
};

static const struct method *find_method(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		if (!strcmp(methods[i].name, name))
			return &methods[i];
	return NULL;
}

static void handle_request(struct lsp_session *session, const json_t *id,
			   const struct method *method, const json_t *params)
{
	bool is_first = method && method->request == initialize;
	json_t *result;

	if (!session->initialized && !is_first) {
		respond_error(session, id, NOT_INITIALIZED,
			      "the server is not initialized");
	} else if (session->shut_down || (session->initialized && is_first)) {
		respond_error(session, id, INVALID_REQUEST,
			      session->shut_down
				      ? "the server is shutting down"
				      : "the server is already initialized");
	} else if (!method || !method->request) {
		respond_error(session, id, METHOD_NOT_FOUND, "no such request");
	} else {
		if (lsp_is_stale(session))
			lsp_refresh(session);
		result = method->request(session, params);
		if (result)
			respond(session, id, result);
		else
			respond_error(session, id, INVALID_PARAMS,
				      "the parameters do not fit the request");
	}
}

static void handle(struct lsp_session *session, const json_t *message)
{
	const json_t *id = json_object_get(message, "id");
	const char *name =
		json_string_value(json_object_get(message, "method"));
	const json_t *params = json_object_get(message, "params");
	const struct method *method = name ? find_method(name) : NULL;
	bool valid_id = !id || json_is_string(id) || json_is_integer(id);

	/* The message is a reply to a request of this server. */
	if (!name && id && valid_id &&
	    (json_object_get(message, "result") ||
	     json_object_get(message, "error")))
		return;
	if (!name || !valid_id)
		respond_error(session, valid_id ? id : NULL, INVALID_REQUEST,
			      "not a message of JSON-RPC");
	else if (id)
		handle_request(session, id, method, params);
	else if (method && method->notification &&
		 ((session->initialized && !session->shut_down) ||
		  method->notification == end))
		method->notification(session, params);
}

static void handle_message(struct lsp_session *session, const char *body,
			   size_t len)
{
	json_t *message = json_loadb(body, len, JSON_ALLOW_NUL, NULL);

	if (message)
		handle(session, message);
	else
		respond_error(session, NULL, PARSE_ERROR,
			      "the message cannot be parsed as JSON");
	json_decref(message);
}

static int wait_for(const struct lsp_session *session)
{
	int longest = 0;

	for (struct lsp_root *r = session->roots; r; r = r->next)
		if (r->dirty && r->milliseconds > longest)
			longest = r->milliseconds;
	return longest < LONGEST_WAIT ? longest : LONGEST_WAIT;
}

void lsp_serve(struct lsp_session *session)
{
	const char *body;
	size_t len;
	int rc;

	while (!session->ended) {
		if (lsp_is_stale(session) &&
		    !lsp_pending(&session->input, wait_for(session))) {
			lsp_refresh(session);
			continue;
		}
		rc = lsp_read(&session->input, &body, &len);
		if (rc < 0)
			respond_error(
				session, NULL, PARSE_ERROR,
				"a message without a header, or with one that is "
				"too long");
		if (rc <= 0)
			return;
		handle_message(session, body, len);
	}
}

int lsp_command(struct options *options)
{
	struct lsp_session session = {.options = options, .out = STDOUT_FILENO};

	lsp_input_init(&session.input, STDIN_FILENO);
	lsp_serve(&session);
	lsp_session_release(&session);
	return session.shut_down ? 0 : 1;
}
