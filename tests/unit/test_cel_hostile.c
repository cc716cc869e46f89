/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules that would run for a long time or use much memory: they end with a
 * message, and their work until then is limited, in steps and not in time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/buf.h"
#include "cel/cel.h"

#define BUDGET "operation cancelled: actual cost limit exceeded"

enum {
	ITEMS = 10000,
	TEXT = 100000,
	LARGE = 1000000,
	/* Steps of one call; they are counted only before or after the call. */
	ONE_CALL = 700000,
	ARENA_MAX = 256 << 20,
};

struct inputs {
	struct cel_value list, text, line;
};

static struct cel_value variable(struct cel_eval *eval, void *context,
				 unsigned index)
{
	const struct inputs *in = context;

	(void)eval;
	return index == 0 ? in->list : index == 1 ? in->text : in->line;
}

static char *repeated(struct arena *arena, const char *unit, size_t n)
{
	size_t len = strlen(unit);
	char *text = arena_alloc(arena, n * len + 1);

	for (size_t i = 0; i < n; i++)
		memcpy(text + i * len, unit, len);
	text[n * len] = '\0';
	return text;
}

static struct inputs inputs(struct arena *arena)
{
	struct cel_value *items = ARENA_ARRAY(arena, struct cel_value, ITEMS);
	char *line = repeated(arena, "a", 201);

	for (size_t i = 0; i < ITEMS; i++)
		items[i] = cel_int((int64_t)i);
	line[200] = 'b';
	return (struct inputs){
		cel_list(arena, items, ITEMS),
		cel_string(repeated(arena, "1", TEXT)),
		cel_string(line),
	};
}

static const struct cel_program *compile(struct arena *arena, const char *text,
					 struct cel_issues *issues)
{
	static const char *const names[] = {"l", "s", "line"};
	struct cel_variable *variables =
		ARENA_ARRAY(arena, struct cel_variable, ARRAY_SIZE(names) + 1);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		variables[i] = (struct cel_variable){names[i],
						     cel_type_of_kind(CEL_DYN)};
	issues->arena = arena;
	return cel_compile(arena, cel_env_new(arena, variables), text,
			   strlen(text), issues);
}

static void ends_with(const char *text, const char *error)
{
	struct arena arena = ARENA_INIT;
	struct inputs in = inputs(&arena);
	struct cel_issues issues = {0};
	const struct cel_program *program = compile(&arena, text, &issues);
	struct cel_eval_options options = {.variable = variable,
					   .context = &in,
					   .budget = CEL_EXPRESSION_BUDGET};
	struct cel_eval eval;
	struct cel_value value;

	if (!program)
		fail_msg("%s: %s", text, issues.items[0].text);
	cel_eval_init(&eval, program, &arena, &options);
	value = cel_eval_run(&eval);
	if (!cel_is(value, CEL_ERROR) || !cel_text_eq(value.text, error))
		fail_msg("%s: does not end with %s", text, error);
	if (eval.work > CEL_WORK + ONE_CALL)
		fail_msg("%s: work %zu", text, (size_t)eval.work);
	if (arena.used > ARENA_MAX)
		fail_msg("%s: %zu bytes", text, arena.used);
	arena_release(&arena);
}

static void loops_end_with_their_budget(void **state)
{
	static const char *const rows[] = {
		"l.all(x, l.all(y, x + y >= 0))",
		"l.map(x, l.map(y, l.map(z, x)))",
		"l.exists(x, l.exists(y, x + y < 0))",
		"l.transformMap(k, v, l.transformMap(a, b, b))",
		"lists.range(1000000).size() > 0",
		"l.all(x, l.all(y, y in l))",
		"l.all(x, l == l)",
		"l.map(x, l + l + l + l).size()",
		"l.map(x, [l, l, l]).flatten().flatten().size()",
		"l.all(x, l.map(x, [l, l, l]).reverse().size() > 0)",
		"l.map(x, optional.of(l).optMap(y, y + y)).size()",
		"l.map(x, '%s'.format([l])).size()",
		"l.map(x, l.sort()).size()",
		"l.all(x, l.distinct().size() > 0)",
		"l.all(x, sets.contains(l, l))",
		"l.all(x, {'a': l} == {'a': l})",
		"l.all(x, l.all(y, l.first().hasValue()))",
		"l.all(x, l.all(y, optional.of(l).value().size() > 0))",
		"l.map(x, s.split('')).size()",
		"l.map(x, s + s).size()",
		"l.all(x, isURL('https://a/' + s))",
		"l.all(x, int(string(x) + s) == 1 || true)",
		"l.all(x, s.charAt(99999) == '1')",
		"l.all(x, line.matches('(a+)+$'))",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ends_with(rows[i], BUDGET);
}

static void patterns_end_at_a_limit(void **state)
{
	(void)state;
	ends_with("line.matches('(a+)+$')",
		  "regular expression `(a+)+$`: match limit exceeded");
	ends_with("line.find('^(a|aa)+$') == ''",
		  "regular expression `^(a|aa)+$`: match limit exceeded");
	ends_with("line.matches('((a{0,100}){0,100})' + '{0,100}')",
		  "'((a{0,100}){0,100}){0,100}' is not a regular expression");
}

static void refuses(struct arena *arena, const char *text, const char *why)
{
	struct cel_issues issues = {0};

	if (compile(arena, text, &issues))
		fail_msg("%.20s...: taken", text);
	assert_string_equal(issues.items[0].text, why);
	if (arena->used > ARENA_MAX)
		fail_msg("%.20s...: %zu bytes", text, arena->used);
	arena_release(arena);
}

static void large_and_deep_expressions_are_rejected(void **state)
{
	static const struct {
		const char *unit;
		size_t n;
		const char *why;
	} rows[] = {
		{"1+", LARGE / 2,
		 "expression code point size exceeds limit: size: 1000000, "
		 "limit 100000"},
		{"'a' +", LARGE / 5,
		 "expression code point size exceeds limit: size: 1000000, "
		 "limit 100000"},
		{"(", 1000, "expression recursion limit exceeded: 250"},
		{"[", 1000, "expression recursion limit exceeded: 250"},
		{"l.map(x,", 1000, "expression recursion limit exceeded: 250"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct arena arena = ARENA_INIT;

		refuses(&arena, repeated(&arena, rows[i].unit, rows[i].n),
			rows[i].why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loops_end_with_their_budget),
		cmocka_unit_test(patterns_end_at_a_limit),
		cmocka_unit_test(large_and_deep_expressions_are_rejected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
