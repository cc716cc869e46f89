/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions and operators: each overload is one row of a table, from which the
 * checker reads the types and the evaluator the function and the cost. A
 * library is a constant table in its own file (rules/cel/lib); cel_libraries[]
 * in rules/cel/lib/libraries.c lists them. Operators have the names of cel-go:
 * `_+_`, `_[_]`, `@in`, `!_`, `-_`.
 */
#ifndef CEL_FUNCTION_H
#define CEL_FUNCTION_H

#include "cel/value.h"

enum { CEL_ARGS = 8 };

/* Arguments and memory of one call; valid until the function returns. */
struct cel_call {
	struct cel_eval *eval;
	/* memory of results; lives as long as the evaluation */
	struct arena *arena;
	const struct cel_overload *overload;
	const struct cel_value *args; /* receiver of a member function first */
	unsigned n;
};

struct cel_overload {
	const char *name; /* "startsWith", "_+_" */
	/*
	 * Signature as in a CEL declaration: "string.(string) bool" is a member
	 * function, "(A, A) bool" is not. cel_type_parse() reads the types.
	 */
	const char *signature;
	/* Computes the result. The arguments are normal values (no errors, no
	 * unknowns) whose kinds fit the signature (dyn: anything). NULL: the
	 * evaluator implements it (`_&&_`, `_?_:_`). */
	struct cel_value (*call)(struct cel_call *call);
	/*
	 * Returns the cost of a call without that of its arguments, as
	 * Kubernetes 1.37 counts it (apiserver pkg/cel/library/cost.go, cel-go
	 * interpreter/runtimecost.go). NULL: the cost is 1.
	 */
	uint64_t (*cost)(const struct cel_call *call, struct cel_value result);
};

/* Each table ends with {0}, the list of tables with NULL. */
extern const struct cel_overload *const cel_libraries[];

/* Costs that many overloads share (rules/cel/value/value.c): 10 %, rounded up,
 * of the size of the first argument, of the second, of the first two, of twice
 * the first, or of the shorter of two. */
uint64_t cel_cost_traverse(const struct cel_call *call,
			   struct cel_value result);
uint64_t cel_cost_traverse_argument(const struct cel_call *call,
				    struct cel_value result);
uint64_t cel_cost_traverse_both(const struct cel_call *call,
				struct cel_value result);
uint64_t cel_cost_twice(const struct cel_call *call, struct cel_value result);
uint64_t cel_cost_shorter(const struct cel_call *call, struct cel_value result);
/* Returns factor * size rounded up, computed in doubles as in Kubernetes: 0.1 *
 * 70 gives 8. */
uint64_t cel_cost_share(uint64_t size, double factor);
/* Returns the size of a value in the units of costs, which are code points,
 * bytes or items. Returns 1 for other kinds. */
uint64_t cel_cost_size(struct cel_value value);

#endif
