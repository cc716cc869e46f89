/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of one evaluation, shared by the files of the evaluator.
 *
 * Differences from cel-go 0.29 with Kubernetes' options:
 * - if one argument is unknown and another is an error, the result is unknown;
 * - has() of a placeholder is true, and the size of a list of placeholders is
 *   known;
 * - in a fragment (options.fragment), an absent key or element is unknown, and
 *   so is the size of a list or map;
 * - a constant part of an expression fails when it is evaluated, whereas the
 *   API server rejects the whole expression;
 * - work that the cost does not count is limited (CEL_WORK), and so is memory;
 * - a sum of lists has at most a million elements, a sum of strings 4 MiB;
 * - if an operand fails where cel-go panics, the result is the operand's error;
 * - adding bytes never changes the operands.
 */
#ifndef CEL_EVAL_INTERNAL_H
#define CEL_EVAL_INTERNAL_H

#include "cel/cel.h"
#include "rules/cel/check/check.h"

/* A variable of a comprehension. */
struct cel_slot {
	struct cel_value value;
	/* Initial expression of an accumulator that was not read yet. Like
	 * cel-go, it is evaluated on the first read. */
	const struct cel_expr *pending;
	/* An accumulator that started as an empty list or map and is extended
	 * in place. */
	struct cel_items *grows;
	struct cel_value *items; /* for a list */
	size_t size;
	struct cel_map_builder builder; /* for a map */
};

/* Adds to the cost. If the budget is exceeded, sets over, which ends the
 * evaluation. */
static inline void eval_charge(struct cel_eval *ev, uint64_t cost)
{
	if (ev->over)
		return;
	ev->cost += cost;
	ev->over = ev->cost > ev->options.budget;
}

/* Ends the evaluation if its values take too much memory. */
static inline void eval_memory(struct cel_eval *ev)
{
	ev->over |= ev->arena->used - ev->memory_before > CEL_MEMORY;
}

/* Adds work that the cost does not count. Ends the evaluation if the limit is
 * exceeded. */
static inline void eval_work(struct cel_eval *ev, uint64_t work)
{
	ev->work += work;
	ev->over |= ev->work > ev->options.work;
	eval_memory(ev);
}

struct cel_value eval_expr(struct cel_eval *ev, const struct cel_expr *e);
/* Returns the more important one of two results, at least one of which is an
 * error or unknown. */
struct cel_value eval_graver(struct cel_value a, struct cel_value b);

/* True if a list or map may have other items, which are unknown: in a fragment,
 * or if the map has NODE_OPEN. */
bool eval_holds_more(const struct cel_eval *ev, struct cel_value v);

/* Returns the name of a value's Go type in cel-go, which occurs in errors. */
const char *eval_go_type(struct cel_value value);

/* Returns the value of a variable. Its cost is not counted here. */
struct cel_value eval_ident(struct cel_eval *ev, const struct cel_expr *e);
/* Evaluates the expressions that cel-go calls attributes and whose cost is
 * counted as a whole: identifiers, selections, indexes, has(), `?:`. */
struct cel_value eval_attribute(struct cel_eval *ev, const struct cel_expr *e);

struct cel_value eval_call(struct cel_eval *ev, const struct cel_expr *e);

struct cel_value eval_fold(struct cel_eval *ev, const struct cel_expr *e);
/* Returns the value of a comprehension's variable or accumulator. */
struct cel_value eval_local(struct cel_eval *ev, unsigned slot);
/* Starts a fold, whose accumulator is not evaluated yet. */
void eval_fold_start(struct cel_eval *ev, const struct cel_expr *e);
/* Sets the fold's variables to element i of a list or map. */
void eval_fold_bind(struct cel_eval *ev, const struct cel_expr *e,
		    struct cel_value range, size_t i);
/* Evaluates `@result + [x]`. Returns false if the left operand is not a list
 * that is extended in place. */
bool eval_fold_add(struct cel_eval *ev, const struct cel_expr *e,
		   struct cel_value *out);
struct cel_value eval_fold_insert(struct cel_eval *ev,
				  const struct cel_expr *e);

#endif
