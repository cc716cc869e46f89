/* SPDX-License-Identifier: Apache-2.0 */
/* Lists, sets, optional values. What is wanted was printed by cel-go, in
 * Kubernetes 1.36. */
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
	{"\"%s\".format([lists.range(-3)])", "[]"},
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
	check_expressions(lists, N(lists));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
