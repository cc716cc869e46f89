/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strategic merge of templates: merged values, and their places.
 */
#include "value_reading.h"

#include "rules/kube/kinds.h"

struct merge_case {
	const char *template, *patch, *result;
};

static void assert_merge(const struct merge_case *test)
{
	uint32_t budget = 1000;
	struct reading a, b;
	const struct node *template = read_value(&a, test->template);
	const struct node *patch = read_value(&b, test->patch);

	assert_same(template_merge(&a.arena, &budget, template, patch),
		    test->result);
	assert_same(template, test->template);
	assert_same(patch, test->patch);
	reading_release(&a);
	reading_release(&b);
}

static void values_are_merged(void **state)
{
	static const struct merge_case cases[] = {
		{"{a: 1}", "null", "{a: 1}"},
		{"{a: 1, b: 2}", "{b: 3, c: 4}", "{a: 1, b: 3, c: 4}"},
		/* null removes a value, and adds none */
		{"{a: 1, b: 2}", "{b: null, c: null}", "{a: 1}"},
		{"{m: {a: 1, b: {c: 2}}}", "{m: {b: {d: 3}}}",
		 "{m: {a: 1, b: {c: 2, d: 3}}}"},
		{"{m: {a: 1}}", "{m: text}", "{m: text}"},
		{"{m: {a: 1}}", "{m: {$patch: replace, b: 2}}", "{m: {b: 2}}"},
		/* lists without a key are replaced */
		{"{args: [a, b], tolerations: [{key: a}]}",
		 "{args: [c], tolerations: [{key: b}]}",
		 "{args: [c], tolerations: [{key: b}]}"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_merge(&cases[i]);
}

static void items_are_merged_by_their_key(void **state)
{
	static const struct merge_case cases[] = {
		{"{containers: [{name: a, image: i}, {name: b}]}",
		 "{containers: [{name: c}, {name: a, env: [{name: X, value: "
		 "'1'}]}]}",
		 "{containers: [{name: a, image: i, env: [{name: X, value: "
		 "'1'}]}, {name: b}, {name: c}]}"},
		{"{volumeMounts: [{mountPath: /a, name: x}]}",
		 "{volumeMounts: [{mountPath: /a, name: 'y'}, {mountPath: "
		 "/b, name: x}]}",
		 "{volumeMounts: [{mountPath: /a, name: 'y'}, {mountPath: "
		 "/b, name: x}]}"},
		{"{volumes: [{name: a}, {name: b}]}",
		 "{volumes: [{name: a, $patch: delete}, {name: none, "
		 "$patch: delete}]}",
		 "{volumes: [{name: b}]}"},
		{"{containers: [{image: i}, text]}",
		 "{containers: [{name: a}]}",
		 "{containers: [{image: i}, text, {name: a}]}"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_merge(&cases[i]);
}

/* A list that would take too long to merge is unknown. */
static void large_lists_are_unknown(void **state)
{
	struct arena arena = {0};
	uint32_t budget = 1000, none = 0;
	struct buf text;
	struct reading reading;
	const struct node *root, *list;

	buf_init(&text);
	buf_adds(&text, "{env: [");
	for (int i = 0; i < 200; i++)
		buf_addf(&text, "%s{name: V%d}", i ? ", " : "", i);
	buf_adds(&text, "]}");
	root = read_value(&reading, text.data);
	list = node_get(template_merge(&arena, &budget, root, root), "env");
	assert_true(node_is_unknown(list));
	assert_int_equal(node_count(node_get(root, "env")), 200);
	assert_true(node_is_unknown(template_merge(&arena, &none, root, root)));
	buf_release(&text);
	reading_release(&reading);
	arena_release(&arena);
}

static void values_stand_where_they_were_written(void **state)
{
	uint32_t budget = 1000;
	struct reading a, b;
	const struct node *template = read_value(
		&a, "{spec: {containers: [{name: a, image: i}, {name: b}]}}");
	const struct node *patch =
		read_value(&b, "{spec: {containers: [{name: b, tty: true}]}}");
	const struct node *merged =
		template_merge(&a.arena, &budget, template, patch);
	const struct node *list = node_path(merged, "spec.containers");
	const struct node *second = node_at(list, 1);

	assert_string_equal(
		node_pointer_text(&a.arena,
				  node_get(node_at(list, 0), "image")),
		"/spec/containers/0/image");
	assert_ptr_equal(node_get(node_at(list, 0), "image")->parent->parent,
			 node_path(template, "spec.containers"));
	assert_string_equal(
		node_pointer_text(&a.arena, node_get(second, "tty")),
		"/spec/containers/0/tty");
	assert_ptr_equal(node_get(second, "tty")->parent,
			 node_at(node_path(patch, "spec.containers"), 0));
	reading_release(&a);
	reading_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_merged),
		cmocka_unit_test(items_are_merged_by_their_key),
		cmocka_unit_test(large_lists_are_unknown),
		cmocka_unit_test(values_stand_where_they_were_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
