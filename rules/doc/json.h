/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the JSON reader: json.c has the grammar, json_scalar.c strings
 * and numbers. Nothing else includes this.
 */
#ifndef DOC_JSON_H
#define DOC_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "doc/load.h"

struct json {
	struct loader *loader;
	const char *text; /* the source's first byte: spans count from here */
	const char *at, *end;
	struct node *open; /* innermost map or seq not yet closed */
	bool fresh;	   /* nothing was read yet inside of open */
	uint32_t depth, nodes;
};

struct json_token {
	const char *start, *end; /* quotes included */
	const char *str;
	uint32_t len;
};

/* Report that the bytes from start to end refuse the text; false. */
bool json_refuse(struct json *json, const char *start, const char *end,
		 const char *text);
/* The same for the one character at p, or for the end of the text. */
bool json_refuse_at(struct json *json, const char *p, const char *text);

/* The byte behind the character at p (behind the byte, if it is none). */
const char *json_behind(const struct json *json, const char *p);

/* The string whose opening quote is at json->at; moves behind it. */
bool scan_json_string(struct json *json, struct json_token *token);
/* The number at json->at into node: type, str, len; moves behind it. */
bool scan_json_number(struct json *json, struct node *node);

#endif
