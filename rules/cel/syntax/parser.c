/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recursive descent parser for cel-go's grammar (cel-go parser/gen/CEL.g4),
 * with its limits (parser/parser.go): nested grammar rules, and nested
 * operators, at most CEL_RECURSION of each. After a syntax error, the token is
 * TOKEN_END, so that every function returns what it has parsed so far.
 */
#include "parser.h"

#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/text.h"

/* Creates, copies and walks expressions. */

/*
 * Largest number of expressions in a tree. optMap() repeats the text before it,
 * so that a short text could expand beyond memory. Without it, no text of
 * CEL_CODE_POINTS reaches this limit.
 */
enum { EXPRS_MAX = 150000 };

void cel_issue(struct cel_issues *issues, size_t start, size_t end,
	       const char *text)
{
	*VEC_PUSH(issues->arena, issues->items, issues->n, issues->size) =
		(struct cel_issue){start, end, text};
}

struct cel_expr *cel_expr_new(struct cel_parser *p, enum cel_expr_kind kind,
			      struct cel_place place)
{
	struct cel_expr *expr = ARENA_NEW(p->arena, struct cel_expr);

	if (p->nexprs == EXPRS_MAX)
		cel_parser_stop(p, place,
				"expression expands to more than %d "
				"expressions",
				EXPRS_MAX);
	expr->kind = kind;
	expr->id = p->nexprs++;
	expr->start = place.start;
	expr->end = place.end;
	expr->at = place.at;
	return expr;
}

struct cel_expr *cel_call_new(struct cel_parser *p, struct cel_place place,
			      const char *function,
			      struct cel_expr *const *parts, unsigned n)
{
	struct cel_expr *call = cel_expr_new(p, EXPR_CALL, place);

	call->call.function = function;
	call->parts = ARENA_ARRAY(p->arena, struct cel_expr *, n);
	for (unsigned i = 0; i < n; i++)
		call->parts[i] = parts[i];
	call->n = n;
	return call;
}

void cel_expr_each(struct cel_expr *root,
		   void (*visit)(struct cel_expr *expr, void *context),
		   void *context)
{
	if (!root)
		return;
	visit(root, context);
	for (unsigned i = 0; i < root->n; i++)
		cel_expr_each(root->parts[i], visit, context);
}

struct cel_expr *cel_expr_copy(struct cel_parser *p,
			       const struct cel_expr *expr)
{
	struct cel_place place = {expr->start, expr->end, expr->at};
	struct cel_expr *copy = cel_expr_new(p, expr->kind, place);
	uint32_t id = copy->id;

	if (p->stopped)
		return copy;
	*copy = *expr;
	copy->id = id;
	copy->parts = ARENA_ARRAY(p->arena, struct cel_expr *, expr->n);
	for (unsigned i = 0; i < expr->n; i++)
		copy->parts[i] = cel_expr_copy(p, expr->parts[i]);
	return copy;
}

/* --- issues -------------------------------------------------------------- */

void cel_parser_issue(struct cel_parser *p, struct cel_place place,
		      const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!p->stopped)
		cel_issue(p->issues, place.at, place.end,
			  arena_vprintf(p->issues->arena, fmt, ap));
	va_end(ap);
	p->wrong = true;
}

void cel_parser_stop(struct cel_parser *p, struct cel_place place,
		     const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cel_parser_issue(p, place, "%s", arena_vprintf(p->arena, fmt, ap));
	va_end(ap);
	p->stopped = true;
	p->token.kind = TOKEN_END;
}

static struct cel_place cel_token_place(const struct cel_parser *p)
{
	return (struct cel_place){p->token.start, p->token.end, p->token.start};
}

void cel_unexpected(struct cel_parser *p, const char *wanted)
{
	struct cel_place place = cel_token_place(p);

	if (p->token.kind == TOKEN_END)
		cel_parser_stop(p, place,
				"syntax error: unexpected end, expecting %s",
				wanted);
	else
		cel_parser_stop(p, place,
				"syntax error: unexpected '%.*s', expecting %s",
				(int)(place.end - place.start),
				p->text + place.start, wanted);
}

/* --- tokens -------------------------------------------------------------- */

void cel_advance(struct cel_parser *p)
{
	if (p->stopped)
		return;
	p->end = p->token.end;
	p->token = cel_lex(p->text, p->len, p->end);
	if (p->token.kind == TOKEN_ERROR ||
	    (p->token.kind == TOKEN_IDENT && !p->template &&
	     p->text[p->token.start] == '@'))
		cel_parser_stop(p, cel_token_place(p),
				"syntax error: no token begins with '%.*s'",
				(int)(p->token.end - p->token.start),
				p->text + p->token.start);
}

bool cel_accept(struct cel_parser *p, int kind)
{
	if (p->token.kind != kind || kind == TOKEN_END)
		return false;
	cel_advance(p);
	return true;
}

void cel_expect(struct cel_parser *p, int kind, const char *wanted)
{
	if (!cel_accept(p, kind))
		cel_unexpected(p, wanted);
}

struct cel_place cel_place(const struct cel_parser *p, uint32_t start,
			   uint32_t at)
{
	if (p->template)
		return p->template->place;
	return (struct cel_place){start, p->end, at};
}

/* --- limits -------------------------------------------------------------- */

static void enter(struct cel_parser *p, enum grammar_rule rule)
{
	if (++p->depth[rule] > CEL_RECURSION)
		cel_parser_stop(p, cel_token_place(p),
				"expression recursion limit exceeded: %d",
				CEL_RECURSION);
}

static void leave(struct cel_parser *p, enum grammar_rule rule)
{
	p->depth[rule]--;
}

void cel_height_of(struct cel_parser *p, unsigned height)
{
	if (height > p->height)
		p->height = height;
}

void cel_raise_height(struct cel_parser *p)
{
	if (++p->height > CEL_RECURSION)
		cel_parser_stop(p, cel_token_place(p),
				"max recursion depth exceeded");
}

/* --- operators ----------------------------------------------------------- */

static bool is_number(const struct cel_parser *p)
{
	return p->token.kind == TOKEN_INT || p->token.kind == TOKEN_DOUBLE;
}

/* Parses unary operators. A single minus is part of the number after it. */
static struct cel_expr *parse_unary(struct cel_parser *p)
{
	uint32_t start = p->token.start;
	int sign = p->token.kind;
	unsigned n = 0;
	uint32_t start_of_member;
	bool minus;
	struct cel_expr *expr;

	if (sign != '-' && sign != '!')
		return cel_parse_member(p, start, false);
	while (cel_accept(p, sign))
		n++;
	if (sign == '-' && n == 1 && is_number(p))
		return cel_parse_member(p, start, true);
	start_of_member = p->token.start;
	minus = cel_accept(p, '-');
	if (minus && !is_number(p))
		cel_unexpected(p, "a number");
	expr = cel_parse_member(p, start_of_member, minus);
	if (n % 2 == 0)
		return expr;
	return cel_call_new(p, cel_place(p, start, start),
			    sign == '-' ? "-_" : "!_", &expr, 1);
}

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
struct operator_token {
	int kind;
	const char *function;
	int binds; /* operators with larger values bind more tightly */
};

enum { BINDS_RELATION, BINDS_SUM, BINDS_PRODUCT };

static const struct operator_token *operator_of(int kind)
{
	static const struct operator_token operators[] = {
		{'*', "_*_", BINDS_PRODUCT},
		{'/', "_/_", BINDS_PRODUCT},
		{'%', "_%_", BINDS_PRODUCT},
		{'+', "_+_", BINDS_SUM},
		{'-', "_-_", BINDS_SUM},
		{TOKEN_EQ, "_==_", BINDS_RELATION},
		{TOKEN_NE, "_!=_", BINDS_RELATION},
		{'<', "_<_", BINDS_RELATION},
		{TOKEN_LE, "_<=_", BINDS_RELATION},
		{'>', "_>_", BINDS_RELATION},
		{TOKEN_GE, "_>=_", BINDS_RELATION},
		{TOKEN_IN, "@in", BINDS_RELATION},
	};

	for (size_t i = 0; i < ARRAY_SIZE(operators); i++)
		if (operators[i].kind == kind)
			return &operators[i];
	return NULL;
}

/*
 * Parses operators that bind at least as tightly as `binds`; they group to the
 * left. The left operand is nested in as many grammar rules as the whole
 * expression, the right one in one more.
 */
static struct cel_expr *parse_binary(struct cel_parser *p, int binds)
{
	enum grammar_rule rule =
		binds == BINDS_RELATION ? RULE_RELATION : RULE_CALC;
	uint32_t start = p->token.start, at;
	const struct operator_token *op;
	struct cel_expr *left, *right;
	unsigned height;

	enter(p, rule);
	left = binds == BINDS_RELATION ? parse_binary(p, BINDS_SUM)
				       : parse_unary(p);
	while ((op = operator_of(p->token.kind)) && op->binds >= binds) {
		at = p->token.start;
		height = p->height;
		cel_advance(p);
		if (rule == RULE_RELATION)
			enter(p, rule);
		right = parse_binary(p, op->binds + 1);
		if (rule == RULE_RELATION)
			leave(p, rule);
		cel_height_of(p, height);
		cel_raise_height(p);
		left = cel_call_new(p, cel_place(p, start, at), op->function,
				    (struct cel_expr *[]){left, right}, 2);
	}
	leave(p, rule);
	return left;
}

/* A chain of `&&` or `||`. */
struct chain {
	const char *function;
	struct chain_term {
		struct cel_expr *expr;
		struct cel_place place; /* position of the operator before it */
	} * terms;
	size_t n, size;
};

/* Builds a balanced tree of items first to last, like cel-go's
 * parser/helper.go. */
static struct cel_expr *balance(struct cel_parser *p, struct chain *chain,
				size_t first, size_t last)
{
	size_t mid = (first + last) / 2 + 1;
	struct cel_place place = {chain->terms[first].place.start,
				  chain->terms[last].place.end,
				  chain->terms[mid].place.at};
	struct cel_expr *args[2];

	if (first == last)
		return chain->terms[first].expr;
	args[0] = balance(p, chain, first, mid - 1);
	args[1] = balance(p, chain, mid, last);
	return cel_call_new(p, place, chain->function, args, 2);
}

static struct cel_expr *parse_and(struct cel_parser *p);

static struct cel_expr *parse_chain(struct cel_parser *p, int joint)
{
	struct chain chain = {.function = joint == TOKEN_OR ? "_||_" : "_&&_"};
	unsigned height = 0;
	uint32_t at = 0, start;
	struct cel_expr *expr;

	do {
		start = p->token.start;
		expr = joint == TOKEN_OR ? parse_and(p)
					 : parse_binary(p, BINDS_RELATION);
		*VEC_PUSH(p->arena, chain.terms, chain.n, chain.size) =
			(struct chain_term){expr, cel_place(p, start, at)};
		cel_height_of(p, height);
		height = p->height;
		at = p->token.start;
	} while (cel_accept(p, joint));
	return balance(p, &chain, 0, chain.n - 1);
}

static struct cel_expr *parse_and(struct cel_parser *p)
{
	return parse_chain(p, TOKEN_AND);
}

/* Parses an expression. A condition between `?` and `:` must be in
 * parentheses. */
struct cel_expr *cel_parse_expr(struct cel_parser *p)
{
	uint32_t start = p->token.start, at;
	struct cel_expr *args[3];
	unsigned height;

	enter(p, RULE_EXPR);
	args[0] = parse_chain(p, TOKEN_OR);
	at = p->token.start;
	if (cel_accept(p, '?')) {
		height = p->height;
		args[1] = parse_chain(p, TOKEN_OR);
		cel_expect(p, ':', "':'");
		cel_height_of(p, height);
		height = p->height;
		args[2] = cel_parse_expr(p);
		cel_height_of(p, height);
		cel_raise_height(p);
		args[0] = cel_call_new(p, cel_place(p, start, at), "_?_:_",
				       args, 3);
	}
	leave(p, RULE_EXPR);
	return args[0];
}

/* --- the whole text ------------------------------------------------------ */

/* Requires valid UTF-8 with at most CEL_CODE_POINTS code points. */
static void check_text(struct cel_parser *p)
{
	struct cel_place whole = {0, (uint32_t)p->len, 0};
	size_t n = 0, step;

	for (size_t i = 0; i < p->len; i += step, n++) {
		step = utf8_length(p->text + i, p->len - i);
		if (step)
			continue;
		whole.at = (uint32_t)i;
		whole.end = (uint32_t)i + 1;
		cel_parser_stop(p, whole, "text is not UTF-8");
		return;
	}
	if (n > CEL_CODE_POINTS)
		cel_parser_stop(p, whole,
				"expression code point size exceeds limit: "
				"size: %zu, limit %d",
				n, CEL_CODE_POINTS);
}

struct cel_expr *cel_parse_template(struct cel_parser *p, const char *text,
				    const struct cel_template *template)
{
	struct cel_parser inner = {.template = template,
				   .arena = p->arena,
				   .text = text,
				   .len = strlen(text),
				   .issues = p->issues,
				   .nexprs = p->nexprs};
	struct cel_expr *root;

	cel_advance(&inner);
	root = cel_parse_expr(&inner);
	if (inner.token.kind != TOKEN_END)
		BUG("template: %s", text);
	p->nexprs = inner.nexprs;
	p->wrong |= inner.wrong;
	p->stopped |= inner.stopped;
	if (p->stopped)
		p->token.kind = TOKEN_END;
	return root;
}

struct cel_expr *cel_parse(struct arena *arena, const char *text, size_t len,
			   uint32_t *nexprs, struct cel_issues *issues)
{
	struct cel_parser p = {
		.arena = arena, .text = text, .len = len, .issues = issues};
	struct cel_expr *root;

	check_text(&p);
	cel_advance(&p);
	root = cel_parse_expr(&p);
	if (p.token.kind != TOKEN_END)
		cel_unexpected(&p, "an operator or the end");
	*nexprs = p.nexprs;
	return p.wrong ? NULL : root;
}
