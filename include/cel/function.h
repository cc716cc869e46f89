/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions and operators: each overload is one row of a table. The checker
 * reads its types, the evaluator its function and its cost. A library is a
 * constant table in its own file (rules/cel/lib); cel_libraries[] in
 * rules/cel/lib/libraries.c lists them. Operators have the names of cel-go:
 * `_+_`, `_[_]`, `@in`, `!_`, `-_`.
 */
#ifndef CEL_FUNCTION_H
#define CEL_FUNCTION_H

#include "cel/value.h"

enum { CEL_ARGS = 8 };

/* One call; alive until the function returns. */
struct cel_call {
	struct cel_eval *eval;
	struct arena *arena; /* of results; lives as long as the evaluation */
	const struct cel_overload *overload;
	const struct cel_value *args; /* the receiver first */
	unsigned n;
};

struct cel_overload {
	const char *name; /* "startsWith", "_+_" */
	/*
	 * As in a CEL declaration: "string.(string) bool" is a member function,
	 * "(A, A) bool" is not; cel_type_parse() reads the types.
	 */
	const char *signature;
	/* Arguments are normal values whose kinds fit the signature (dyn:
	 * anything). NULL: the evaluator implements it (`_&&_`, `_?_:_`). */
	struct cel_value (*call)(struct cel_call *call);
	/*
	 * The cost of a call in addition to its arguments, as Kubernetes 1.37
	 * counts (apiserver pkg/cel/library/cost.go, cel-go
	 * interpreter/runtimecost.go); NULL: 1.
	 */
	uint64_t (*cost)(const struct cel_call *call, struct cel_value result);
};

/* The tables end with {0}, the list ends with NULL. */
extern const struct cel_overload *const cel_libraries[];

/* Costs that many overloads share (rules/cel/value/cost.c): 10 % of the size of
 * the first argument, of the second, of the first two, of twice the first, of
 * the shorter one of two; rounded up. */
uint64_t cel_cost_traverse(const struct cel_call *call,
			   struct cel_value result);
uint64_t cel_cost_traverse_argument(const struct cel_call *call,
				    struct cel_value result);
uint64_t cel_cost_traverse_both(const struct cel_call *call,
				struct cel_value result);
uint64_t cel_cost_twice(const struct cel_call *call, struct cel_value result);
uint64_t cel_cost_shorter(const struct cel_call *call, struct cel_value result);
/* factor * size rounded up, in doubles as Kubernetes computes it: a tenth of 70
 * is 8. */
uint64_t cel_cost_share(uint64_t size, double factor);
/* Size of a value in the units of costs: code points, bytes, items; else 1. */
uint64_t cel_cost_size(struct cel_value value);

#endif
