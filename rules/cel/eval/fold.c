/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluates comprehensions (cel-go interpreter/interpretable.go, folder). If a
 * condition is not a bool, the fold continues, as in cel-go.
 */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "rules/cel/eval/eval_internal.h"
#include "rules/cel/lib/lib_internal.h"

void eval_fold_start(struct cel_eval *ev, const struct cel_expr *e)
{
	ev->slots[e->fold.accumulator_slot] = (struct cel_slot){.pending = e};
}

/* Creates a list or map that can be extended in place, because only the macro's
 * own step reads it. */
static void grow(struct cel_eval *ev, struct cel_slot *slot)
{
	if ((slot->value.kind != CEL_LIST && slot->value.kind != CEL_MAP) ||
	    cel_size(slot->value))
		return;
	slot->grows = ARENA_NEW(ev->arena, struct cel_items);
	slot->value.list = slot->grows;
}

/* Returns the initial value of an accumulator. Comprehensions in it may use
 * slots from this one on. */
static struct cel_value first_value(struct cel_eval *ev,
				    const struct cel_expr *fold)
{
	struct cel_slot *slots = ev->slots;
	size_t n = ev->program->nslots;
	struct cel_value value;

	if (fold->parts[FOLD_INIT]->kind == EXPR_CONST)
		return fold->parts[FOLD_INIT]->constant;
	ev->slots = ARENA_ARRAY(ev->arena, struct cel_slot, n);
	memcpy(ev->slots, slots, n * sizeof(*slots));
	value = eval_expr(ev, fold->parts[FOLD_INIT]);
	ev->slots = slots;
	return value;
}

struct cel_value eval_local(struct cel_eval *ev, unsigned i)
{
	struct cel_slot *slot = &ev->slots[i];
	const struct cel_expr *fold = slot->pending;

	if (fold) {
		slot->pending = NULL;
		slot->value = first_value(ev, fold);
		if (text_eq(fold->fold.accumulator, CEL_ACCUMULATOR))
			grow(ev, slot);
	}
	return slot->value;
}

/* --- elements ------------------------------------------------------------ */

void eval_fold_bind(struct cel_eval *ev, const struct cel_expr *e,
		    struct cel_value range, size_t i)
{
	struct cel_slot *slots = ev->slots;
	struct cel_entry entry;

	if (range.kind == CEL_LIST) {
		entry.key = cel_int((int64_t)i);
		entry.value = cel_list_at(ev->arena, range, i);
		if (!e->fold.var2)
			entry.key = entry.value;
	} else {
		entry = cel_map_at(ev->arena, range, i);
		if (range.map->node && entry.value.kind == CEL_UNKNOWN &&
		    !entry.value.node)
			entry.key = entry.value;
	}
	slots[e->fold.slot] = (struct cel_slot){.value = entry.key};
	if (e->fold.var2)
		slots[e->fold.slot2] = (struct cel_slot){.value = entry.value};
}

static struct cel_value no_range(struct cel_eval *ev, const struct cel_expr *e,
				 struct cel_value range)
{
	if (e->fold.var2)
		return cel_error(ev->arena,
				 "unsupported comprehension range type: %s",
				 eval_go_type(range));
	return cel_error(ev->arena, "got '%s', expected iterable type",
			 eval_go_type(range));
}

/* Adjusts the result of a macro over a list that may have more elements. An
 * element that decides makes the result final; otherwise it is unknown. */
static struct cel_value with_more(const struct cel_expr *e,
				  struct cel_value result)
{
	bool exists = text_eq(e->fold.macro, "exists");
	bool decided = result.kind == CEL_BOOL && result.boolean == exists;

	if (!exists && !text_eq(e->fold.macro, "all"))
		decided = cel_is_abnormal(result);
	return decided ? result : cel_unknown(NULL);
}

struct cel_value eval_fold(struct cel_eval *ev, const struct cel_expr *e)
{
	struct cel_value range = eval_expr(ev, e->parts[FOLD_RANGE]);
	struct cel_slot *slot;
	struct cel_value value;
	size_t n;

	if (cel_is_abnormal(range))
		return range;
	if (range.kind != CEL_LIST && range.kind != CEL_MAP)
		return no_range(ev, e, range);
	n = cel_size(range);
	eval_fold_start(ev, e);
	slot = &ev->slots[e->fold.accumulator_slot];
	for (size_t i = 0; i < n && !ev->over; i++) {
		eval_fold_bind(ev, e, range, i);
		if (cel_is_false(eval_expr(ev, e->parts[FOLD_CONDITION])))
			break;
		value = eval_expr(ev, e->parts[FOLD_STEP]);
		eval_memory(ev);
		slot->pending = NULL;
		slot->value = value;
	}
	value = eval_expr(ev, e->parts[FOLD_RESULT]);
	return eval_holds_more(ev, range) ? with_more(e, value) : value;
}

/* --- accumulators that are extended in place ----------------------------- */

static struct cel_slot *growing(struct cel_eval *ev, const struct cel_expr *e)
{
	const struct cel_expr *left = e->parts[0];

	if (left->kind != EXPR_IDENT || left->ident.is != NAME_LOCAL)
		return NULL;
	eval_local(ev, left->ident.index);
	return &ev->slots[left->ident.index];
}

static void append(struct cel_eval *ev, struct cel_slot *slot,
		   struct cel_value item)
{
	*VEC_PUSH(ev->arena, slot->items, slot->grows->n, slot->size) = item;
	slot->grows->values = slot->items;
}

/* Returns the single item of `[x]` without creating the list, otherwise the
 * list. */
static struct cel_value right_side(struct cel_eval *ev,
				   const struct cel_expr *right, bool *single)
{
	struct cel_value item;

	*single = right->kind == EXPR_LIST && right->n == 1 && !right->optional;
	if (!*single)
		return eval_expr(ev, right);
	item = eval_expr(ev, right->parts[0]);
	eval_charge(ev, 10); /* cost of the list */
	return item;
}

bool eval_fold_add(struct cel_eval *ev, const struct cel_expr *e,
		   struct cel_value *out)
{
	struct cel_slot *slot = growing(ev, e);
	struct cel_value right;
	bool single;

	if (!slot || !slot->grows)
		return false;
	eval_charge(ev, 1); /* cost of reading the accumulator */
	right = right_side(ev, e->parts[1], &single);
	eval_charge(ev, 1); /* cost of the call */
	*out = eval_graver(slot->value, right);
	if (cel_is_abnormal(*out))
		return true;
	if (!single)
		eval_work(ev, cel_size(right));
	if (single)
		append(ev, slot, right);
	for (size_t i = 0; !single && i < cel_size(right); i++)
		append(ev, slot, cel_list_at(ev->arena, right, i));
	*out = slot->value;
	return true;
}

static struct cel_value insert(struct cel_eval *ev, struct cel_slot *slot,
			       struct cel_entry entry)
{
	if (cel_map_put(ev->arena, &slot->builder, entry, false)) {
		slot->grows->entries = slot->builder.entries;
		slot->grows->n = slot->builder.n;
		slot->grows->index = slot->builder.index;
		return slot->value;
	}
	return cel_error(ev->arena, "insert failed: key %s already exists",
			 cel_value_text(ev->arena, entry.key));
}

static struct cel_value insert_all(struct cel_eval *ev, struct cel_slot *slot,
				   struct cel_value map)
{
	struct cel_value result = slot->value;

	eval_work(ev, cel_size(map));
	for (size_t i = 0; i < cel_size(map) && !cel_is_abnormal(result); i++)
		result = insert(ev, slot, cel_map_at(ev->arena, map, i));
	return result;
}

struct cel_value eval_fold_insert(struct cel_eval *ev, const struct cel_expr *e)
{
	struct cel_slot *slot = growing(ev, e);
	struct cel_entry entry;

	eval_charge(ev, 1); /* cost of reading the accumulator */
	if (cel_is_abnormal(slot->value) && e->n > 2)
		return slot->value;
	entry.key = eval_expr(ev, e->parts[1]);
	if (e->n == 2) {
		struct cel_value graver = eval_graver(slot->value, entry.key);

		eval_charge(ev, 1);
		return cel_is_abnormal(graver)
			       ? graver
			       : insert_all(ev, slot, entry.key);
	}
	if (cel_is_abnormal(entry.key))
		return entry.key;
	entry.value = eval_expr(ev, e->parts[2]);
	eval_charge(ev, 1);
	return cel_is_abnormal(entry.value) ? entry.value
					    : insert(ev, slot, entry);
}
