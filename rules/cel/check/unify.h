/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unification of types that contain variables (cel-go checker/types.go,
 * mapping.go). A variable is a type of kind CEL_PARAM that the unifier created.
 */
#ifndef CEL_UNIFY_H
#define CEL_UNIFY_H

#include "rules/cel/check/check.h"

struct type_variable {
	struct cel_type type; /* must be the first member */
	unsigned index;
};

/* All type variables of a program, and their bindings in the order of time. */
struct unifier {
	struct arena *arena;
	/* type of each variable (NULL: unbound) */
	const struct cel_type **bound;
	size_t nvariables, variables_size;
	struct binding {
		unsigned variable;
		const struct cel_type *before;
	} * bindings;
	size_t n, size;
};

const struct cel_type *unify_variable(struct unifier *u);
/*
 * True if a value of type `from` can be assigned to type `to`. Variables are
 * bound as needed, but only if the result is true.
 */
bool unify_assignable(struct unifier *u, const struct cel_type *from,
		      const struct cel_type *to);
bool unify_all_assignable(struct unifier *u, const struct cel_type *const *from,
			  const struct cel_type *const *to, size_t n);
/* Replaces bound variables by their types. to_dyn replaces unbound ones by
 * dyn. */
const struct cel_type *
unify_substitute(struct unifier *u, const struct cel_type *type, bool to_dyn);
/* Returns the more general one of two types that unify. */
const struct cel_type *unify_general(const struct cel_type *a,
				     const struct cel_type *b);

/* The parameters of a signature as variables. Equal letters become the same
 * variable. */
struct instance {
	struct unifier *unifier;
	const char *names[CEL_ARGS];
	const struct cel_type *variables[CEL_ARGS];
	unsigned n;
};

const struct cel_type *unify_instantiate(struct instance *instance,
					 const struct cel_type *type);

#endif
