/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles programs: parses and checks a text and prepares it for the
 * evaluator. */
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
	cel_prepare(arena, program->root);
	return program;
}

const struct cel_type *cel_program_type(const struct cel_program *program)
{
	return program->root->type;
}

struct variable_reads {
	int variable; /* -1: the name is unknown */
	bool found;
	/* For each byte of the text, the length of the read of the variable
	 * that begins there, or 0. NULL if it is not needed. */
	uint32_t *lengths;
};

static void look(struct cel_expr *expr, void *context)
{
	struct variable_reads *reads = context;

	if (expr->kind != EXPR_IDENT || expr->ident.is != NAME_VARIABLE ||
	    (int)expr->ident.index != reads->variable)
		return;
	reads->found = true;
	if (reads->lengths)
		reads->lengths[expr->start] = expr->end - expr->start;
}

bool cel_program_reads(const struct cel_program *program, const char *name)
{
	struct variable_reads reads = {
		.variable = cel_env_variable(program->env, name)};

	cel_expr_each(program->root, look, &reads);
	return reads.found;
}

const char *cel_program_renamed(struct arena *arena,
				const struct cel_program *program,
				const char *name, const char *to)
{
	struct variable_reads reads = {
		.variable = cel_env_variable(program->env, name),
		.lengths = ARENA_ARRAY(arena, uint32_t, program->len + 1)};
	char *text = arena_alloc(arena, program->len * (strlen(to) + 1) + 1);
	size_t n = 0;

	cel_expr_each(program->root, look, &reads);
	for (size_t i = 0; i < program->len;) {
		uint32_t read = reads.lengths[i];

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
