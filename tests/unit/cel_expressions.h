/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates expressions without variables, and compares the results. */
#ifndef CEL_EXPRESSIONS_H
#define CEL_EXPRESSIONS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "cel/cel.h"
#include "cel_value_text.h"

struct expression {
	const char *text;
	/* The result if it is a string; "error" for any error. */
	const char *value;
};

static inline struct cel_value evaluate(struct arena *arena, const char *text)
{
	static const struct cel_variable none[] = {{0}};
	struct cel_eval_options options = {.budget = CEL_EXPRESSION_BUDGET};
	struct cel_issues issues = {.arena = arena};
	const struct cel_program *program = cel_compile(
		arena, cel_env_new(arena, none), text, strlen(text), &issues);
	struct cel_eval eval;

	if (!program) {
		print_error("%s: %s\n", text, issues.items[0].text);
		fail();
	}
	cel_eval_init(&eval, program, arena, &options);
	return cel_eval_run(&eval);
}

static inline void check_expressions(const struct expression *rows, size_t n)
{
	struct arena arena = ARENA_INIT;
	size_t wrong = 0;
	struct buf text;

	buf_init(&text);
	for (size_t i = 0; i < n; i++) {
		struct cel_value value = evaluate(&arena, rows[i].text);

		buf_reset(&text);
		if (value.kind == CEL_ERROR &&
		    strcmp(rows[i].value, "error") == 0)
			buf_adds(&text, "error");
		else if (value.kind == CEL_STRING)
			buf_add(&text, value.text.data, value.text.len);
		else
			value_text(value, &text);
		if (strcmp(text.data, rows[i].value) != 0) {
			print_error("%s\n  is   %s\n  want %s\n", rows[i].text,
				    text.data, rows[i].value);
			wrong++;
		}
		arena_reset(&arena);
	}
	buf_release(&text);
	arena_release(&arena);
	assert_int_equal(wrong, 0);
}

#endif
