/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The value of a YAML scalar as sigs.k8s.io/yaml reads it, and its text in JSON
 * and as the key of a JSON object. Private to the YAML reader.
 */
#ifndef RULES_DOC_YAML_SCALAR_H
#define RULES_DOC_YAML_SCALAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "doc/node.h"

enum scalar_kind {
	SCALAR_NULL,
	SCALAR_BOOL,
	SCALAR_INT,
	SCALAR_UINT, /* above INT64_MAX */
	SCALAR_FLOAT,
	SCALAR_STRING,
	SCALAR_BINARY, /* a string, written in base64 */
};

struct scalar {
	enum scalar_kind kind;
	bool yes;	/* SCALAR_BOOL */
	int64_t whole;	/* SCALAR_INT */
	uint64_t large; /* SCALAR_UINT */
	double number;	/* SCALAR_FLOAT */
};

/* True if a plain scalar with this first byte can be anything but a string. */
bool scalar_may_resolve(unsigned char first);

/*
 * Sets the value of text under tag (NULL: none). Returns false if the tag does
 * not match the text; *scalar is then the value without the tag.
 */
bool scalar_resolve(const char *text, size_t len, const char *tag,
		    struct scalar *scalar);

/* Sets type, str and len of a node from a value. Returns false if JSON cannot
 * represent the value. */
bool scalar_to_node(struct arena *arena, const struct scalar *scalar,
		    const char *text, size_t len, struct node *node);

/* Returns the key's text, or NULL if the value cannot be a key. */
const char *scalar_to_key(struct arena *arena, const struct scalar *scalar,
			  const char *text, size_t *len);

/* Returns the decoded base64 as JSON keeps it (bytes that are not UTF-8 become
 * U+FFFD), or NULL if it is invalid. */
char *scalar_base64(struct arena *arena, const char *text, size_t *len);

/* Returns a word for messages: "a float", "null". */
const char *scalar_kind_name(enum scalar_kind kind);

/* Writes the fewest digits that are read as the same float64, like
 * encoding/json. */
void number_json(double number, struct buf *out);
/* Writes the number as go-yaml writes a map key, as for float32:
 * strconv.FormatFloat(number, 'g', -1, 32). */
void number_key(double number, struct buf *out);

#endif
