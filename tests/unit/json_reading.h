/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reading for the JSON reader's tests: the text is in memory of its exact
 * size, so that the address sanitizer detects a read past its end. Issues are
 * counted; the first error and the last duplicate are kept.
 */
#ifndef TESTS_JSON_READING_H
#define TESTS_JSON_READING_H

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
#include "doc/build.h"
#include "doc/load.h"
#include "doc/node.h"
#include "doc/source.h"

#define SIZED(literal) literal, sizeof(literal) - 1

/* A text longer than the block that the reader checks at a time. */
static const char filler[] =
	"----------------------------------------------------------------------"
	"----------------------------------------------------------------------";

struct reading {
	struct arena arena;
	struct source source;
	struct load_limits limits;
	struct loader loader;
	char *text;
	uint32_t used;
	unsigned refusals, duplicates, others;
	struct load_issue first; /* first error */
	struct load_issue last;	 /* last duplicate key */
};

static inline void count_issue(void *context, const struct load_issue *issue)
{
	struct reading *reading = context;

	if (issue->kind == LOAD_SYNTAX) {
		if (!reading->refusals++)
			reading->first = *issue;
	} else if (issue->kind == LOAD_DUPLICATE_KEY) {
		reading->duplicates++;
		reading->last = *issue;
	} else {
		reading->others++;
	}
}

static inline void reading_init(struct reading *reading, const char *text,
				size_t len)
{
	memset(reading, 0, sizeof(*reading));
	reading->text = malloc(len ? len : 1);
	assert_non_null(reading->text);
	memcpy(reading->text, text, len);
	source_init(&reading->source, &reading->arena, "test.json",
		    reading->text, len);
	reading->limits.bytes = len;
	reading->limits.depth = 1000;
	reading->limits.nodes = 100000;
	reading->loader.source = &reading->source;
	reading->loader.limits = &reading->limits;
	reading->loader.arena = &reading->arena;
	reading->loader.issue = count_issue;
	reading->loader.context = reading;
}

static inline struct node *read_all(struct reading *reading)
{
	return json_read(&reading->loader, 0, (uint32_t)reading->source.len,
			 &reading->used);
}

static inline struct node *read_text(struct reading *reading, const char *text)
{
	reading_init(reading, text, strlen(text));
	return read_all(reading);
}

static inline void reading_release(struct reading *reading)
{
	arena_release(&reading->arena);
	free(reading->text);
}

static inline void assert_value(const struct node *node, const char *json)
{
	struct buf out;

	buf_init(&out);
	node_json(node, &out);
	assert_string_equal(out.data, json);
	buf_release(&out);
}

#endif
