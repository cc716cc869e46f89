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

/* Of the block of text that was marked last, the lowest bit first. */
struct json_marks {
	char *block;
	uint64_t bits;
};

/*
 * What is read is a copy of the text with NULs behind it, a block of them: the
 * next bytes are looked at without asking first where the text ends. Strings
 * stay where they are in the copy, and their closing quotes become NULs.
 */
struct json_reader {
	struct loader *loader;
	char *text; /* spans count from here, whatever of it is read */
	char *at, *end;
	struct node *open; /* innermost map or seq not yet closed */
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

/* The marks of the block at p. */
uint64_t json_mark_block(const char *p);

/*
 * The first byte at or after p that is a quote, a backslash, a control
 * character or not ASCII; or the end. p never goes back. Bytes are marked a
 * block at a time, so that one string need not have been read when the next is
 * looked for.
 */
static inline char *json_mark(struct json_marks *marks, char *p)
{
	size_t at = (uintptr_t)p - (uintptr_t)marks->block;

	if (at < JSON_BLOCK) {
		uint64_t bits = marks->bits >> at;

		if (bits)
			return p + (unsigned)__builtin_ctzll(bits);
		p = marks->block + JSON_BLOCK;
	}
	for (; !(marks->bits = json_mark_block(p)); p += JSON_BLOCK)
		continue;
	marks->block = p;
	return p + (unsigned)__builtin_ctzll(marks->bits);
}

/*
 * The string whose opening quote is at json->at and whose first marked byte is
 * at p; json->at is moved after it. str is NULL when it is refused.
 */
struct json_token scan_json_string(struct json_reader *json, char *p);
/* The number at json->at into node: type, str, len; moves after it. */
bool scan_json_number(struct json_reader *json, struct node *node);

#endif
