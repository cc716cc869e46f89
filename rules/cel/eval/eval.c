/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates expressions like cel-go's interpreter with the options that
 * Kubernetes sets. */
#include "rules/cel/eval/eval_internal.h"
#include "rules/cel/lib/lib_internal.h"

enum { LIST_COST = 10, MAP_COST = 30 }; /* from cel-go common/cost.go */

static struct cel_value cancelled(void)
{
	static const char text[] =
		"operation cancelled: actual cost limit exceeded";

	return (struct cel_value){.kind = CEL_ERROR,
				  .text = {text, sizeof(text) - 1}};
}

struct cel_value eval_graver(struct cel_value a, struct cel_value b)
{
	if (a.kind == CEL_UNKNOWN || !cel_is_abnormal(b))
		return a;
	return b.kind == CEL_UNKNOWN || !cel_is_abnormal(a) ? b : a;
}

struct cel_value eval_ident(struct cel_eval *ev, const struct cel_expr *e)
{
	if (e->ident.is == NAME_LOCAL)
		return eval_local(ev, e->ident.index);
	return ev->options.variable(ev, ev->options.context, e->ident.index);
}

/* --- literals ------------------------------------------------------------ */

/* Evaluates part i of a list or map. Returns false if it is an absent optional,
 * which is left out. */
static bool eval_part(struct cel_eval *ev, const struct cel_expr *e, unsigned i,
		      struct cel_value *out)
{
	*out = eval_expr(ev, e->parts[i]);
	if (!e->optional || !e->optional[i] || cel_is_abnormal(*out))
		return true;
	if (out->kind != CEL_OPTIONAL) {
		*out = cel_error(ev->arena,
				 "cannot initialize optional %s from "
				 "non-optional value %s",
				 e->kind == EXPR_LIST ? "list element"
						      : "entry",
				 cel_value_text(ev->arena, *out));
		return true;
	}
	if (!out->optional)
		return false;
	*out = *out->optional;
	return true;
}

static struct cel_value eval_list(struct cel_eval *ev, const struct cel_expr *e)
{
	struct cel_value *items =
		ARENA_ARRAY(ev->arena, struct cel_value, e->n);
	size_t n = 0;

	for (unsigned i = 0; i < e->n; i++) {
		if (!eval_part(ev, e, i, &items[n]))
			continue;
		if (cel_is_abnormal(items[n]))
			return items[n];
		n++;
	}
	return cel_list(ev->arena, items, n);
}

static struct cel_value eval_map(struct cel_eval *ev, const struct cel_expr *e)
{
	struct cel_map_builder map = {0};
	struct cel_entry entry;

	for (unsigned i = 0; i < e->n; i += 2) {
		eval_part(ev, e, i, &entry.key);
		if (cel_is_abnormal(entry.key))
			return entry.key;
		if (!eval_part(ev, e, i + 1, &entry.value))
			continue;
		if (cel_is_abnormal(entry.value))
			return entry.value;
		cel_map_put(ev->arena, &map, entry, true);
	}
	return cel_map_built(ev->arena, &map);
}

/* --- all expressions ----------------------------------------------------- */

struct cel_value eval_expr(struct cel_eval *ev, const struct cel_expr *e)
{
	struct cel_value value;

	if (ev->over)
		return cancelled();
	switch (e->kind) {
	case EXPR_CONST:
		return e->constant;
	case EXPR_IDENT:
	case EXPR_SELECT:
		return eval_attribute(ev, e);
	case EXPR_CALL:
		return eval_call(ev, e);
	case EXPR_LIST:
		value = eval_list(ev, e);
		eval_charge(ev, LIST_COST);
		return value;
	case EXPR_MAP:
		value = eval_map(ev, e);
		eval_charge(ev, MAP_COST);
		return value;
	default:
		return eval_fold(ev, e);
	}
}

void cel_eval_init(struct cel_eval *ev, const struct cel_program *program,
		   struct arena *arena, const struct cel_eval_options *options)
{
	*ev = (struct cel_eval){
		.program = program, .arena = arena, .options = *options};
	if (!ev->options.work || ev->options.work > CEL_WORK)
		ev->options.work = CEL_WORK;
	ev->slots = ARENA_ARRAY(arena, struct cel_slot, program->nslots);
}

struct cel_value cel_eval_run(struct cel_eval *ev)
{
	struct cel_value value;

	ev->cost = ev->work = 0;
	ev->memory_before = ev->arena->used;
	ev->over = false;
	value = eval_expr(ev, ev->program->root);
	return ev->over ? cancelled() : value;
}
