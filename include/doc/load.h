/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads files into documents, and finds placeholders in them. Files are read
 * as kubectl does: kubectl's splitter for the stream, sigs.k8s.io/yaml for the
 * values (JSON if the first byte that is not white space is '{' or '['). Text
 * that kubectl drops or rejects although it is readable is read anyway and
 * reported as LOAD_DISAGREEMENT.
 */
#ifndef DOC_LOAD_H
#define DOC_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "doc/budget.h"
#include "doc/node.h"
#include "doc/source.h"

/* Limits, checked before memory is allocated. Exceeding one is reported as
 * LOAD_SYNTAX. */
struct load_limits {
	size_t bytes;	     /* of one file */
	uint32_t depth;	     /* nesting of one document */
	uint32_t nodes;	     /* of one document, alias copies included */
	uint32_t documents;  /* of one file */
	uint32_t directives; /* %YAML, %TAG lines of one document */
	/* of one file: depth in [ ] and { }, added up over all events */
	uint64_t flow_work;
};

extern const struct load_limits load_limits_default;

enum load_issue_kind {
	LOAD_SYNTAX,	    /* rejected: the document was not parsed */
	LOAD_DISAGREEMENT,  /* parsers differ on it, see text */
	LOAD_DUPLICATE_KEY, /* the last value counts */
};

/* A problem of the file. A template is not a problem; lint skips and counts the
 * file. */
struct load_issue {
	enum load_issue_kind kind;
	uint32_t start, end; /* bytes in the source */
	const char *text; /* lower case, no full stop; allocated in the arena */
};

struct doc {
	struct source *source;
	unsigned number;     /* from 1, counting every chunk with content */
	uint32_t start, end; /* bytes of the chunk in the source */
	bool json;	     /* the tree was read from these bytes of JSON */
	bool placeholders;   /* some node has NODE_UNKNOWN */
	bool abridged;	     /* a comment (`# ...`) marks an omitted part */
	const struct node *root; /* NULL if empty or rejected (see issues) */
	/*
	 * For YAML in a string of another document: the string's node and that
	 * document. Findings are placed at the string.
	 */
	const struct node *host_node;
	const struct doc *host;
};

struct loader {
	struct source *source;
	const struct load_limits *limits;
	struct arena *arena; /* memory of trees and issues; the caller may reset
				it between documents */
	uint32_t next;	     /* offset of the next chunk */
	uint32_t yaml;	     /* start of the line where YAML follows JSON */
	unsigned number;
	bool json, done;
	bool costly; /* a document was rejected for its number of nodes or its
			cost */
	uint64_t flow_work; /* used so far */
	/* The JSON was rejected although kubectl accepts it: too_large for a
	 * number beyond double, not_utf8 for invalid UTF-8. */
	bool too_large, not_utf8;
	void (*issue)(void *context, const struct load_issue *issue);
	/* True to leave the value of this key, just read in map, out of the
	 * tree. The parser then only searches for the end of the value. */
	bool (*skip)(void *context, const struct node *map, const char *key,
		     size_t len);
	/* The node_tag_bit() bits of the keys for which skip() is called, or 0
	 * to call it for all keys. Other keys may share a bit. */
	uint64_t skip_tags;
	/* json_read()'s copy of the text up to own_end, in the source's arena;
	 * it contains the strings of the trees. */
	char *own;
	uint32_t own_end;
	void *context;
	/* The sum of the squared lengths of all maps and lists in the last JSON
	 * that was read, and of the work for their keys. */
	uint64_t breadth;
	bool long_text; /* that JSON may have a key or text over WORK_TEXT */
};

void loader_init(struct loader *loader, struct source *source,
		 const struct load_limits *limits, struct arena *arena);
/* Returns 1 for the next document, 0 at the end of the file. Empty chunks are
 * skipped. */
int loader_next(struct loader *loader, struct doc *doc);

/*
 * yaml_read() and json_read() read one document, bytes start..end of the
 * source. They return NULL and report an issue if it is rejected, NULL alone if
 * it is empty.
 */
struct node *yaml_read(struct loader *loader, uint32_t start, uint32_t end);
/*
 * Prepares a loader for the documents in text, which is a string of a document;
 * they spend the arena's budget. name is the name of the source in messages.
 * Returns false if no budget is left. embedded_next() returns false at the end,
 * and for a document that exceeds the budget.
 */
bool embedded_init(struct loader *loader, struct arena *arena, const char *name,
		   const char *text, size_t len);
bool embedded_next(struct loader *loader, struct doc *doc);
/* Returns the document in a string, allocated in the arena; NULL if it is
 * rejected or empty, or exceeds the budget. */
const struct node *yaml_in(struct arena *arena, const struct node *text);
/* True if the string contains one document that is not a mapping, or that is
 * rejected; false if it is empty, a template, or exceeds the budget. */
bool yaml_is_not_map(struct arena *arena, const struct node *text);
/* Sets *used to the offset after the value, because another value may follow
 * without a separator. Changes the loader's copy of the text, so that a loader
 * can read each byte only once. */
struct node *json_read(struct loader *loader, uint32_t start, uint32_t end,
		       uint32_t *used);

/*
 * Values that a later step fills in: `${JOB}`, `$GPUS`, `<BUCKET>`,
 * `{{inputs.parameters.x}}`, `PLACEHOLDER_X`, `FILLED BY THE OPERATOR`. Only
 * files contain placeholders; at admission every value is literal.
 */

/*
 * True if the text contains a placeholder. `$(VAR)` does not count: the kubelet
 * expands it.
 */
bool placeholder_in(const char *text, size_t len);
/*
 * Sets NODE_UNKNOWN on every scalar whose value is a placeholder, and
 * doc->placeholders; sets doc->abridged if a comment line begins with three
 * dots.
 *
 * Strings under command and args are not marked; only the placeholder in them
 * is unknown. An env entry's value and a block scalar are marked only if they
 * are nothing but one placeholder. Returns the number of marked nodes, without
 * those that come from an alias or a merge.
 */
unsigned placeholder_mark(struct doc *doc);
/*
 * True if the file looks like a template (Go, Helm, Jinja): it contains control
 * markup ({{- if, {{ .Values, {{ include, {% ...) where YAML expects structure.
 * Markup in quoted and block strings is left to later readers, except markup
 * that only Helm knows (.Values, .Release, include "...").
 */
bool template_in(const char *text, size_t len);

/*
 * Accounting that keeps the readers within the limits of their loader and the
 * budget of its arena.
 */

/* Return the number of nodes, and the flow work, that the next document may
 * use. */
uint32_t cost_nodes(const struct loader *loader);
uint64_t cost_flow_work(const struct loader *loader);
/* Charges to the budget the nodes and the flow work that a reader used. */
void cost_spend(struct loader *loader, uint64_t nodes, uint64_t flow_work);

#endif
