/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values over documents, with and without a schema; equality, order, keys. The
 * effect of a schema on a value was read from apiserver
 * pkg/cel/common/valuesunstructured.go.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/buf.h"
#include "cel/value.h"
#include "cel_value_text.h"
#include "doc/load.h"

static const struct node *parse(struct arena *arena, const char *yaml)
{
	struct source *source = ARENA_NEW(arena, struct source);
	struct doc *doc = ARENA_NEW(arena, struct doc);
	struct loader loader;

	source_init(source, arena, "test.yaml", yaml, strlen(yaml));
	loader_init(&loader, source, &load_limits_default, arena);
	assert_true(loader_next(&loader, doc));
	placeholder_mark(doc);
	return doc->root;
}

static void assert_text(struct cel_value value, const char *expected)
{
	struct buf out;

	buf_init(&out);
	value_text(value, &out);
	assert_string_equal(out.data, expected);
	buf_release(&out);
}

/* Compares both texts under a schema; NULL: without one. */
static struct cel_value compare(struct arena *arena, const char *a,
				const char *b, const char *schema)
{
	const struct node *s = schema ? parse(arena, schema) : NULL;

	return cel_equal(arena, cel_from_node(arena, parse(arena, a), s),
			 cel_from_node(arena, parse(arena, b), s));
}

static void json_decides_without_a_schema(void **state)
{
	static const char *const rows[][2] = {
		{"v: null", "{\"v\": null}"},
		{"v: true", "{\"v\": true}"},
		{"v: -12", "{\"v\": -12}"},
		{"v: 9223372036854775807", "{\"v\": 9223372036854775807}"},
		{"v: -9223372036854775808", "{\"v\": -9223372036854775808}"},
		{"{\"v\": 1.5}", "{\"v\": 1.5}"},
		{"v: [1, a, {}]", "{\"v\": [1, \"a\", {}]}"},
		{"v: ${X}", "{\"v\": unknown}"},
	};
	struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_text(
			cel_from_node(&arena, parse(&arena, rows[i][0]), NULL),
			rows[i][1]);
	arena_release(&arena);
}

static void a_schema_decides_about_scalars(void **state)
{
	static const char *const rows[][3] = {
		{"v: 1", "{type: number}", "1.0"},
		{"v: 1", "{type: integer}", "1"},
		{"v: '1'", "{type: integer}",
		 "error: invalid data, expected int"},
		{"v: 1", "{type: string}",
		 "error: invalid data, expected string"},
		{"v: 1", "{x-kubernetes-int-or-string: true}", "1"},
		{"v: 50%", "{x-kubernetes-int-or-string: true}", "\"50%\""},
		{"v: true", "{x-kubernetes-int-or-string: true}",
		 "error: invalid data, expected XIntOrString value to be "
		 "either a string or integer"},
		{"v: null", "{type: string, nullable: true}", "null"},
		{"v: null", "{type: string}",
		 "error: invalid data, got null for schema with "
		 "nullable=false"},
		{"v: 1h30m", "{type: string, format: duration}",
		 "duration(5400.000000000)"},
		{"v: -1500ms", "{type: string, format: duration}",
		 "duration(-2.500000000)"},
		{"v: '2024-02-29'", "{type: string, format: date}",
		 "timestamp(1709164800.000000000)"},
		{"v: '2024-02-30'", "{type: string, format: date}",
		 "error: Invalid date formatted string 2024-02-30"},
		{"v: '1970-01-01T00:00:01.5Z'",
		 "{type: string, format: date-time}", "timestamp(1.500000000)"},
		{"v: YWI=", "{type: string, format: byte}", "b\"ab\""},
		{"v: YWJj", "{type: string, format: byte}", "b\"abc\""},
		{"v: 'YW#j'", "{type: string, format: byte}",
		 "error: Invalid byte formatted string YW#j"},
		{"v: {a: 1}", "{type: array, items: {type: integer}}",
		 "error: invalid data, expected an array for the provided "
		 "schema with type=array"},
	};
	struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_text(
			cel_from_node(&arena,
				      node_get(parse(&arena, rows[i][0]), "v"),
				      parse(&arena, rows[i][1])),
			rows[i][2]);
	arena_release(&arena);
}

static bool finds(struct arena *arena, struct cel_value map, const char *key)
{
	struct cel_value value;

	return cel_map_find(arena, map, cel_string(key), &value);
}

static void names_of_properties_are_escaped(void **state)
{
	struct arena arena = ARENA_INIT;
	struct cel_value map = cel_from_node(
		&arena,
		parse(&arena, "{a.b: 1, c-d: 2, namespace: 3, e__f: 4, g/h: 5, "
			      "none: null, undeclared: 7}"),
		parse(&arena,
		      "{type: object, properties: {a.b: {type: integer}, c-d: "
		      "{type: integer}, namespace: {type: integer}, e__f: "
		      "{type: integer}, g/h: {type: integer}, none: {type: "
		      "integer}}}"));

	assert_true(finds(&arena, map, "a__dot__b"));
	assert_true(finds(&arena, map, "c__dash__d"));
	assert_true(finds(&arena, map, "__namespace__"));
	assert_true(finds(&arena, map, "e__underscores__f"));
	assert_true(finds(&arena, map, "g__slash__h"));
	assert_false(finds(&arena, map, "a__nothing__b"));
	assert_false(finds(&arena, map, "none"));
	assert_false(finds(&arena, map, "undeclared"));
	assert_text(cel_map_at(&arena, map, 0).key, "\"a__dot__b\"");
	assert_text(cel_map_at(&arena, map, 2).key, "\"__namespace__\"");
	map = cel_from_node(&arena, parse(&arena, "{a.b: 1}"),
			    parse(&arena, "{type: object, "
					  "additionalProperties: {type: "
					  "integer}}"));
	assert_true(finds(&arena, map, "a.b"));
	arena_release(&arena);
}

static void sets_and_maps_have_no_order(void **state)
{
	static const char set[] = "{type: array, x-kubernetes-list-type: set, "
				  "items: {type: integer}}";
	static const char keyed[] =
		"{type: array, x-kubernetes-list-type: map, "
		"x-kubernetes-list-map-keys: [k], items: {type: object, "
		"properties: {k: {type: string}, v: {type: integer}}}}";
	struct arena arena = ARENA_INIT;

	assert_true(cel_is_false(compare(&arena, "[1, 2]", "[2, 1]", NULL)));
	assert_true(cel_is_true(compare(&arena, "[1, 2]", "[2, 1]", set)));
	assert_true(cel_is_false(compare(&arena, "[1, 2]", "[2, 3]", set)));
	assert_true(
		cel_is_true(compare(&arena, "[{k: a, v: 1}, {k: b, v: 2}]",
				    "[{k: b, v: 2}, {k: a, v: 1}]", keyed)));
	assert_true(
		cel_is_false(compare(&arena, "[{k: a, v: 1}, {k: b, v: 2}]",
				     "[{k: b, v: 1}, {k: a, v: 1}]", keyed)));
	arena_release(&arena);
}

static void lists_of_sets_and_maps_are_merged(void **state)
{
	struct arena arena = ARENA_INIT;
	const struct node *set = parse(
		&arena, "{type: array, x-kubernetes-list-type: set, items: "
			"{type: integer}}");
	const struct node *keyed = parse(
		&arena, "{type: array, x-kubernetes-list-type: map, "
			"x-kubernetes-list-map-keys: [k], items: {type: "
			"object, properties: {k: {type: string}, v: {type: "
			"integer}}}}");

#define LIST(text, schema) cel_from_node(&arena, parse(&arena, text), schema)
	assert_text(
		cel_list_add(&arena, LIST("[1, 2]", set), LIST("[2, 3]", set)),
		"[1, 2, 3]");
	assert_text(cel_list_add(&arena, LIST("[1, 2]", NULL),
				 LIST("[2, 3]", NULL)),
		    "[1, 2, 2, 3]");
	assert_text(cel_list_add(&arena, LIST("[{k: a, v: 1}]", keyed),
				 LIST("[{k: a, v: 2}, {k: c, v: 3}]", keyed)),
		    "[{\"k\": \"a\", \"v\": 2}, {\"k\": \"c\", \"v\": 3}]");
#undef LIST
	arena_release(&arena);
}

static void numbers_compare_across_types(void **state)
{
	struct arena arena = ARENA_INIT;
	int order;

	assert_true(cel_is_true(cel_equal(&arena, cel_int(1), cel_uint(1))));
	assert_true(cel_is_true(cel_equal(&arena, cel_double(1), cel_int(1))));
	assert_true(cel_is_false(
		cel_equal(&arena, cel_int(-1), cel_uint(UINT64_MAX))));
	assert_true(cel_compare(cel_uint(UINT64_MAX), cel_int(1), &order));
	assert_int_equal(order, 1);
	assert_true(cel_compare(cel_double(-1.5), cel_uint(0), &order));
	assert_int_equal(order, -1);
	assert_false(
		cel_compare(cel_double(__builtin_nan("")), cel_int(1), &order));
	assert_false(cel_compare(cel_int(1), cel_string("1"), &order));
	arena_release(&arena);
}

/* Enough entries for an index; each is found as int, uint and double. */
static void keys_are_found_in_maps_of_any_size(void **state)
{
	struct arena arena = ARENA_INIT;

	for (int n = 1; n < 200; n += 7) {
		struct cel_map_builder builder = {0};
		struct cel_value map, value;

		for (int i = 0; i < n; i++)
			assert_true(cel_map_put(
				&arena, &builder,
				(struct cel_entry){cel_int(i - 3), cel_int(i)},
				false));
		assert_false(cel_map_put(
			&arena, &builder,
			(struct cel_entry){cel_int(-3), cel_null()}, false));
		map = cel_map_built(&arena, &builder);
		for (int i = 0; i < n; i++) {
			assert_true(cel_map_find(&arena, map, cel_double(i - 3),
						 &value));
			assert_int_equal(value.integer, i);
		}
		assert_false(cel_map_find(&arena, map, cel_int(n), &value));
		assert_false(
			cel_map_find(&arena, map, cel_double(0.5), &value));
		assert_false(
			cel_map_find(&arena, map, cel_string("0"), &value));
	}
	arena_release(&arena);
}

static void items_know_their_nodes(void **state)
{
	struct arena arena = ARENA_INIT;
	const struct node *root = parse(&arena, "[a, b, c, d]");
	struct cel_value list = cel_from_node(&arena, root, NULL);
	static const size_t order[] = {3, 0, 1, 1, 3, 2};

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		assert_ptr_equal(cel_list_at(&arena, list, order[i]).node,
				 node_at(root, order[i]));
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_decides_without_a_schema),
		cmocka_unit_test(a_schema_decides_about_scalars),
		cmocka_unit_test(names_of_properties_are_escaped),
		cmocka_unit_test(sets_and_maps_have_no_order),
		cmocka_unit_test(lists_of_sets_and_maps_are_merged),
		cmocka_unit_test(numbers_compare_across_types),
		cmocka_unit_test(keys_are_found_in_maps_of_any_size),
		cmocka_unit_test(items_know_their_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
