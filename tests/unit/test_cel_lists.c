/* SPDX-License-Identifier: Apache-2.0 */
/* Lists, sets, optional values. The expected values were printed by cel-go, in
 * Kubernetes 1.37. */
#include "cel_expressions.h"

static const struct expression lists[] = {
	{"\"%s\".format([[1, 2, 3, 4].slice(1, 3)])", "[2, 3]"},
	{"[1].slice(-1, 1)",
	 "error: cannot slice(-1, 1), negative indexes not supported"},
	{"[1].slice(1, 0)",
	 "error: cannot slice(1, 0), start index must be less than or equal to end index"},
	{"[1].slice(0, 2)", "error: cannot slice(0, 2), list is length 1"},
	{"\"%s\".format([[[1], [2, 3], []].flatten()])", "[1, 2, 3]"},
	{"\"%s\".format([dyn([[1], [2]]).flatten(2)])", "[1, 2]"},
	{"dyn([1, 2]).flatten(-1)", "error: level must be non-negative"},
	{"\"%s\".format([lists.range(3)])", "[0, 1, 2]"},
	{"lists.range(-3)",
	 "error: lists.range: size must be non-negative, got -3"},
	{"[1, 2].includes(2)", "true"},
	{"[1, 2].includes('2')", "false"},
	{"[[1], [2]].includes([2])", "true"},
	{"'model-a'.includes('model-a')", "true"},
	{"'model-a'.includes('model')", "false"},
	{"{'a': 1}.includes('a')", "false"},
	{"\"%s\".format([[1, 2, 3].reverse()])", "[3, 2, 1]"},
	{"\"%s\".format([[1, 2, 1, 3, 2].distinct()])", "[1, 2, 3]"},
	{"\"%s\".format([[3, 1, 2].sort() + [1].sort()])", "[1, 2, 3, 1]"},
	{"\"%s\".format([[\"b\", \"a\"].sort()])", "[\"a\", \"b\"]"},
	{"[dyn(1), dyn(\"a\")].sort()",
	 "error: list elements must have the same type"},
	{"\"%s\".format([[\"bb\", \"a\", \"ccc\"].sortBy(s, -s.size())])",
	 "[\"ccc\", \"bb\", \"a\"]"},
	{"sets.contains([1, 2, 3], [3, 1]) && !sets.contains([1], [2])",
	 "true"},
	{"sets.equivalent([1, 2, 2], [2, 1])", "true"},
	{"sets.intersects([1, 2], [3, 2])", "true"},
	{"sets.intersects([1], [])", "false"},
	{"[1, 2, 2].isSorted() && ![2, 1].isSorted()", "true"},
	{"[1, 2].sum() + [].sum()", "3"},
	{"[1.5, 2.0].sum()", "3.5"},
	{"[1u, 2u].sum() == 3u", "true"},
	{"string([duration(\"1s\"), duration(\"500ms\")].sum())", "1.5s"},
	{"[9223372036854775807, 1].sum()", "error: integer overflow"},
	{"[dyn(1), dyn(\"a\")].sum()", "error: no such overload"},
	{"[3, 1, 2].min() + [3, 1, 2].max()", "4"},
	{"[\"b\", \"a\"].max()", "b"},
	{"[].min()", "error: min called on empty list"},
	{"[1, 2, 1].indexOf(1) + [1, 2, 1].lastIndexOf(1)", "2"},
	{"[1].indexOf(2)", "-1"},
	{"optional.of(1).value() + optional.of(2).orValue(3)", "3"},
	{"optional.none().value()", "error: optional.none() dereference"},
	{"optional.none().or(optional.of(4)).value()", "4"},
	{"optional.ofNonZeroValue(\"\").hasValue() || optional.ofNonZeroValue(0).hasValue() || optional.ofNonZeroValue(duration(\"0\")).hasValue()",
	 "false"},
	{"optional.ofNonZeroValue([0]).hasValue()", "true"},
	{"\"%s\".format([[optional.of(1), optional.none()].unwrapOpt() + optional.unwrap([optional.of(2)])])",
	 "[1, 2]"},
	{"[1, 2].first().value() + [1, 2].last().value()", "3"},
	{"[].first().hasValue()", "false"},
};

static void test_lists(void **state)
{
	(void)state;
	check_expressions(lists, ARRAY_SIZE(lists));
}

/* Returns the list [1, ?, 3]: the results of some calls depend on the unknown
 * item. */
static struct cel_value partly_known(struct cel_eval *eval, void *context,
				     unsigned index)
{
	static struct cel_value items[3];

	items[0] = cel_int(1);
	items[1] = cel_unknown(NULL);
	items[2] = cel_int(3);
	return cel_list(eval->arena, items, 3);
}

static const struct {
	const char *text;
	bool known;
} around_unknown[] = {
	{"l.slice(0, 1) == [1]", true},
	{"l.reverse().size() == 3", true},
	{"l.first().value() + l.last().value() == 4", true},
	{"l.indexOf(1) == 0", true},
	{"l.lastIndexOf(3) == 2", true},
	{"l.includes(3)", true},
	{"sets.contains(l, [1, 3])", true},
	{"sets.contains(l, [4])", false},
	{"sets.intersects(l, [3])", true},
	{"!sets.contains([1], l)", true},
	{"!sets.equivalent(l, [1])", true},
	{"sets.equivalent(l, [1, 3])", false},
	{"sets.intersects([2], l)", false},
	{"l.indexOf(3) == 2", false},
	{"!l.includes(2)", false},
	{"l.sum() > 0", false},
	{"l.max() >= 3", false},
	{"l.isSorted()", false},
	{"l.distinct().size() > 0", false},
	{"l.sort().size() == 3", false},
	{"dyn(l).flatten(1).size() == 3", false},
	{"\"%s\".format([l]) != \"\"", false},
};

static void test_unknown_items(void **state)
{
	const struct cel_variable variables[] = {
		{"l", cel_type_of_kind(CEL_LIST)}, {0}};
	struct cel_eval_options options = {.variable = partly_known,
					   .budget = CEL_EXPRESSION_BUDGET};
	struct arena arena = ARENA_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(around_unknown); i++) {
		const char *text = around_unknown[i].text;
		struct cel_issues issues = {.arena = &arena};
		const struct cel_program *program =
			cel_compile(&arena, cel_env_new(&arena, variables),
				    text, strlen(text), &issues);
		struct cel_eval eval;
		struct cel_value value;

		assert_non_null(program);
		cel_eval_init(&eval, program, &arena, &options);
		value = cel_eval_run(&eval);
		if (around_unknown[i].known ? !cel_is_true(value)
					    : !cel_is(value, CEL_UNKNOWN))
			fail_msg("%s: kind %d", text, value.kind);
	}
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_unknown_items),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
