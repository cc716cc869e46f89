/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of rejections: each expression and each message compiles, and a check
 * is marked `absent` if and only if it may reject an object that lacks the
 * field of the check. The test evaluates the rule for an object in which that
 * field is missing and all others are unknown: the rule may reject it unless
 * the result is true or an error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "cel/cel.h"
#include "engine/registry.h"
#include "engine/rule.h"

enum { SELF, OWNER, OBJECT, RUNTIME, VARIABLES };

/* A value that lacks the field at the path: the first `present` words of the
 * path exist, the next one is missing. */
struct lacking {
	const char *path;
	size_t present;
};

static size_t word_length(const char *path)
{
	return strcspn(path, path[0] == '[' ? "]" : ".[");
}

static const char *next_word(const char *path)
{
	path += word_length(path);
	path += *path == ']';
	return path + (*path == '.');
}

static struct cel_value lacking_value(struct cel_eval *eval,
				      struct lacking lacking);

static bool read_field(struct cel_eval *eval, void *context,
		       struct cel_text name, struct cel_value *out)
{
	const struct lacking *lacking = context;
	const char *word = lacking->path + (*lacking->path == '[');
	size_t len = word_length(lacking->path) - (*lacking->path == '[');

	*out = cel_unknown(NULL);
	if (name.len != len || memcmp(name.data, word, len) != 0)
		return true;
	if (!lacking->present)
		return false;
	*out = lacking_value(eval, (struct lacking){next_word(lacking->path),
						    lacking->present - 1});
	return true;
}

static struct cel_value lacking_value(struct cel_eval *eval,
				      struct lacking lacking)
{
	struct cel_items *map = ARENA_NEW(eval->arena, struct cel_items);
	struct lacking *copy;

	map->field = read_field;
	copy = ARENA_NEW(eval->arena, struct lacking);
	*copy = lacking;
	map->context = copy;
	return (struct cel_value){.kind = CEL_OBJECT, .map = map};
}

static struct cel_value read_variable(struct cel_eval *eval, void *context,
				      unsigned index)
{
	return index == SELF ? lacking_value(eval, *(struct lacking *)context)
			     : cel_unknown(NULL);
}

static const struct cel_program *compiled(struct arena *arena, const char *text)
{
	struct cel_variable *v =
		ARENA_ARRAY(arena, struct cel_variable, VARIABLES + 1);
	struct cel_issues issues = {.arena = arena};
	const struct cel_program *program;

	v[SELF].name = "self";
	v[OWNER].name = "owner";
	v[OBJECT].name = "object";
	v[RUNTIME].name = "runtime";
	for (size_t i = 0; i < VARIABLES; i++)
		v[i].type = cel_type_of_kind(CEL_DYN);
	program = cel_compile(arena, cel_env_new(arena, v), text, strlen(text),
			      &issues);
	if (!program)
		fail_msg("%s: %s", text, issues.items[0].text);
	return program;
}

static bool may_reject(const char *rule, struct lacking lacking)
{
	struct arena arena = ARENA_INIT;
	struct cel_eval_options options = {.variable = read_variable,
					   .context = &lacking,
					   .budget = CEL_EXPRESSION_BUDGET};
	struct cel_eval eval;
	struct cel_value value;
	bool may;

	cel_eval_init(&eval, compiled(&arena, rule), &arena, &options);
	value = cel_eval_run(&eval);
	may = value.kind == CEL_UNKNOWN || cel_is_false(value);
	arena_release(&arena);
	return may;
}

static bool may_reject_absent(const struct rejection *one)
{
	size_t present = 0;

	for (const char *path = one->field; *path; path = next_word(path))
		if (may_reject(one->rule,
			       (struct lacking){one->field, present++}))
			return true;
	return false;
}

static void expressions_compile(void **state)
{
	struct arena arena = ARENA_INIT;
	size_t n = 0;

	for (size_t i = 0; i < all_rules_count; i++) {
		const struct rejections *of = all_rules[i]->rejections;

		for (size_t k = 0; of && of->items[k].id; k++) {
			if (of->items[k].rule)
				compiled(&arena, of->items[k].rule);
			compiled(&arena, of->items[k].message);
			n++;
		}
	}
	assert_true(n > 200);
	arena_release(&arena);
	(void)state;
}

static void checks_of_missing_fields_are_marked(void **state)
{
	for (size_t i = 0; i < all_rules_count; i++) {
		const struct rejections *of = all_rules[i]->rejections;

		for (size_t k = 0; of && of->items[k].id; k++) {
			const struct rejection *one = &of->items[k];

			if (!one->rule || !one->field ||
			    text_ends(one->field, "]"))
				continue;
			if (one->absent != may_reject_absent(one))
				fail_msg("%s/%s: .absent is %d",
					 all_rules[i]->name, one->id,
					 one->absent);
		}
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expressions_compile),
		cmocka_unit_test(checks_of_missing_fields_are_marked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
