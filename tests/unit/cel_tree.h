/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints an expression as text, with every part in brackets: `(_+_ a 1)`, a
 * member call `(.f target args)`, a selection `(. a b)`, has() `(has a b)`, a
 * list `[a ?b]`, a map `{k:v ?k:v}`, a fold `<var,var2 range accumulator=init
 * while condition do step then result>`.
 */
#ifndef CEL_TREE_H
#define CEL_TREE_H

#include <inttypes.h>

#include "base/buf.h"
#include "rules/cel/syntax/ast.h"

static void tree_text(const struct cel_expr *e, struct buf *out);

static void tree_constant(struct cel_value v, struct buf *out)
{
	switch (v.kind) {
	case CEL_NULL:
		buf_adds(out, "null");
		break;
	case CEL_BOOL:
		buf_adds(out, v.boolean ? "true" : "false");
		break;
	case CEL_INT:
		buf_addf(out, "%" PRId64, v.integer);
		break;
	case CEL_UINT:
		buf_addf(out, "%" PRIu64 "u", v.uinteger);
		break;
	case CEL_DOUBLE:
		buf_addf(out, "%.17gd", v.real);
		break;
	default:
		buf_adds(out, v.kind == CEL_BYTES ? "b'" : "'");
		for (size_t i = 0; i < v.text.len; i++)
			if (v.kind == CEL_BYTES || v.text.data[i] == '\n' ||
			    !v.text.data[i])
				buf_addf(out, "%02x",
					 (unsigned char)v.text.data[i]);
			else
				buf_addc(out, v.text.data[i]);
		buf_addc(out, '\'');
	}
}

static void tree_call(const struct cel_expr *e, struct buf *out)
{
	buf_addf(out, "(%s%s", e->call.member ? "." : "", e->call.function);
	for (unsigned i = 0; i < e->n; i++) {
		buf_addc(out, ' ');
		tree_text(e->parts[i], out);
	}
	buf_addc(out, ')');
}

static void tree_list(const struct cel_expr *e, struct buf *out)
{
	buf_addc(out, '[');
	for (unsigned i = 0; i < e->n; i++) {
		buf_adds(out, i ? " " : "");
		buf_adds(out, e->optional && e->optional[i] ? "?" : "");
		tree_text(e->parts[i], out);
	}
	buf_addc(out, ']');
}

static void tree_map(const struct cel_expr *e, struct buf *out)
{
	buf_addc(out, '{');
	for (unsigned i = 0; i < e->n; i += 2) {
		buf_adds(out, i ? " " : "");
		buf_adds(out, e->optional && e->optional[i + 1] ? "?" : "");
		tree_text(e->parts[i], out);
		buf_addc(out, ':');
		tree_text(e->parts[i + 1], out);
	}
	buf_addc(out, '}');
}

static void tree_fold(const struct cel_expr *e, struct buf *out)
{
	buf_addf(out, "<%s%s%s ", e->fold.var, e->fold.var2 ? "," : "",
		 e->fold.var2 ? e->fold.var2 : "");
	tree_text(e->parts[FOLD_RANGE], out);
	buf_addf(out, " %s=", e->fold.accumulator);
	tree_text(e->parts[FOLD_INIT], out);
	buf_adds(out, " while ");
	tree_text(e->parts[FOLD_CONDITION], out);
	buf_adds(out, " do ");
	tree_text(e->parts[FOLD_STEP], out);
	buf_adds(out, " then ");
	tree_text(e->parts[FOLD_RESULT], out);
	buf_addc(out, '>');
}

static void tree_text(const struct cel_expr *e, struct buf *out)
{
	switch (e->kind) {
	case EXPR_CONST:
		tree_constant(e->constant, out);
		break;
	case EXPR_IDENT:
		buf_addf(out, "%s%s", e->ident.absolute ? "." : "",
			 e->ident.name);
		break;
	case EXPR_SELECT:
		buf_addf(out, "(%s ", e->select.test ? "has" : ".");
		tree_text(e->parts[0], out);
		buf_addf(out, " %.*s)", (int)e->select.field.len,
			 e->select.field.data);
		break;
	case EXPR_CALL:
		tree_call(e, out);
		break;
	case EXPR_LIST:
		tree_list(e, out);
		break;
	case EXPR_MAP:
		tree_map(e, out);
		break;
	case EXPR_FOLD:
		tree_fold(e, out);
		break;
	}
}

#endif
