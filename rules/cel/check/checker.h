/* SPDX-License-Identifier: Apache-2.0 */
/* State of the type checker for one program, shared by its files. */
#ifndef CEL_CHECKER_H
#define CEL_CHECKER_H

#include "rules/cel/check/unify.h"

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
