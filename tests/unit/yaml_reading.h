/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reading for the tests of YAML and of the loader: the text is in memory of
 * its exact size, so that the address sanitizer detects a read past its end.
 * Values and errors become text, one line each in the order of events:
 *
 *	1: {"a":1}              document number and value, "1: -" if refused
 *	error 3:5-6 text        issue with line:column, and the column behind
 *	duplicate 3:5-6 text
 *	disagree 3:5-6 text
 */
#ifndef TESTS_YAML_READING_H
#define TESTS_YAML_READING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/buf.h"
#include "doc/load.h"
#include "doc/node.h"
#include "doc/source.h"

#define SIZED(literal) literal, sizeof(literal) - 1

struct reading {
	struct arena arena;
	struct source source;
	struct load_limits limits;
	struct loader loader;
	char *text;
	struct buf said;
};

static inline void say_issue(void *context, const struct load_issue *issue)
{
	static const char *const kinds[] = {
		[LOAD_SYNTAX] = "error",
		[LOAD_DISAGREEMENT] = "disagree",
		[LOAD_DUPLICATE_KEY] = "duplicate",
	};
	struct reading *reading = context;
	struct position start = source_position(&reading->source, issue->start);
	struct position end = source_position(&reading->source, issue->end);

	assert_true(issue->start <= issue->end);
	assert_true(issue->end <= reading->source.len);
	buf_addf(&reading->said, "%s %u:%u-", kinds[issue->kind], start.line,
		 start.column);
	if (end.line != start.line)
		buf_addf(&reading->said, "%u:", end.line);
	buf_addf(&reading->said, "%u %s\n", end.column, issue->text);
}

static inline void reading_init(struct reading *reading, const char *text,
				size_t len)
{
	memset(reading, 0, sizeof(*reading));
	reading->text = malloc(len ? len : 1);
	assert_non_null(reading->text);
	if (len)
		memcpy(reading->text, text, len);
	source_init(&reading->source, &reading->arena, "test.yaml",
		    reading->text, len);
	reading->limits = load_limits_default;
	loader_init(&reading->loader, &reading->source, &reading->limits,
		    &reading->arena);
	reading->loader.issue = say_issue;
	reading->loader.context = reading;
	buf_init(&reading->said);
}

static inline void reading_release(struct reading *reading)
{
	buf_release(&reading->said);
	arena_release(&reading->arena);
	free(reading->text);
}

/* Returns the first document's tree, NULL if it is rejected or missing. */
static inline const struct node *read_one(struct reading *reading,
					  const char *text)
{
	struct doc doc;

	reading_init(reading, text, strlen(text));
	loader_next(&reading->loader, &doc);
	return doc.root;
}

/* Reads all documents; their text is in reading->said. */
static inline void read_documents(struct reading *reading)
{
	struct doc doc;

	while (loader_next(&reading->loader, &doc)) {
		buf_addf(&reading->said, "%u: ", doc.number);
		if (doc.root)
			node_json(doc.root, &reading->said);
		else
			buf_addc(&reading->said, '-');
		buf_addc(&reading->said, '\n');
		assert_true(doc.start < doc.end);
		assert_true(doc.end <= reading->source.len);
	}
	assert_null(doc.root);
}

static inline void assert_reads_bytes(const char *text, size_t len,
				      const char *said)
{
	struct reading reading;

	reading_init(&reading, text, len);
	read_documents(&reading);
	if (strcmp(reading.said.data, said))
		print_error("text: %s\n", text);
	assert_string_equal(reading.said.data, said);
	reading_release(&reading);
}

static inline void assert_reads(const char *text, const char *said)
{
	assert_reads_bytes(text, strlen(text), said);
}

#endif
