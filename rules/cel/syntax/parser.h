/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the parser and the macros. */
#ifndef CEL_PARSER_H
#define CEL_PARSER_H

#include "rules/cel/syntax/ast.h"
#include "rules/cel/syntax/lexer.h"

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
	const struct cel_template *template; /* NULL: a user's text */
	struct arena *arena;
	const char *text;
	size_t len;
	struct cel_issues *issues;
	struct cel_token token; /* the next one */
	uint32_t end;		/* of the one before */
	unsigned depth[NGRAMMAR_RULES];
	/* Nesting depth of operators, selections and member calls in the
	 * last expression (cel-go's maxRecursionDepth). */
	unsigned height;
	uint32_t nexprs;
	bool wrong;   /* an issue was found */
	bool stopped; /* at a syntax error: the token is TOKEN_END for good */
};

/* The part of the text from which an expression is made. */
struct cel_place {
	uint32_t start, end, at;
};

/*
 * The expansion of a macro, written in CEL: names in it may begin with `@`, and
 * some of them are expressions (NULL: a name). All of it has one position.
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
/* parts are copied. */
struct cel_expr *cel_call_new(struct cel_parser *p, struct cel_place place,
			      const char *function,
			      struct cel_expr *const *parts, unsigned n);
/* Copies an expression, with new ids. */
struct cel_expr *cel_expr_copy(struct cel_parser *p,
			       const struct cel_expr *expr);
/* Adds an issue; the parser continues. */
void cel_parser_issue(struct cel_parser *p, struct cel_place place,
		      const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The parser stops. */
void cel_parser_stop(struct cel_parser *p, struct cel_place place,
		     const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* --- the next token ------------------------------------------------------- */

void cel_advance(struct cel_parser *p);
/* Moves after the token if it is of this kind. */
bool cel_accept(struct cel_parser *p, int kind);
/* Consumes the token, or reports an error. */
void cel_expect(struct cel_parser *p, int kind, const char *wanted);
void cel_unexpected(struct cel_parser *p, const char *wanted);
struct cel_place cel_token_place(const struct cel_parser *p);

/* --- limits --------------------------------------------------------------- */

/* Records that the last expression has a part of this height. */
void cel_height_of(struct cel_parser *p, unsigned height);
/*
 * Records that the last expression is one operator higher than its highest
 * part.
 */
void cel_raise_height(struct cel_parser *p);

/* --- the grammar ---------------------------------------------------------- */

struct cel_expr *cel_parse_expr(struct cel_parser *p);
/* minus: a sign before the number is part of it. */
struct cel_expr *cel_parse_member(struct cel_parser *p, uint32_t start,
				  bool minus);
struct cel_expr *cel_parse_template(struct cel_parser *p, const char *text,
				    const struct cel_template *template);
/* Returns the expansion of the call if it is a macro, otherwise the call. */
struct cel_expr *cel_expand(struct cel_parser *p, struct cel_expr *call);

#endif
