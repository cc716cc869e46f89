/* SPDX-License-Identifier: Apache-2.0 */
/* The state of one evaluation, shared by the files of the evaluator. */
#ifndef CEL_EVAL_INTERNAL_H
#define CEL_EVAL_INTERNAL_H

#include "cel/cel.h"
#include "rules/cel/check/check.h"

/* A variable of a comprehension. */
struct local_slot {
	struct cel_value value;
	/* An accumulator that nobody read yet: cel-go evaluates what it starts
	 * with when it is read. */
	const struct cel_expr *pending;
	/* An accumulator that started as an empty list or map: it is added to
	 * in place. */
	struct cel_list *list;
	struct cel_value *items;
	size_t size;
	struct cel_map *map;
	struct cel_map_builder builder;
};

struct cel_eval_state {
	struct local_slot *slots;
	bool over; /* the budget: nothing is evaluated any more */
};

/* Adds to the cost; beyond the budget, the evaluation ends. */
static inline void eval_charge(struct cel_eval *ev, uint64_t cost)
{
	ev->cost += cost;
	if (ev->cost > ev->options.budget)
		ev->state->over = true;
}

struct cel_value eval_expr(struct cel_eval *ev, const struct cel_expr *e);
/* Of two results that are no values, or one of which is none. */
struct cel_value eval_graver(struct cel_value a, struct cel_value b);

/* A variable, without its price. */
struct cel_value eval_ident(struct cel_eval *ev, const struct cel_expr *e);
/* Identifiers, selections, indexes, has(), `?:`: what cel-go calls attributes,
 * priced as a whole. */
bool eval_is_attribute(const struct cel_expr *e);
struct cel_value eval_attribute(struct cel_eval *ev, const struct cel_expr *e);

struct cel_value eval_call(struct cel_eval *ev, const struct cel_expr *e);

struct cel_value eval_fold(struct cel_eval *ev, const struct cel_expr *e);
/* The value of an accumulator, a comprehension's variable. */
struct cel_value eval_local(struct cel_eval *ev, unsigned slot);
/* Starts a fold: its accumulator is pending. */
void eval_fold_start(struct cel_eval *ev, const struct cel_expr *e);
/* Binds its variables to element i of a list or map. */
void eval_fold_bind(struct cel_eval *ev, const struct cel_expr *e,
		    struct cel_value range, size_t i);
/* `@result + [x]`; false: the left operand is no list that grows. */
bool eval_fold_add(struct cel_eval *ev, const struct cel_expr *e,
		   struct cel_value *out);
struct cel_value eval_fold_insert(struct cel_eval *ev,
				  const struct cel_expr *e);

#endif
