/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: from the text to what the evaluator runs. */
#include "rules/cel/check/check.h"

const struct cel_program *cel_compile(struct arena *arena,
				      const struct cel_env *env,
				      const char *text, size_t len,
				      struct cel_issues *issues)
{
	struct cel_program *program = ARENA_NEW(arena, struct cel_program);

	program->env = env;
	program->text = arena_strndup(arena, text, len);
	program->len = len;
	program->root =
		cel_parse(arena, program->text, len, &program->nexprs, issues);
	if (!program->root || cel_check(arena, program, issues) != 0)
		return NULL;
	cel_prepare(arena, program);
	return program;
}

const struct cel_type *cel_program_type(const struct cel_program *program)
{
	return program->root->type;
}

struct variable_search {
	unsigned variable;
	bool found;
};

static void look(struct cel_expr *expr, void *context)
{
	struct variable_search *search = context;

	if (expr->kind == EXPR_IDENT && expr->ident.is == NAME_VARIABLE &&
	    expr->ident.index == search->variable)
		search->found = true;
}

bool cel_program_reads(const struct cel_program *program, const char *name)
{
	int variable = cel_env_variable(program->env, name);
	struct variable_search search = {(unsigned)variable, false};

	if (variable >= 0)
		cel_expr_each(program->root, look, &search);
	return search.found;
}
