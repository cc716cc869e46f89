/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State and functions of the lexer and the parser, which the files of this
 * folder share.
 */
#ifndef CEL_PARSER_H
#define CEL_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ast.h"
#include "cel/value.h"

/* Tokens of an expression in cel-go's grammar (cel-go parser/gen/CEL.g4). At
 * each position, the longest possible token is used. */

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

/* Grammar rules that can contain themselves; cel-go limits the depth of
 * each. */
enum grammar_rule {
	RULE_EXPR,
	RULE_RELATION,
	RULE_CALC,
	NGRAMMAR_RULES,
};

struct cel_template;

struct cel_parser {
	/* NULL while a user's text is parsed */
	const struct cel_template *template;
	struct arena *arena;
	const char *text;
	size_t len;
	struct cel_issues *issues;
	struct cel_token token; /* next token */
	uint32_t end;		/* end of the previous token */
	unsigned depth[NGRAMMAR_RULES];
	/* Depth of nested operators, selections and member calls in the last
	 * expression (cel-go's maxRecursionDepth). */
	unsigned height;
	uint32_t nexprs;
	bool wrong;   /* an issue was reported */
	bool stopped; /* after a syntax error: the token stays TOKEN_END */
};

/* Bytes of the text from which an expression is made. */
struct cel_place {
	uint32_t start, end, at;
};

/*
 * The expansion of a macro, written in CEL. Names in it may begin with `@`; for
 * some of them expand() returns an expression, for others NULL. All of its
 * expressions have the position of the macro.
 */
struct cel_template {
	struct cel_expr *(*expand)(struct cel_parser *p, void *context,
				   const char *name);
	void *context;
	struct cel_place place;
};

/* Returns the place from start to the end of the last token. */
struct cel_place cel_place(const struct cel_parser *p, uint32_t start,
			   uint32_t at);
struct cel_expr *cel_expr_new(struct cel_parser *p, enum cel_expr_kind kind,
			      struct cel_place place);
/* Copies the array of parts. */
struct cel_expr *cel_call_new(struct cel_parser *p, struct cel_place place,
			      const char *function,
			      struct cel_expr *const *parts, unsigned n);
/* Copies an expression and gives it new ids. */
struct cel_expr *cel_expr_copy(struct cel_parser *p,
			       const struct cel_expr *expr);
/* Adds an issue, unless the parser has stopped. The parser continues. */
void cel_parser_issue(struct cel_parser *p, struct cel_place place,
		      const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Reports a syntax error; the parser stops. */
void cel_parser_stop(struct cel_parser *p, struct cel_place place,
		     const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* --- the next token ------------------------------------------------------- */

void cel_advance(struct cel_parser *p);
/* If the token is of this kind, moves past it and returns true. */
bool cel_accept(struct cel_parser *p, int kind);
/* Moves past a token of this kind, or reports an error. */
void cel_expect(struct cel_parser *p, int kind, const char *wanted);
void cel_unexpected(struct cel_parser *p, const char *wanted);

/* --- limits --------------------------------------------------------------- */

/* Takes this height into account for the last expression, whose part has it. */
void cel_height_of(struct cel_parser *p, unsigned height);
/*
 * Records that the last expression is one level higher than its highest part.
 */
void cel_raise_height(struct cel_parser *p);

/* --- the grammar ---------------------------------------------------------- */

struct cel_expr *cel_parse_expr(struct cel_parser *p);
/* minus is set if the sign before the number is part of it. */
struct cel_expr *cel_parse_member(struct cel_parser *p, uint32_t start,
				  bool minus);
struct cel_expr *cel_parse_template(struct cel_parser *p, const char *text,
				    const struct cel_template *template);
/* Returns the expansion of the call if it is a macro, or else the call. */
struct cel_expr *cel_expand(struct cel_parser *p, struct cel_expr *call);

#endif
