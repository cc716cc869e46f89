/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of an expression in cel-go's grammar (cel-go parser/gen/CEL.g4). At
 * each position, the longest possible token is used. */
#ifndef CEL_LEXER_H
#define CEL_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cel/value.h"

/* Kinds of tokens. The kind of a token of one character is the character
 * itself. */
enum cel_token_kind {
	TOKEN_END = 0,
	TOKEN_ERROR = 256, /* bytes with which no token begins */
	TOKEN_INT,
	TOKEN_UINT,
	TOKEN_DOUBLE,
	TOKEN_STRING,
	TOKEN_BYTES,
	TOKEN_IDENT,
	TOKEN_ESCAPED, /* `a-b` in backquotes */
	TOKEN_TRUE,
	TOKEN_FALSE,
	TOKEN_NULL,
	TOKEN_IN,
	TOKEN_EQ,
	TOKEN_NE,
	TOKEN_LE,
	TOKEN_GE,
	TOKEN_AND,
	TOKEN_OR,
};

struct cel_token {
	int kind;
	uint32_t start, end; /* byte offsets */
};

/* Returns the first token at or after byte `at`. Blanks and comments are
 * skipped. */
struct cel_token cel_lex(const char *text, size_t len, size_t at);

/*
 * Reads the value of a literal token. Returns NULL, or the problem in cel-go's
 * words. minus is set if a minus sign precedes the number.
 */
const char *cel_literal(struct arena *arena, const char *text,
			struct cel_token token, bool minus,
			struct cel_value *out);

#endif
