/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the JSON reader: json.c implements the grammar, json_scalar.c
 * strings, numbers and words. Only these two files include this header.
 */
#ifndef RULES_DOC_JSON_H
#define RULES_DOC_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "doc/load.h"
#include "json_mark.h"

/*
 * The reader works on a copy of the text followed by a block of NULs, so that
 * the next bytes can be read without a check for the end. Strings stay in place
 * in the copy, and their closing quotes become NULs.
 */
struct json_reader {
	struct loader *loader;
	char *text; /* start of the text; all spans count from here */
	char *at, *end;
	struct node *open; /* innermost map or seq that is not closed yet */
	uint32_t depth, nodes, nodes_max;
	uint64_t keys;	    /* bytes of the keys of open maps and seqs */
	uint64_t breadth;   /* of the closed maps and lists */
	uint32_t lengths;   /* of keys and texts, combined by | */
	uint64_t skip_tags; /* as in the loader; 0: none */
	struct node *spare, *spare_end; /* taken from the arena in blocks */
};

/* Reports that the bytes from start to end make the text invalid; returns
 * false. */
bool json_refuse(struct json_reader *json, const char *start, const char *end,
		 const char *text);
/* Like json_refuse(), for the single character at p or for the end of the
 * text. */
bool json_refuse_at(struct json_reader *json, const char *p, const char *text);

/* Returns the byte after the character at p, or after the byte at p if it is
 * not a character. */
const char *json_behind(const struct json_reader *json, const char *p);

/* Returns the copy of the loader's text up to end, in its source's arena. */
char *json_reader_text(struct loader *loader, uint32_t end);

/*
 * Reads the string whose opening quote is at json->at and whose first marked
 * byte is at p: decodes its escapes, terminates it by a NUL, and moves json->at
 * past it. Sets *len to the length of its text. Returns false if it is
 * rejected.
 */
bool scan_json_string(struct json_reader *json, char *p, uint32_t *len);
/* Reads the number or word at json->at as the node's value, and moves past it.
 * Returns false if it is rejected. */
bool scan_json_other(struct json_reader *json, struct node *node);
/* Returns the position after the value at p without parsing it, or the end of
 * the text. */
char *json_skip(const struct json_reader *json, char *p);

#endif
