/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doc_dump [--json] [--issues] FILE...
 * Prints the documents that the readers find in files, for the comparisons with
 * Go's readers. A document is one line, its value as compact JSON, or "error
 * LINE:COL: text" if it is rejected. With several FILEs, a line "== FILE"
 * precedes each. --json forces the JSON reader on the whole file, where text
 * after the value is an error. --issues also prints "note LINE:COL: text" lines
 * for issues that reject nothing.
 * doc_dump [...] --stream
 * Reads texts from stdin, each after its length in four bytes, the lowest
 * first. A line "==" ends the answer to each.
 * Exit status: 0 all read, 1 something was rejected, 2 a file cannot be opened.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "doc/load.h"
#include "doc/node.h"
#include "doc/source.h"

struct dump {
	struct source *source;
	struct buf out;
	bool issues;  /* print harmless issues too */
	bool refused; /* the current document was rejected */
	int status;
};

static void dump_line(struct dump *dump, const char *word,
		      const struct load_issue *issue)
{
	struct position at = source_position(dump->source, issue->start);

	buf_addf(&dump->out, "%s %u:%u: %s\n", word, at.line, at.column,
		 issue->text);
}

static void dump_issue(void *context, const struct load_issue *issue)
{
	struct dump *dump = context;

	if (issue->kind == LOAD_SYNTAX) {
		if (!dump->refused)
			dump_line(dump, "error", issue);
		dump->refused = true;
		dump->status = 1;
	} else if (dump->issues) {
		dump_line(dump, "note", issue);
	}
}

static void dump_node(struct dump *dump, const struct node *root)
{
	if (dump->refused)
		return;
	if (root)
		node_json(root, &dump->out);
	else
		buf_adds(&dump->out, "null");
	buf_addc(&dump->out, '\n');
}

/* Skips JSON white space; returns the offset of the next other byte. */
static uint32_t skip_space(const struct source *source, uint32_t at)
{
	while (at < source->len && source->text[at] &&
	       strchr(" \t\r\n", source->text[at]))
		at++;
	return at;
}

static void dump_json(struct dump *dump, struct loader *loader)
{
	struct load_issue issue = {.kind = LOAD_SYNTAX};
	uint32_t len = (uint32_t)dump->source->len;
	uint32_t used = 0;
	const struct node *root = json_read(loader, 0, len, &used);

	if (dump->refused)
		return;
	issue.start = skip_space(dump->source, used);
	issue.end = len;
	if (!root)
		issue.text = "no value";
	else if (issue.start < len)
		issue.text = "text behind the value";
	if (issue.text)
		dump_issue(dump, &issue);
	dump_node(dump, root);
}

static void dump_documents(struct dump *dump, struct loader *loader)
{
	struct doc doc;

	while (loader_next(loader, &doc)) {
		dump_node(dump, doc.root);
		dump->refused = false;
	}
	/* The loader reports an error about the text after the last document
	 * without another document, so `refused` may be set. */
	dump->refused = false;
}

static char *read_all(const char *name, size_t *len)
{
	FILE *file = strcmp(name, "-") ? fopen(name, "rb") : stdin;
	size_t size = 1 << 16;
	char *text = malloc(size);
	size_t n;

	if (!file) {
		free(text);
		return NULL;
	}
	for (*len = 0; text; *len += n) {
		n = fread(text + *len, 1, size - *len, file);
		if (!n)
			break;
		if (*len + n == size)
			text = realloc(text, size *= 2);
	}
	if (file != stdin)
		fclose(file);
	return text;
}

static void dump_text(struct dump *dump, const char *name, const char *text,
		      size_t len, bool json)
{
	struct arena arena = ARENA_INIT;
	struct source source;
	struct loader loader;

	source_init(&source, &arena, name, text, len);
	loader_init(&loader, &source, &load_limits_default, &arena);
	loader.issue = dump_issue;
	loader.context = dump;
	dump->source = &source;
	dump->refused = false;
	if (json)
		dump_json(dump, &loader);
	else
		dump_documents(dump, &loader);
	arena_release(&arena);
	fwrite(dump->out.data, 1, dump->out.len, stdout);
	buf_reset(&dump->out);
}

static char *allocate(size_t len)
{
	char *text = malloc(len ? len : 1);

	if (!text)
		abort();
	return text;
}

static void dump_file(struct dump *dump, const char *name, bool json)
{
	size_t len;
	char *text = read_all(name, &len);
	char *exact;

	if (!text) {
		fprintf(stderr, "doc_dump: cannot read %s\n", name);
		dump->status = 2;
		return;
	}
	/* The exact size lets address sanitizer see a read past the end. */
	exact = allocate(len);
	memcpy(exact, text, len);
	free(text);
	dump_text(dump, name, exact, len, json);
	free(exact);
}

static void dump_stream(struct dump *dump, bool json)
{
	unsigned char n[4];

	while (fread(n, 1, sizeof(n), stdin) == sizeof(n)) {
		size_t len = n[0] | (size_t)n[1] << 8 | (size_t)n[2] << 16 |
			     (size_t)n[3] << 24;
		char *text = allocate(len);

		if (fread(text, 1, len, stdin) == len)
			dump_text(dump, "-", text, len, json);
		else
			dump->status = 2;
		free(text);
		puts("==");
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	struct dump dump = {0};
	bool json = false, stream = false;
	int i = 1;

	for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
		if (!strcmp(argv[i], "--json")) {
			json = true;
		} else if (!strcmp(argv[i], "--issues")) {
			dump.issues = true;
		} else if (!strcmp(argv[i], "--stream")) {
			stream = true;
		} else {
			fprintf(stderr, "doc_dump: unknown %s\n", argv[i]);
			return 2;
		}
	}
	buf_init(&dump.out);
	if (stream)
		dump_stream(&dump, json);
	for (int many = argc - i > 1; i < argc; i++) {
		if (many)
			printf("== %s\n", argv[i]);
		dump_file(&dump, argv[i], json);
	}
	buf_release(&dump.out);
	return dump.status;
}
