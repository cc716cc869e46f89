/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Environments and the type checker (cel-go checker/checker.go, with the
 * options that Kubernetes sets: homogeneous aggregate literals, cross-type
 * numeric comparisons, optional types).
 */
#ifndef CEL_CHECK_H
#define CEL_CHECK_H

#include "cel/function.h"
#include "rules/cel/syntax/ast.h"

struct cel_env {
	const struct cel_variable *variables;
	size_t n;
};

struct cel_program {
	const struct cel_env *env;
	const char *text;
	size_t len;
	struct cel_expr *root;
	uint32_t nexprs;
	unsigned nslots; /* number of comprehension variables */
};

/* An overload with its parsed signature. */
struct cel_signature {
	const struct cel_overload *overload;
	unsigned looks; /* bits of enum cel_looks */
	bool member;
	bool generic;			       /* some type is a parameter */
	const struct cel_type *args[CEL_ARGS]; /* type of the receiver first */
	unsigned n;
	const struct cel_type *result;
};

/* Returns all overloads of a name; sets *n to their number. */
const struct cel_signature *cel_env_overloads(const char *name, size_t *n);
/* Returns the index of a variable, or -1. */
int cel_env_variable(const struct cel_env *env, const char *name);
/* Returns the type that a name denotes (`int`, `google.protobuf.Duration`),
 * or NULL. */
const struct cel_type *cel_env_type(const char *name);
/* Returns a suggestion for "did you mean", or NULL. */
const char *cel_env_nearest_function(const char *name);
/* Returns 0, or -1 with the reasons in issues. */
int cel_check(struct arena *arena, struct cel_program *program,
	      struct cel_issues *issues);
/* Prepares a checked expression for the evaluator, and evaluates its constant
 * parts. */
void cel_prepare(struct arena *arena, struct cel_expr *expr);

#endif
