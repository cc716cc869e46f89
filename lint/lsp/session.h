/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the language server: the documents that the client has open, the
 * roots that they belong to, and the last lint of each root. There is one
 * thread; all work is done between two messages. A document that cannot be
 * parsed keeps its last findings: the lint uses the last text that could be
 * parsed, and positions are adjusted to the edits since.
 */
#ifndef LINT_LSP_SESSION_H
#define LINT_LSP_SESSION_H

#include <jansson.h>

#include "lint/run/lint.h"
#include "protocol.h"

struct lsp_related {
	const char *path; /* absolute */
	struct lsp_position start, end;
	const char *message;
};

/* A finding of a document. Positions are byte offsets in the linted text. */
struct lsp_finding {
	const struct rule *rule; /* valid until the next lint */
	enum severity severity;
	uint32_t start, end;
	uint32_t line; /* from 1 */
	const char *message, *help;
	/* the edits that fix the finding (NULL: gpugate cannot fix it) */
	const struct fix_result *repair;
	const struct lsp_related *related;
	size_t nrelated;
};

/* One lint of a root. Its arena contains the findings of its documents. */
struct lsp_pass {
	struct options options;
	struct lint lint;
	struct arena arena;
	bool reported; /* it reported findings */
};

/* A folder of the workspace, or the folder of a document outside of it. */
struct lsp_root {
	char *path;
	bool workspace;
	bool dirty; /* must be linted again */
	struct lsp_pass *pass;
	int milliseconds; /* duration of the last lint */
	struct lsp_root *next;
};

struct lsp_document {
	char *uri, *path;
	json_int_t version;
	struct lsp_root *root;
	struct lsp_text text;
	bool stale;  /* the document's diagnostics must be published again */
	bool broken; /* the text cannot be parsed, unlike good */
	bool has_good;
	struct buf good; /* the text for the next lint */
	/* Edits since the text that was linted. The first ngood of them turn
	 * that text into good. */
	struct lsp_change *changes;
	size_t nchanges, changes_size, ngood;
	struct arena arena; /* memory of the syntax errors */
	struct lsp_finding *mistakes;
	size_t nmistakes;
	struct lsp_finding *findings; /* findings, in the arena of the pass */
	size_t n;
	struct lsp_document *next;
};

struct lsp_session {
	struct options *options;
	struct lsp_input input;
	int out; /* file descriptor for messages */
	enum lsp_encoding encoding;
	bool initialized, shut_down, ended;
	bool versions; /* the client supports versions of documents in edits */
	bool watches;  /* the client can watch files */
	struct lsp_root *roots;
	struct lsp_document *documents;
};

/* server.c: processes messages until the input or the session ends. */
void lsp_serve(struct lsp_session *session);

/* session.c: */
struct lsp_document *lsp_document_by_path(const struct lsp_session *session,
					  const char *path);
/* Opens a document; one that is open already is replaced. Returns NULL if the
 * URI is not that of a file. */
struct lsp_document *lsp_document_open(struct lsp_session *session,
				       const char *uri, const char *data,
				       size_t len);
void lsp_document_close(struct lsp_session *session,
			struct lsp_document *document);
void lsp_document_replace(struct lsp_document *document, uint32_t start,
			  uint32_t end, const char *data, size_t len);
void lsp_workspace_add(struct lsp_session *session, const char *uri);
void lsp_workspace_remove(struct lsp_session *session, const char *uri);
void lsp_session_release(struct lsp_session *session);
bool lsp_is_policy(const struct lsp_document *document);
/* Stores the problems of a policy in mistakes. */
void lsp_policy_mistakes(struct lsp_document *document);
/* Returns the rules that apply to the document. */
struct rule_set lsp_rules(const struct lsp_document *document);

/* syntax.c: lsp_document_look() chooses the text to lint,
 * lsp_document_mistakes() stores the findings of a broken document's text in
 * mistakes. */
void lsp_document_look(struct lsp_document *document);
void lsp_document_mistakes(struct lsp_document *document);

/* pass.c: lints the root and stores the findings in its documents. If that
 * fails, the documents keep their findings. */
void lsp_root_lint(struct lsp_session *session, struct lsp_root *root);
void lsp_pass_free(struct lsp_pass *pass);

/* publish.c: */
json_t *lsp_range(const struct lsp_document *document, uint32_t start,
		  uint32_t end);
/* Returns the finding as a diagnostic, at its position in the current text. */
json_t *lsp_diagnostic(const struct lsp_session *session,
		       const struct lsp_document *document,
		       const struct lsp_finding *finding);
void lsp_finding_place(const struct lsp_document *document,
		       const struct lsp_finding *finding, uint32_t *start,
		       uint32_t *end);
void lsp_publish_none(struct lsp_session *session, const char *uri);
/* Lints changed documents and publishes the findings. */
void lsp_refresh(struct lsp_session *session);
bool lsp_is_stale(const struct lsp_session *session);

/* action.c, hover.c: return the results of requests, or NULL if the parameters
 * are wrong. */
json_t *lsp_actions(struct lsp_session *session, struct lsp_document *document,
		    const json_t *params);
json_t *lsp_hover(struct lsp_document *document, uint32_t offset);
json_t *lsp_complete(struct lsp_document *document, uint32_t offset);

/* Functions that read the parameters of requests and notifications. */

/* Returns the member at a path "a.b.c", or NULL. The reference is borrowed. */
json_t *lsp_member(const json_t *json, const char *dotted);
/* Returns the open document that textDocument.uri names, or NULL. */
struct lsp_document *lsp_document_of(const struct lsp_session *session,
				     const json_t *params);
/* Converts a Position to a byte offset in the text. Returns false if it is
 * malformed. */
bool lsp_read_offset(const struct lsp_document *document, const json_t *json,
		     uint32_t *offset);

#endif
