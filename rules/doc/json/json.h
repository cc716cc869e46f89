/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the JSON reader: json.c has the grammar, json_scalar.c strings
 * and numbers. Nothing else includes this.
 */
#ifndef RULES_DOC_JSON_H
#define RULES_DOC_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "doc/load.h"

enum { JSON_BLOCK = 64 }; /* bytes: a bit of marks for each */

struct json_reader {
	struct loader *loader;
	const char *text; /* the first byte that is read: spans count from it */
	bool own;	  /* and it may be written to */
	const char *at, *end;
	const char *last;    /* the byte before end */
	const char *own_end; /* end, or text when that is not our own */
	const char *block;   /* see json_mark() */
	uint64_t marks;	     /* of the block, the lowest bit first */
	struct node *open;   /* innermost map or seq not yet closed */
	struct node **link;  /* where its next child belongs */
	uint32_t depth, nodes;
	uint64_t breadth;		/* of what is closed */
	uint64_t skip_lengths;		/* as the loader's, but 0: none */
	struct node *spare, *spare_end; /* taken from the arena in blocks */
};

/* NUL-terminated, escapes decoded. */
struct json_token {
	const char *str;
	uint32_t len;
};

/* Report that the bytes from start to end refuse the text; false. */
bool json_refuse(struct json_reader *json, const char *start, const char *end,
		 const char *text);
/* The same for the one character at p, or for the end of the text. */
bool json_refuse_at(struct json_reader *json, const char *p, const char *text);

/* The byte after the character at p (after the byte, if it is none). */
const char *json_behind(const struct json_reader *json, const char *p);

/*
 * json_mark() is the first byte at or after p that is a quote, a backslash, a
 * control character or not ASCII; or the end. p never goes back. Bytes are
 * marked a block at a time, so that one string need not have been read when the
 * next is looked for. json_mark_from() begins a block at p, and goes on to the
 * first mark; json_mark_block() does not, for what has no string.
 */
void json_mark_block(struct json_reader *json, const char *p);
const char *json_mark_from(struct json_reader *json, const char *p);

static inline const char *json_mark(struct json_reader *json, const char *p)
{
	size_t at = (size_t)(p - json->block);

	if (at < JSON_BLOCK) {
		uint64_t marks = json->marks >> at;

		if (marks)
			return p + (unsigned)__builtin_ctzll(marks);
		p = json->block + JSON_BLOCK;
	}
	return json_mark_from(json, p);
}

/* The string from start to end in a text of our own: it may be written to. */
static inline const char *json_end_string(const char *start, const char *end)
{
	*(char *)(uintptr_t)end = '\0';
	return start;
}

/* A string of the text, where the tree may keep it. */
static inline const char *json_keep(struct json_reader *json, const char *start,
				    uint32_t len)
{
	if (!json->own)
		return arena_strndup(json->loader->arena, start, len);
	/* The text is our own: start may be written to. */
	((char *)(uintptr_t)start)[len] = '\0';
	return start;
}

/*
 * The string whose opening quote is at json->at and whose first marked byte is
 * at p; json->at is moved after it. str is NULL when it is refused.
 */
struct json_token scan_json_string(struct json_reader *json, const char *p);
/* The number at json->at into node: type, str, len; moves after it. */
bool scan_json_number(struct json_reader *json, struct node *node);

#endif
