/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: from the text to what the evaluator runs. */
#include <string.h>

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

struct variable_rename {
	const struct cel_program *program;
	unsigned variable;
	/* Of each byte of the text: what a read that begins there is long. */
	uint32_t *reads;
};

static void mark(struct cel_expr *expr, void *context)
{
	struct variable_rename *rename = context;

	if (expr->kind == EXPR_IDENT && expr->ident.is == NAME_VARIABLE &&
	    expr->ident.index == rename->variable)
		rename->reads[expr->start] = expr->end - expr->start;
}

const char *cel_program_renamed(struct arena *arena,
				const struct cel_program *program,
				const char *name, const char *to)
{
	int variable = cel_env_variable(program->env, name);
	struct variable_rename rename = {
		program, (unsigned)variable,
		ARENA_ARRAY(arena, uint32_t, program->len + 1)};
	char *text = arena_alloc(arena, program->len * (strlen(to) + 1) + 1);
	size_t n = 0;

	if (variable >= 0)
		cel_expr_each(program->root, mark, &rename);
	for (size_t i = 0; i < program->len;) {
		uint32_t read = rename.reads[i];

		if (read) {
			memcpy(text + n, to, strlen(to));
			n += strlen(to);
		} else {
			text[n++] = program->text[i];
		}
		i += read ? read : 1;
	}
	text[n] = '\0';
	return text;
}
