/* SPDX-License-Identifier: Apache-2.0 */
/* Parses literals, names, calls, lists and maps, and the selections and indexes
 * that follow them. */
#include "base/array.h"
#include "base/text.h"
#include "rules/cel/syntax/parser.h"
#include "rules/cel/value/value_internal.h"

static const char *token_text(struct cel_parser *p, struct cel_token token)
{
	return arena_strndup(p->arena, p->text + token.start,
			     token.end - token.start);
}

/* --- lists --------------------------------------------------------------- */

struct exprs {
	struct cel_expr **items;
	size_t n, size;
};

static void push(struct cel_parser *p, struct exprs *exprs,
		 struct cel_expr *expr)
{
	*VEC_PUSH(p->arena, exprs->items, exprs->n, exprs->size) = expr;
}

/* Appends an expression. p->height becomes the largest height of all of
 * them. */
static void push_expr(struct cel_parser *p, struct exprs *exprs)
{
	unsigned height = p->height;

	push(p, exprs, cel_parse_expr(p));
	cel_height_of(p, height);
}

/* Parses the arguments after the opening parenthesis, and the closing one.
 * target is the receiver, or NULL. */
static struct exprs parse_args(struct cel_parser *p, struct cel_expr *target)
{
	struct exprs args = {0};

	if (target)
		push(p, &args, target);
	if (cel_accept(p, ')'))
		return args;
	do
		push_expr(p, &args);
	while (cel_accept(p, ','));
	cel_expect(p, ')', "')'");
	return args;
}

/* Parses a list or a map, from its opening bracket to the closing one. */
static struct cel_expr *parse_items(struct cel_parser *p,
				    enum cel_expr_kind kind, int close)
{
	uint32_t start = p->token.start;
	struct exprs items = {0};
	bool *optional = NULL, any = false;
	size_t n = 0, size = 0;
	struct cel_expr *expr;

	cel_advance(p);
	p->height = 0;
	while (p->token.kind != close && p->token.kind != ',' && !p->stopped) {
		bool is_optional = cel_accept(p, '?');

		any |= is_optional;
		if (kind == EXPR_MAP) {
			*VEC_PUSH(p->arena, optional, n, size) = false;
			push_expr(p, &items);
			cel_expect(p, ':', "':'");
		}
		*VEC_PUSH(p->arena, optional, n, size) = is_optional;
		push_expr(p, &items);
		if (p->token.kind != ',')
			break;
		cel_advance(p);
		if (p->token.kind == ',')
			cel_unexpected(p, "an expression");
	}
	if (!n)
		cel_accept(p, ',');
	cel_expect(p, close, close == ']' ? "',' or ']'" : "',' or '}'");
	expr = cel_expr_new(p, kind, cel_place(p, start, start));
	expr->parts = items.items;
	expr->n = (unsigned)items.n;
	expr->optional = any ? optional : NULL;
	return expr;
}

/* --- primary expressions -------------------------------------------------- */

/* start is the position of a preceding sign, or of the literal. */
static struct cel_expr *parse_literal(struct cel_parser *p, uint32_t start,
				      bool minus)
{
	struct cel_token token = p->token;
	struct cel_value value;
	struct cel_expr *expr;
	const char *wrong =
		cel_literal(p->arena, p->text, token, minus, &value);

	cel_advance(p);
	p->height = 0;
	expr = cel_expr_new(p, EXPR_CONST, cel_place(p, start, start));
	expr->constant = value;
	if (wrong)
		cel_parser_issue(p, cel_place(p, start, start), "%s", wrong);
	return expr;
}

/* Parses a name or a call of a function, either with or without a leading
 * dot. */
static struct cel_expr *parse_name(struct cel_parser *p)
{
	uint32_t start = p->token.start;
	bool absolute = cel_accept(p, '.');
	struct cel_token token = p->token;
	const char *name;
	struct cel_expr *expr;
	struct exprs args;

	cel_expect(p, TOKEN_IDENT, "an expression");
	name = token_text(p, token);
	/* Reserved words are allowed as names of fields. */
	if (cel_is_reserved(name))
		cel_parser_issue(p, cel_place(p, start, token.start),
				 "reserved identifier: %s", name);
	p->height = 0;
	if (cel_accept(p, '(')) {
		args = parse_args(p, NULL);
		expr = cel_call_new(p, cel_place(p, start, token.start), name,
				    args.items, (unsigned)args.n);
		return absolute ? expr : cel_expand(p, expr);
	}
	if (p->template &&
	    (expr = p->template->expand(p, p->template->context, name)))
		return expr;
	expr = cel_expr_new(p, EXPR_IDENT, cel_place(p, start, token.start));
	expr->ident.name = name;
	expr->ident.absolute = absolute;
	return expr;
}

static struct cel_expr *parse_nested(struct cel_parser *p)
{
	struct cel_expr *expr;

	cel_advance(p);
	expr = cel_parse_expr(p);
	cel_expect(p, ')', "')'");
	return expr;
}

static struct cel_expr *parse_primary(struct cel_parser *p)
{
	switch (p->token.kind) {
	case TOKEN_INT:
	case TOKEN_UINT:
	case TOKEN_DOUBLE:
	case TOKEN_STRING:
	case TOKEN_BYTES:
	case TOKEN_TRUE:
	case TOKEN_FALSE:
	case TOKEN_NULL:
		return parse_literal(p, p->token.start, false);
	case '(':
		return parse_nested(p);
	case '[':
		return parse_items(p, EXPR_LIST, ']');
	case '{':
		return parse_items(p, EXPR_MAP, '}');
	default:
		return parse_name(p);
	}
}

/* --- selections and indexes ----------------------------------------------- */

static struct cel_expr *parse_member_call(struct cel_parser *p, uint32_t start,
					  struct cel_expr *target,
					  struct cel_token name)
{
	struct exprs args = parse_args(p, target);
	struct cel_expr *call =
		cel_call_new(p, cel_place(p, start, name.start),
			     token_text(p, name), args.items, (unsigned)args.n);

	call->call.member = true;
	cel_raise_height(p);
	return cel_expand(p, call);
}

/* Parses a selection or a member call after the dot. */
static struct cel_expr *parse_select(struct cel_parser *p, uint32_t start,
				     struct cel_expr *operand)
{
	bool optional = cel_accept(p, '?');
	struct cel_token name = p->token;
	bool escaped = cel_accept(p, TOKEN_ESCAPED);
	struct cel_expr *select, *field;
	struct cel_text key;

	if (!escaped)
		cel_expect(p, TOKEN_IDENT, "a name");
	key = (struct cel_text){token_text(p, name), name.end - name.start};
	if (escaped)
		key = (struct cel_text){key.data + 1, key.len - 2};
	if (!optional && !escaped && cel_accept(p, '('))
		return parse_member_call(p, start, operand, name);
	cel_raise_height(p);
	if (!optional) {
		select = cel_expr_new(p, EXPR_SELECT,
				      cel_place(p, start, name.start));
		select->parts = ARENA_NEW(p->arena, struct cel_expr *);
		select->parts[0] = operand;
		select->n = 1;
		select->select.field = key;
		return select;
	}
	field = cel_expr_new(p, EXPR_CONST,
			     cel_place(p, name.start, name.start));
	field->constant = cel_stringn(key.data, key.len);
	return cel_call_new(p, cel_place(p, start, name.start), "_?._",
			    (struct cel_expr *[]){operand, field}, 2);
}

/* Parses an index after the opening bracket. */
static struct cel_expr *parse_index(struct cel_parser *p, uint32_t start,
				    struct cel_expr *operand)
{
	const char *function = cel_accept(p, '?') ? "_[?_]" : "_[_]";
	uint32_t at = p->token.start;
	unsigned height = p->height;
	struct cel_expr *index = cel_parse_expr(p);

	cel_expect(p, ']', "']'");
	cel_height_of(p, height);
	cel_raise_height(p);
	return cel_call_new(p, cel_place(p, start, at), function,
			    (struct cel_expr *[]){operand, index}, 2);
}

struct cel_expr *cel_parse_member(struct cel_parser *p, uint32_t start,
				  bool minus)
{
	struct cel_expr *expr =
		minus ? parse_literal(p, start, true) : parse_primary(p);

	for (;;) {
		if (cel_accept(p, '.'))
			expr = parse_select(p, start, expr);
		else if (cel_accept(p, '['))
			expr = parse_index(p, start, expr);
		else
			break;
	}
	if (p->token.kind == '{' &&
	    (expr->kind == EXPR_IDENT || expr->kind == EXPR_SELECT))
		cel_parser_stop(p, cel_place(p, start, start),
				"messages are not supported");
	return expr;
}
