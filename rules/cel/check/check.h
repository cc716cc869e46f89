/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Environments, the type checker, and the unification of types (cel-go
 * checker/checker.go, with the options that Kubernetes sets: homogeneous
 * aggregate literals, cross-type numeric comparisons, optional types).
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

/*
 * Unification of types that contain variables (cel-go checker/types.go,
 * mapping.go). A variable is a type of kind CEL_PARAM that the unifier created.
 */

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

/* State of the type checker for one program, shared by its files. */

struct local {
	const char *name;
	const struct cel_type *type;
};

struct checker {
	struct arena *arena;
	const struct cel_env *env;
	struct cel_program *program;
	struct cel_issues *issues;
	struct unifier unifier;
	/* Variables of the enclosing comprehensions. The index of a variable is
	 * its slot. */
	struct local *locals;
	size_t nlocals, locals_size;
	bool *exempt; /* expressions inside of a call of format(), by id */
	bool wrong;
};

/* Adds an issue about an expression. */
void checker_issue(struct checker *c, const struct cel_expr *expr,
		   const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Reports "expected type 'a' but found 'b'". */
void checker_mismatch(struct checker *c, const struct cel_expr *expr,
		      const struct cel_type *want, const struct cel_type *got);
const struct cel_type *checker_substitute(struct checker *c,
					  const struct cel_type *type);

void checker_check(struct checker *c, struct cel_expr *expr);
/* Checks calls and operators, except those of optional fields. */
void checker_call(struct checker *c, struct cel_expr *expr);
/* Returns the name made of a chain of selections (`a.b.c`), or NULL. */
const char *checker_qualified_name(struct checker *c,
				   const struct cel_expr *expr);
void checker_undeclared(struct checker *c, const struct cel_expr *expr,
			const char *name, const char *near);

/* Rejects literals that would fail at run time (cel-go cel/validator.go, for
 * the checks that Kubernetes enables). */
void checker_validate(struct checker *c);

#endif
