/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the nodes that decide the result of an expression. If the values of
 * parts show which part decides, they are evaluated again; because expressions
 * are free of side effects, the results are the same.
 */
#include "base/text.h"
#include "rules/cel/eval/eval_internal.h"

struct blame {
	struct cel_eval *ev;
	const struct node **nodes;
	size_t n, max;
};

static void blame(struct blame *b, const struct cel_expr *e);

static void add_node(struct blame *b, const struct node *node)
{
	for (size_t i = 0; i < b->n; i++) {
		if (b->nodes[i] == node)
			return;
	}
	if (node && b->n < b->max)
		b->nodes[b->n++] = node;
}

/* Blames an item that fails, which decides the result; if none fails, all
 * items. */
static void blame_all(struct blame *b, struct cel_expr *const *items,
		      unsigned n)
{
	for (unsigned i = 0; n > 1 && i < n; i++) {
		if (eval_expr(b->ev, items[i]).kind == CEL_ERROR) {
			blame(b, items[i]);
			return;
		}
	}
	for (unsigned i = 0; i < n && b->n < b->max; i++)
		blame(b, items[i]);
}

/* --- reads --------------------------------------------------------------- */

static struct cel_value without_optional(struct cel_value v)
{
	return v.kind == CEL_OPTIONAL && v.optional ? *v.optional : v;
}

/* Blames the nodes that the host names for a field that it computes. */
static bool blame_field(struct blame *b, const struct cel_expr *e)
{
	struct cel_value object;
	size_t n;

	if (e->kind != EXPR_SELECT)
		return false;
	object = eval_expr(b->ev, e->parts[0]);
	if (object.kind != CEL_OBJECT || !object.map->blame)
		return false;
	n = object.map->blame(object.map->context, e->select.field,
			      b->nodes + b->n, b->max - b->n);
	b->n += n;
	return n;
}

/* Returns the read `a.b` in has(a.b). */
static struct cel_expr read_of(const struct cel_expr *e)
{
	struct cel_expr read = *e;

	if (read.kind == EXPR_SELECT)
		read.select.test = false;
	return read;
}

static void blame_read(struct blame *b, const struct cel_expr *e)
{
	struct cel_expr read = read_of(e);
	struct cel_value v = without_optional(eval_expr(b->ev, &read));

	if (v.node && v.kind != CEL_ERROR) {
		add_node(b, v.node);
		return;
	}
	if (blame_field(b, e))
		return;
	if (e->kind == EXPR_SELECT)
		blame(b, e->parts[0]);
	else if (e->kind == EXPR_CALL)
		blame_all(b, e->parts, e->n);
}

/* --- operators ----------------------------------------------------------- */

/* Blames the leftmost operand that decides, or all operands if none does. */
static void blame_logic(struct blame *b, const struct cel_expr *e,
			bool decisive)
{
	for (unsigned i = 0; i < e->n; i++) {
		struct cel_value v = eval_expr(b->ev, e->parts[i]);

		if (v.kind == CEL_BOOL && v.boolean == decisive) {
			blame(b, e->parts[i]);
			return;
		}
	}
	blame_all(b, e->parts, e->n);
}

static void blame_choice(struct blame *b, const struct cel_expr *e)
{
	struct cel_value condition = eval_expr(b->ev, e->parts[0]);

	if (condition.kind == CEL_BOOL)
		blame(b, e->parts[condition.boolean ? 1 : 2]);
	blame(b, e->parts[0]);
}

static void blame_call(struct blame *b, const struct cel_expr *e)
{
	switch (e->call.operation) {
	case OPERATION_AND:
	case OPERATION_OR:
		blame_logic(b, e, e->call.operation == OPERATION_OR);
		break;
	case OPERATION_CHOICE:
		blame_choice(b, e);
		break;
	case OPERATION_INDEX:
	case OPERATION_OPTIONAL_INDEX:
		blame_read(b, e);
		break;
	default:
		blame_all(b, e->parts, e->n);
	}
}

/* --- comprehensions ------------------------------------------------------ */

/* Returns the test that is applied to each element. In all() and exists(), the
 * step has the form `@result && test` or `@result || test`. In other macros the
 * step itself is returned, because it may fail. */
static const struct cel_expr *test_of(const struct cel_expr *fold)
{
	const struct cel_expr *step = fold->parts[FOLD_STEP];

	if (step->kind == EXPR_CALL && (step->call.operation == OPERATION_AND ||
					step->call.operation == OPERATION_OR))
		return step->parts[1];
	return step;
}

/* Blames the first element that decides, or else the first one that fails. */
static bool blame_element(struct blame *b, const struct cel_expr *e,
			  struct cel_value range)
{
	const struct cel_expr *test = test_of(e);
	bool exists = text_eq(e->fold.macro, "exists");
	bool decides = exists || text_eq(e->fold.macro, "all");
	bool decided = false;
	size_t n = cel_size(range), at = n;

	for (size_t i = 0; i < n && !decided && !b->ev->over; i++) {
		struct cel_value v;

		eval_fold_start(b->ev, e);
		eval_fold_bind(b->ev, e, range, i);
		v = eval_expr(b->ev, test);
		decided = decides && v.kind == CEL_BOOL && v.boolean == exists;
		if (decided || (v.kind == CEL_ERROR && at == n))
			at = i;
	}
	if (at == n)
		return false;
	eval_fold_start(b->ev, e);
	eval_fold_bind(b->ev, e, range, at);
	blame(b, test);
	return true;
}

static void blame_fold(struct blame *b, const struct cel_expr *e)
{
	struct cel_value range = eval_expr(b->ev, e->parts[FOLD_RANGE]);
	bool has_elements = range.kind == CEL_LIST || range.kind == CEL_MAP;

	eval_fold_start(b->ev, e);
	if (!text_eq(e->fold.accumulator, CEL_ACCUMULATOR)) {
		blame(b, e->parts[FOLD_RESULT]);
		blame(b, e->parts[FOLD_INIT]);
		return;
	}
	if (!has_elements || !blame_element(b, e, range))
		blame(b, e->parts[FOLD_RANGE]);
}

/* --- all expressions ----------------------------------------------------- */

static void blame(struct blame *b, const struct cel_expr *e)
{
	if (b->n == b->max || b->ev->over)
		return;
	switch (e->kind) {
	case EXPR_CONST:
		break;
	case EXPR_IDENT:
	case EXPR_SELECT:
		blame_read(b, e);
		break;
	case EXPR_CALL:
		blame_call(b, e);
		break;
	case EXPR_LIST:
		blame_all(b, e->parts, e->n);
		break;
	case EXPR_MAP:
		for (unsigned i = 0; i < e->n; i++)
			blame(b, e->parts[i]);
		break;
	case EXPR_FOLD:
		blame_fold(b, e);
		break;
	}
}

size_t cel_eval_blame(struct cel_eval *ev, const struct node **nodes,
		      size_t max)
{
	struct blame b = {.ev = ev, .nodes = nodes, .max = max};
	bool over = ev->over;
	uint64_t cost = ev->cost;

	/* The search has its own budget in addition to that of the
	 * evaluation. */
	ev->cost = ev->work = 0;
	ev->over = false;
	blame(&b, ev->program->root);
	ev->work += ev->cost;
	ev->cost = cost;
	ev->over = over;
	return b.n;
}
