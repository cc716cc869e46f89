/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trees made without a reader: getters and their results for NULL and unknown
 * nodes, large maps, unlinking, copies with a budget, numbers, JSON, pointers
 * and anchors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "doc/build.h"
#include "doc/node.h"

static struct arena arena = ARENA_INIT;

static int forget(void **state)
{
	arena_release(&arena);
	return 0;
}

static struct node *scalar(enum node_type type, const char *text)
{
	struct node *node = node_new(&arena, type);

	node->str = text;
	node->len = (uint32_t)strlen(text);
	return node;
}

static struct node *put(struct node *map, const char *key, struct node *value)
{
	value->key = key;
	value->key_len = (uint32_t)strlen(key);
	node_append(map, value);
	return value;
}

static struct node *map_new(void)
{
	return node_new(&arena, NODE_MAP);
}

static struct node *seq_new(void)
{
	return node_new(&arena, NODE_SEQ);
}

static void assert_json(const struct node *node, const char *json)
{
	struct buf buf;

	buf_init(&buf);
	node_json(node, &buf);
	assert_string_equal(buf.data, json);
	buf_release(&buf);
}

static void assert_pointer(const struct node *node, const char *pointer)
{
	struct buf buf;

	buf_init(&buf);
	node_pointer(node, &buf);
	assert_string_equal(buf.data, pointer);
	buf_release(&buf);
}

static void null_answers_null(void **state)
{
	int64_t value;
	uint32_t start, end;

	assert_null(node_first(NULL));
	assert_null(node_get(NULL, "a"));
	assert_null(node_path(NULL, "a.b"));
	assert_null(node_at(NULL, 0));
	assert_null(node_str(NULL));
	assert_false(node_is_map(NULL));
	assert_false(node_is_seq(NULL));
	assert_false(node_is_unknown(NULL));
	assert_true(node_is_unset(NULL));
	assert_false(node_eq(NULL, ""));
	assert_false(node_is_true(NULL));
	assert_false(node_is_false(NULL));
	assert_false(node_int(NULL, &value));
	assert_int_equal(node_count(NULL), 0);
	assert_json(NULL, "null");
	assert_pointer(NULL, "");
	assert_true(node_same(NULL, NULL));
	node_anchor(NULL, &start, &end);
	assert_int_equal(start, 0);
}

static void paths_are_followed(void **state)
{
	struct node *root = map_new(), *spec = put(root, "spec", map_new());
	struct node *list = put(spec, "containers", seq_new());
	struct node *one = map_new(), *name;

	node_append(list, one);
	name = put(one, "name", scalar(NODE_STRING, "train"));
	put(spec, "a.b", scalar(NODE_BOOL, "true"));
	put(spec, "off", scalar(NODE_BOOL, "false"));
	put(spec, "none", scalar(NODE_NULL, "null"));
	assert_ptr_equal(node_path(root, "spec.containers"), list);
	assert_ptr_equal(node_get(node_at(list, 0), "name"), name);
	assert_true(node_eq(name, "train"));
	assert_false(node_eq(name, "trai"));
	assert_false(node_eq(name, "Train"));
	assert_null(node_get(spec, "Containers"));
	assert_null(node_at(list, 1));
	assert_null(node_at(spec, 0));
	assert_null(node_get(list, "name"));
	assert_null(node_path(root, "spec.containers.name"));
	assert_null(node_path(root, "spec.missing.name"));
	assert_true(node_is_true(node_get(spec, "a.b")));
	assert_false(node_is_true(node_get(spec, "off")));
	assert_true(node_is_false(node_get(spec, "off")));
	assert_true(node_is_unset(node_get(spec, "none")));
	assert_false(node_is_unset(name));
	assert_int_equal(node_count(spec), 4);
	assert_int_equal(node_count(name), 0);
	assert_pointer(root, "");
	assert_pointer(name, "/spec/containers/0/name");
}

static void unknown_travels_down(void **state)
{
	struct node *root = map_new(), *spec;
	int64_t value;

	spec = put(root, "spec", scalar(NODE_STRING, "${SPEC}"));
	spec->flags |= NODE_UNKNOWN;
	assert_ptr_equal(node_get(spec, "replicas"), spec);
	assert_ptr_equal(node_path(root, "spec.template.spec"), spec);
	assert_ptr_equal(node_at(spec, 3), spec);
	assert_true(node_is_unknown(node_path(root, "spec.x")));
	assert_false(node_is_unknown(root));
	assert_null(node_str(spec));
	assert_null(node_first(spec));
	assert_false(node_eq(spec, "${SPEC}"));
	assert_false(node_is_unset(spec));
	assert_false(node_int(spec, &value));
	assert_int_equal(node_count(spec), 0);
	assert_false(node_is_map(node_get(root, "spec")));
}

static void large_maps_are_indexed(void **state)
{
	struct node *map = map_new();
	char *keys[1000];

	for (int i = 0; i < 1000; i++) {
		keys[i] = arena_printf(&arena, "key-%d", i);
		assert_null(node_find(&arena, map, keys[i], strlen(keys[i])));
		put(map, keys[i], scalar(NODE_INT, keys[i] + 4));
	}
	assert_non_null(map->map_index);
	for (int i = 0; i < 1000; i++) {
		const struct node *child = node_get(map, keys[i]);

		assert_non_null(child);
		assert_string_equal(child->str, keys[i] + 4);
		assert_int_equal(child->index, i);
	}
	assert_null(node_get(map, "key-1000"));
	assert_null(node_get(map, "key-"));
	/* An entry that is appended after the index was made is found as
	 * well. */
	put(map, "late", scalar(NODE_NULL, "null"));
	assert_non_null(node_get(map, "late"));
}

static void keys_match_by_all_bytes(void **state)
{
	struct node *map = map_new(), *child = scalar(NODE_INT, "1");

	child->key = "a\0b";
	child->key_len = 3;
	node_append(map, child);
	assert_null(node_get(map, "a"));
	assert_null(node_find(&arena, map, "a\0c", 3));
	assert_ptr_equal(node_find(&arena, map, "a\0b", 3), child);
	assert_json(map, "{\"a\\u0000b\":1}");
}

static void unlinking_keeps_order(void **state)
{
	struct node *map = map_new(), *nodes[30];

	for (int i = 0; i < 30; i++)
		nodes[i] = put(map, arena_printf(&arena, "k%d", i),
			       scalar(NODE_INT, "1"));
	assert_non_null(node_find(&arena, map, "k20", 3));
	node_unlink(map, nodes[20]);
	assert_null(node_find(&arena, map, "k20", 3));
	assert_null(node_get(map, "k20"));
	assert_int_equal(nodes[21]->index, 20);
	node_unlink(map, nodes[0]);
	node_unlink(map, nodes[29]);
	assert_ptr_equal(map->first, nodes[1]);
	assert_ptr_equal(map->last, nodes[28]);
	assert_int_equal(map->len, 27);
	assert_int_equal(nodes[28]->index, 26);
	node_unlink(map, nodes[0]); /* the node is no longer a child */
	assert_int_equal(map->len, 27);
	put(map, "end", scalar(NODE_INT, "2"));
	assert_ptr_equal(nodes[28]->next, map->last);
}

static void copies_have_a_budget(void **state)
{
	struct node *root = map_new(), *list = put(root, "a", seq_new());
	struct node *copy;
	uint32_t budget = 4;

	node_append(list, scalar(NODE_INT, "1"));
	node_append(list, scalar(NODE_STRING, "x"));
	copy = node_copy(&arena, root, NODE_ALIASED, &budget);
	assert_non_null(copy);
	assert_int_equal(budget, 0);
	assert_true(node_same(root, copy));
	assert_ptr_not_equal(copy->first, list);
	assert_true(node_at(node_get(copy, "a"), 1)->flags & NODE_ALIASED);
	assert_false(list->first->flags & NODE_ALIASED);
	assert_pointer(node_at(node_get(copy, "a"), 1), "/a/1");
	budget = 3;
	assert_null(node_copy(&arena, root, 0, &budget));
	assert_int_equal(budget, 0);
	assert_null(node_copy(&arena, root, 0, &budget));
}

static void copies_of_large_maps_are_indexed(void **state)
{
	struct node *map = map_new(), *copy;
	uint32_t budget = 1000;

	for (int i = 0; i < 100; i++)
		put(map, arena_printf(&arena, "k%d", i), scalar(NODE_INT, "1"));
	node_find(&arena, map, "k1", 2);
	copy = node_copy(&arena, map, NODE_MERGED, &budget);
	assert_non_null(copy->map_index);
	assert_ptr_not_equal(copy->map_index, map->map_index);
	assert_ptr_equal(node_get(copy, "k99"), copy->last);
	assert_null(node_get(copy, "k100"));
}

static void whole_numbers_are_read(void **state)
{
	static const struct {
		enum node_type type;
		const char *text;
		bool whole;
		int64_t value;
	} rows[] = {
		{NODE_INT, "0", true, 0},
		{NODE_INT, "-0", true, 0},
		{NODE_INT, "8", true, 8},
		{NODE_INT, "-12", true, -12},
		{NODE_INT, "9223372036854775807", true, INT64_MAX},
		{NODE_INT, "-9223372036854775808", true, INT64_MIN},
		{NODE_INT, "9223372036854775808", false, 0},
		{NODE_INT, "-9223372036854775809", false, 0},
		{NODE_INT, "99999999999999999999", false, 0},
		{NODE_FLOAT, "1.0", true, 1},
		{NODE_FLOAT, "1e3", true, 1000},
		{NODE_FLOAT, "1.25E+2", true, 125},
		{NODE_FLOAT, "2500e-2", true, 25},
		{NODE_FLOAT, "0.0e99999999999999999999", true, 0},
		{NODE_FLOAT, "1e18", true, 1000000000000000000},
		{NODE_FLOAT, "1e19", false, 0},
		{NODE_FLOAT, "1e99999999999999999999", false, 0},
		{NODE_FLOAT, "1e-99999999999999999999", false, 0},
		{NODE_FLOAT, "1.5", false, 0},
		{NODE_FLOAT, "0.5", false, 0},
		{NODE_FLOAT, "1250e-2", false, 0},
		{NODE_FLOAT, "100.000", true, 100},
		{NODE_FLOAT, ".inf", false, 0},
		{NODE_STRING, "8", false, 0},
		{NODE_BOOL, "true", false, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct node *node = scalar(rows[i].type, rows[i].text);
		int64_t value = 0;

		if (node_int(node, &value) != rows[i].whole ||
		    value != rows[i].value)
			fail_msg("%s gave %lld", rows[i].text,
				 (long long)value);
	}
}

static void numbers_are_the_same_by_value(void **state)
{
	static const struct {
		const char *a, *b;
		bool same;
	} rows[] = {
		{"1", "1.0", true},
		{"1000", "1e3", true},
		{"0", "-0.0", true},
		{"0", "0e5", true},
		{"1.50", "15e-1", true},
		{"12.5", "1.25e1", true},
		{"1", "-1", false},
		{"1", "2", false},
		{"10", "1", false},
		{"1.01", "1.1", false},
		{"100", "101", false},
		{"0.1", "0.01", false},
		{"123456789012345678901234567890",
		 "1.2345678901234567890123456789e29", true},
		{"123456789012345678901234567890",
		 "1.2345678901234567890123456788e29", false},
		{"12.34", "1.234", false},
		{"1.2e1", "1.20e01", true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct node *a = scalar(NODE_INT, rows[i].a);
		const struct node *b = scalar(NODE_FLOAT, rows[i].b);

		if (node_same(a, b) != rows[i].same ||
		    node_same(b, a) != rows[i].same)
			fail_msg("%s and %s", rows[i].a, rows[i].b);
	}
	assert_false(
		node_same(scalar(NODE_INT, "1"), scalar(NODE_STRING, "1")));
	assert_false(node_same(scalar(NODE_BOOL, "true"),
			       scalar(NODE_BOOL, "false")));
}

static void trees_are_the_same_in_any_key_order(void **state)
{
	struct node *a = map_new(), *b = map_new(), *x, *y;

	put(a, "k", scalar(NODE_INT, "1"));
	x = put(a, "l", seq_new());
	y = put(b, "l", seq_new());
	put(b, "k", scalar(NODE_FLOAT, "1.0"));
	node_append(x, scalar(NODE_STRING, "p"));
	node_append(x, scalar(NODE_NULL, "null"));
	node_append(y, scalar(NODE_STRING, "p"));
	assert_false(node_same(a, b));
	node_append(y, scalar(NODE_NULL, "~"));
	assert_true(node_same(a, b));
	y->first->str = "q";
	assert_false(node_same(a, b));
	assert_false(node_same(x, a));
	assert_false(node_same(a, NULL));
}

static void json_is_compact_and_escaped(void **state)
{
	struct node *root = map_new(), *list, *odd;

	put(root, "n", scalar(NODE_NULL, "~"));
	list = put(root, "l\n", seq_new());
	node_append(list, scalar(NODE_BOOL, "true"));
	node_append(list, scalar(NODE_FLOAT, "1.50"));
	odd = scalar(NODE_STRING, "\"\\/\b\f\n\r\t\x01\x7f\xc3\xa4");
	node_append(list, odd);
	node_append(list, map_new());
	node_append(list, seq_new());
	assert_json(root, "{\"n\":null,\"l\\n\":[true,1.50,\"\\\"\\\\/\\b\\f"
			  "\\n\\r\\t\\u0001\x7f\xc3\xa4\",{},[]]}");
}

static void pointers_are_escaped(void **state)
{
	struct node *root = map_new();
	struct node *limits = put(root, "limits", map_new());

	assert_pointer(put(limits, "nvidia.com/gpu", scalar(NODE_INT, "1")),
		       "/limits/nvidia.com~1gpu");
	assert_pointer(put(limits, "~/", scalar(NODE_INT, "1")),
		       "/limits/~0~1");
	assert_pointer(put(limits, "", scalar(NODE_INT, "1")), "/limits/");
}

static struct node *at_bytes(struct node *node, uint32_t key, uint32_t start,
			     uint32_t end)
{
	node->key_start = key;
	node->key_end = key + node->key_len;
	node->start = start;
	node->end = end;
	return node;
}

static void assert_anchor(const struct node *node, uint32_t start, uint32_t end)
{
	uint32_t got_start, got_end;

	node_anchor(node, &got_start, &got_end);
	assert_int_equal(got_start, start);
	assert_int_equal(got_end, end);
}

static void a_missing_field_is_placed_at_its_parent(void **state)
{
	struct node *root = at_bytes(map_new(), 0, 0, 100), *list, *item;

	list = at_bytes(put(root, "args", seq_new()), 10, 17, 60);
	item = at_bytes(map_new(), 0, 20, 40);
	node_append(list, item);
	at_bytes(put(item, "image", scalar(NODE_STRING, "x")), 20, 27, 28);
	assert_anchor(root, 10, 14);	    /* its first key */
	assert_anchor(list, 10, 14);	    /* its key */
	assert_anchor(item->first, 27, 28); /* its value */
	assert_anchor(item, 20,
		      25); /* its first key, because `name` is missing */
	at_bytes(put(item, "name", scalar(NODE_STRING, "train")), 30, 36, 41);
	assert_anchor(item, 36, 41);
	item = at_bytes(seq_new(), 0, 50, 55);
	node_append(list, item);
	assert_anchor(item, 50, 51); /* an empty list: its first byte */
	item = at_bytes(put(root, "empty", scalar(NODE_NULL, "null")), 70, 76,
			76);
	assert_anchor(item, 70, 75); /* no bytes in the source */
	item = at_bytes(scalar(NODE_NULL, "null"), 0, 80, 80);
	node_append(list, item);
	assert_anchor(item, 80, 81);
	item = at_bytes(map_new(), 0, 85, 90);
	node_append(list, item);
	at_bytes(put(item, "name", map_new()), 85, 91, 93);
	assert_anchor(item, 85, 89); /* name is not a scalar */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(null_answers_null, forget),
		cmocka_unit_test_teardown(paths_are_followed, forget),
		cmocka_unit_test_teardown(unknown_travels_down, forget),
		cmocka_unit_test_teardown(large_maps_are_indexed, forget),
		cmocka_unit_test_teardown(keys_match_by_all_bytes, forget),
		cmocka_unit_test_teardown(unlinking_keeps_order, forget),
		cmocka_unit_test_teardown(copies_have_a_budget, forget),
		cmocka_unit_test_teardown(copies_of_large_maps_are_indexed,
					  forget),
		cmocka_unit_test_teardown(whole_numbers_are_read, forget),
		cmocka_unit_test_teardown(numbers_are_the_same_by_value,
					  forget),
		cmocka_unit_test_teardown(trees_are_the_same_in_any_key_order,
					  forget),
		cmocka_unit_test_teardown(json_is_compact_and_escaped, forget),
		cmocka_unit_test_teardown(pointers_are_escaped, forget),
		cmocka_unit_test_teardown(
			a_missing_field_is_placed_at_its_parent, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
