/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON reader's values, byte spans, escapes and duplicate keys on valid
 * texts, and its budgets.
 */
#include "json_reading.h"

/* --- values --------------------------------------------------------------- */

static const struct {
	const char *text;
	enum node_type type;
	const char *json;
} values[] = {
	{"null", NODE_NULL, "null"},
	{"true", NODE_BOOL, "true"},
	{"false", NODE_BOOL, "false"},
	{"0", NODE_INT, "0"},
	{"-0", NODE_INT, "-0"},
	{"7", NODE_INT, "7"},
	{"-120", NODE_INT, "-120"},
	{"9223372036854775808", NODE_INT, "9223372036854775808"},
	{"100000000000000000000", NODE_INT, "100000000000000000000"},
	{"0.5", NODE_FLOAT, "0.5"},
	{"1.0", NODE_FLOAT, "1.0"},
	{"1e2", NODE_FLOAT, "1e2"},
	{"1E+2", NODE_FLOAT, "1E+2"},
	{"-1.25e-2", NODE_FLOAT, "-1.25e-2"},
	{"1e-9999", NODE_FLOAT, "1e-9999"},
	{"1.7976931348623157e308", NODE_FLOAT, "1.7976931348623157e308"},
	{"\"\"", NODE_STRING, "\"\""},
	{"\"a\"", NODE_STRING, "\"a\""},
	{"[]", NODE_SEQ, "[]"},
	{"{}", NODE_MAP, "{}"},
	{" [ ] ", NODE_SEQ, "[]"},
	{"\t\r\n {\n} \n", NODE_MAP, "{}"},
	{"[1,2,3]", NODE_SEQ, "[1,2,3]"},
	{"[ 1 , [ ] , { } ]", NODE_SEQ, "[1,[],{}]"},
	{"[[[[1]]],[2]]", NODE_SEQ, "[[[[1]]],[2]]"},
	{"{\"a\":1,\"b\":[true,null],\"c\":{\"d\":\"e\"}}", NODE_MAP,
	 "{\"a\":1,\"b\":[true,null],\"c\":{\"d\":\"e\"}}"},
	{"{\"\":0}", NODE_MAP, "{\"\":0}"},
};

static void values_are_read(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		struct reading reading;
		struct node *root = read_text(&reading, values[i].text);

		if (!root)
			fail_msg("%s was refused: %s", values[i].text,
				 reading.first.text);
		assert_int_equal(root->type, values[i].type);
		assert_value(root, values[i].json);
		assert_int_equal(reading.refusals, 0);
		assert_null(root->parent);
		assert_null(root->key);
		reading_release(&reading);
	}
}

/* A number of n nines fits into a double if n is at most 308. */
static void long_numbers_are_read_as_far_as_a_double_goes(void **state)
{
	static const struct {
		size_t digits;
		bool good;
	} cases[] = {{300, true},  {301, true},	 {308, true},
		     {309, false}, {310, false}, {5000, false}};
	char text[5001];

	memset(text, '9', sizeof(text));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct reading reading;
		struct node *root;

		reading_init(&reading, text, cases[i].digits);
		root = read_all(&reading);
		assert_int_equal(root != NULL, cases[i].good);
		if (root)
			assert_int_equal(root->len, cases[i].digits);
		else
			assert_string_equal(reading.first.text,
					    "number is too large");
		reading_release(&reading);
	}
}

static void an_empty_text_is_refused(void **state)
{
	static const char *const texts[] = {"", " ", "\n\t \r\n"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct reading reading;

		assert_null(read_text(&reading, texts[i]));
		assert_int_equal(reading.refusals, 0);
		assert_int_equal(reading.used, strlen(texts[i]));
		reading_release(&reading);
	}
}

/* --- spans ---------------------------------------------------------------- */

static const char spans_text[] =
	"{ \"kind\" : \"Pod\",\n"
	"  \"sp\\u0065c\": {\"n\": [10, \"\xc3\xa9\\n\", {}, null ]},\n"
	"  \"on\":true }  ";

static void assert_span(uint32_t start, uint32_t end, const char *expected)
{
	assert_int_equal(end - start, strlen(expected));
	assert_memory_equal(spans_text + start, expected, end - start);
}

static void nodes_know_their_bytes(void **state)
{
	static const struct {
		const char *path;
		int item; /* index in a seq, or -1 */
		const char *key, *value;
	} cases[] = {
		{"kind", -1, "\"kind\"", "\"Pod\""},
		{"spec", -1, "\"sp\\u0065c\"",
		 "{\"n\": [10, \"\xc3\xa9\\n\", {}, null ]}"},
		{"spec.n", -1, "\"n\"", "[10, \"\xc3\xa9\\n\", {}, null ]"},
		{"spec.n", 0, "", "10"},
		{"spec.n", 1, "", "\"\xc3\xa9\\n\""},
		{"spec.n", 2, "", "{}"},
		{"spec.n", 3, "", "null"},
		{"on", -1, "\"on\"", "true"},
	};
	struct reading reading;
	struct node *root = read_text(&reading, spans_text);

	assert_non_null(root);
	assert_int_equal(root->start, 0);
	assert_int_equal(root->end, sizeof(spans_text) - 3);
	assert_int_equal(root->key_start, root->key_end);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct node *node = node_path(root, cases[i].path);

		if (cases[i].item >= 0)
			node = node_at(node, (size_t)cases[i].item);
		assert_non_null(node);
		assert_span(node->start, node->end, cases[i].value);
		assert_span(node->key_start, node->key_end, cases[i].key);
	}
	reading_release(&reading);
}

static void nodes_know_their_parents(void **state)
{
	struct reading reading;
	struct node *root = read_text(&reading, spans_text);
	const struct node *n = node_path(root, "spec.n");
	uint32_t index = 0;

	assert_int_equal(root->len, 3);
	assert_int_equal(root->flags, NODE_FLOW);
	assert_int_equal(n->flags, NODE_FLOW);
	assert_int_equal(n->len, 4);
	assert_int_equal(node_at(n, 0)->flags, 0);
	assert_int_equal(node_at(n, 1)->flags, NODE_QUOTED);
	assert_int_equal(node_at(n, 2)->flags, NODE_FLOW);
	FOR_EACH_CHILD(n, child) {
		assert_ptr_equal(child->parent, n);
		assert_int_equal(child->index, index++);
		assert_null(child->key);
		if (!child->next)
			assert_ptr_equal(child, n->last);
	}
	assert_int_equal(index, 4);
	assert_string_equal(n->key, "n");
	assert_int_equal(n->parent->key_len, 4);
	reading_release(&reading);
}

/* --- strings -------------------------------------------------------------- */

static const struct {
	const char *text;
	const char *value;
	size_t len;
} escapes[] = {
	{"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", SIZED("\"\\/\b\f\n\r\t")},
	{"\"\\u0000\"", SIZED("\0")},
	{"\"a\\u0000b\"", SIZED("a\0b")},
	{"\"\\u0041\"", SIZED("A")},
	{"\"\\u007f\\u0080\"", SIZED("\x7f\xc2\x80")},
	{"\"\\u07FF\\u0800\"", SIZED("\xdf\xbf\xe0\xa0\x80")},
	{"\"\\uFFFF\"", SIZED("\xef\xbf\xbf")},
	{"\"\\ud7ff\\ue000\"", SIZED("\xed\x9f\xbf\xee\x80\x80")},
	{"\"\\ud83d\\ude00\"", SIZED("\xf0\x9f\x98\x80")},
	{"\"\\uD834\\uDD1E!\"", SIZED("\xf0\x9d\x84\x9e!")},
	{"\"\\udbff\\udfff\"", SIZED("\xf4\x8f\xbf\xbf")},
	/* Half a pair is U+FFFD; the following text is unchanged. */
	{"\"\\ud800\"", SIZED("\xef\xbf\xbd")},
	{"\"\\udc00\"", SIZED("\xef\xbf\xbd")},
	{"\"\\ud800x\"", SIZED("\xef\xbf\xbdx")},
	{"\"\\ud800\\n\"", SIZED("\xef\xbf\xbd\n")},
	{"\"\\ud800\\u0041\"", SIZED("\xef\xbf\xbd"
				     "A")},
	{"\"\\ud800\\ud83d\\ude00\"", SIZED("\xef\xbf\xbd\xf0\x9f\x98\x80")},
	{"\"\\udc00\\ud800\"", SIZED("\xef\xbf\xbd\xef\xbf\xbd")},
	{"\"abc\\ndefghijklmnop\\tq\"", SIZED("abc\ndefghijklmnop\tq")},
	{"\"\x7f\"", SIZED("\x7f")},
	{"\"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"",
	 SIZED("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80")},
};

static void escapes_are_decoded(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(escapes); i++) {
		struct reading reading;
		struct node *root = read_text(&reading, escapes[i].text);

		assert_non_null(root);
		assert_int_equal(root->type, NODE_STRING);
		assert_int_equal(root->len, escapes[i].len);
		/* The final NUL counts too. */
		assert_memory_equal(root->str, escapes[i].value,
				    escapes[i].len + 1);
		assert_int_equal(root->end, strlen(escapes[i].text));
		reading_release(&reading);
	}
}

static void escaped_keys_are_compared_decoded(void **state)
{
	struct reading reading;
	struct node *root =
		read_text(&reading, "{\"a\\u0000b\":1,\"a\":2,\"\\u0061\":3}");

	assert_non_null(root);
	assert_int_equal(root->len, 2);
	assert_int_equal(root->first->key_len, 3);
	assert_memory_equal(root->first->key, "a\0b", 4);
	assert_int_equal(reading.duplicates, 1);
	assert_value(node_get(root, "a"), "3");
	reading_release(&reading);
}

/* Strings end at every offset of a word, after every number of other bytes. */
static void strings_end_at_every_offset(void **state)
{
	static const struct {
		const char *middle, *value;
		bool good;
	} cases[] = {
		{"", "", true},
		{"\\n", "\n", true},
		{"\xc3\xa9", "\xc3\xa9", true},
		{"\x1f", NULL, false},
		{"\x80", NULL, false},
		{"\xff", NULL, false},
		{"!#[]~\x7f", "!#[]~\x7f", true},
	};
	char text[64], value[64];

	for (size_t i = 0; i < ARRAY_SIZE(cases) * 400; i++) {
		int before = (int)(i % 20), after = (int)(i / 20 % 20);
		size_t k = i / 400;
		struct reading reading;
		struct node *root;

		snprintf(text, sizeof(text), "\"%.*s%s%.*s\"", before,
			 "abcdefghijklmnopqrst", cases[k].middle, after,
			 "ABCDEFGHIJKLMNOPQRST");
		root = read_text(&reading, text);
		assert_int_equal(root != NULL, cases[k].good);
		if (root) {
			snprintf(value, sizeof(value), "%.*s%s%.*s", before,
				 "abcdefghijklmnopqrst", cases[k].value, after,
				 "ABCDEFGHIJKLMNOPQRST");
			assert_string_equal(root->str, value);
			assert_int_equal(root->len, strlen(value));
		} else {
			assert_int_equal(reading.first.start, 1 + before);
			assert_int_equal(reading.first.end, 2 + before);
		}
		reading_release(&reading);
	}
}

static bool skips_s(void *context, const struct node *map, const char *key,
		    size_t len)
{
	return len == 1 && *key == 's';
}

/* A skipped value ends at its closing bracket, not at brackets within
 * strings. */
static void skipped_values_end_at_their_brackets(void **state)
{
	static const char *const around[][2] = {
		{"\"", "\""},
		{"\"", "\\\"\""},
		{"{\"", "\\\\\":[{},\"]}\\\"\"]}"},
		{"[[\"", "}\",{}],\"\xc3\xa9]\"]"},
	};
	char text[sizeof(filler) + 64];

	for (size_t i = 0; i < sizeof(filler) * ARRAY_SIZE(around); i++) {
		const char *const *value = around[i % ARRAY_SIZE(around)];
		struct reading reading;
		int end;

		end = snprintf(text, sizeof(text), "{\"s\":%s%.*s%s", value[0],
			       (int)(i / ARRAY_SIZE(around)), filler, value[1]);
		strcpy(text + end, ",\"a\":\"b\"}");
		reading_init(&reading, text, strlen(text));
		reading.loader.skip = skips_s;
		assert_value(read_all(&reading), "{\"a\":\"b\"}");
		reading_release(&reading);
		/* The text lacks its last byte. */
		reading_init(&reading, text, (size_t)end - 1);
		reading.loader.skip = skips_s;
		assert_null(read_all(&reading));
		assert_int_equal(reading.refusals, 1);
		reading_release(&reading);
	}
}

/* --- duplicate keys ------------------------------------------------------- */

static void the_last_of_duplicate_keys_counts(void **state)
{
	static const struct {
		const char *text, *json;
		unsigned duplicates;
		uint32_t start, end; /* bytes of the last one */
	} cases[] = {
		{"{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}", 1, 13, 16},
		{"{\"a\":1,\"a\":1}", "{\"a\":1}", 1, 7, 10},
		{"{\"a\":1,\"a\":2,\"a\":3}", "{\"a\":3}", 2, 13, 16},
		{"{\"a\":{\"x\":1},\"a\":{\"y\":2}}", "{\"a\":{\"y\":2}}", 1,
		 13, 16},
		{"{\"a\":[1,2],\"a\":\"s\"}", "{\"a\":\"s\"}", 1, 11, 14},
		{"{\"a\":\"s\",\"b\":0,\"a\":[1,2]}", "{\"a\":[1,2],\"b\":0}",
		 1, 15, 18},
		{"{\"a\":[1],\"b\":0,\"a\":{\"x\":1},\"c\":2}",
		 "{\"a\":{\"x\":1},\"b\":0,\"c\":2}", 1, 15, 18},
		{"{\"\":1,\"\":2}", "{\"\":2}", 1, 6, 8},
		{"{\"a\":1,\"A\":2,\"a \":3}", "{\"a\":1,\"A\":2,\"a \":3}", 0,
		 0, 0},
		{"[{\"a\":1},{\"a\":2}]", "[{\"a\":1},{\"a\":2}]", 0, 0, 0},
		{"{\"a\":{\"a\":{\"a\":1}}}", "{\"a\":{\"a\":{\"a\":1}}}", 0, 0,
		 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct reading reading;
		struct node *root = read_text(&reading, cases[i].text);

		assert_non_null(root);
		assert_value(root, cases[i].json);
		assert_int_equal(reading.duplicates, cases[i].duplicates);
		assert_int_equal(reading.last.start, cases[i].start);
		assert_int_equal(reading.last.end, cases[i].end);
		reading_release(&reading);
	}
}

static void a_duplicate_keeps_both_positions(void **state)
{
	struct reading reading;
	struct node *root = read_text(
		&reading, "{\"a\":{\"x\":1},\"b\":2, \"\\u0061\" : [3]}");
	const struct node *a = node_get(root, "a");

	assert_non_null(a);
	assert_ptr_equal(a, root->first);
	assert_ptr_equal(a->parent, root);
	assert_string_equal(a->key, "a");
	assert_int_equal(a->key_start, 20);
	assert_int_equal(a->key_end, 28);
	assert_int_equal(a->start, 31);
	assert_int_equal(a->end, 34);
	assert_int_equal(a->len, 1);
	assert_ptr_equal(a->first->parent, a);
	assert_ptr_equal(a->next, root->last);
	assert_null(root->last->next);
	reading_release(&reading);
}

/* Beyond 16 keys a map is indexed: the index must find replaced values. */
static void duplicates_are_found_in_large_maps(void **state)
{
	struct reading reading;
	struct node *root;
	struct buf text;
	char key[16];

	buf_init(&text);
	for (int i = 0; i < 3000; i++)
		buf_addf(&text, "%c\"k%d\":%d", i ? ',' : '{', i % 1000, i);
	buf_adds(&text, "}");
	root = read_text(&reading, text.data);
	assert_non_null(root);
	assert_int_equal(root->len, 1000);
	assert_int_equal(reading.duplicates, 2000);
	for (int i = 0; i < 1000; i++) {
		int64_t value = 0;

		snprintf(key, sizeof(key), "k%d", i);
		assert_true(node_int(node_get(root, key), &value));
		assert_int_equal(value, 2000 + i);
		assert_int_equal(node_get(root, key)->index, i);
	}
	buf_release(&text);
	reading_release(&reading);
}

/* --- budgets -------------------------------------------------------------- */

static void nest(struct buf *text, const char *open, int n, const char *close)
{
	for (int i = 0; i < n; i++)
		buf_adds(text, open);
	for (int i = 0; i < n; i++)
		buf_adds(text, close);
}

static void nesting_beyond_the_limit_is_refused(void **state)
{
	static const struct {
		const char *open, *close;
		int n;
		uint32_t limit;
		bool good;
	} cases[] = {
		{"[", "]", 10, 10, true},
		{"[", "]", 11, 10, false},
		{"{\"a\":", "}", 11, 10, false},
		{"[", "]", 1, 0, false},
		{"[", "]", 1000, 1000, true},
		{"[", "]", 1001, 1000, false},
		{"[[],", "]", 10, 11, false}, /* not closed by a value */
		{"[", "]", 200000, 200000, true},
		{"[", "", 200000, 1000, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct reading reading;
		struct buf text;

		buf_init(&text);
		nest(&text, cases[i].open, cases[i].n, cases[i].close);
		reading_init(&reading, text.data, text.len);
		reading.limits.depth = cases[i].limit;
		reading.limits.nodes = 1000000;
		assert_int_equal(read_all(&reading) != NULL, cases[i].good);
		assert_int_equal(reading.refusals, !cases[i].good);
		buf_release(&text);
		reading_release(&reading);
	}
}

static void the_deepest_bracket_is_the_position(void **state)
{
	struct reading reading;

	reading_init(&reading, "[[ ], [[1]]]", 12);
	reading.limits.depth = 2;
	assert_null(read_all(&reading));
	assert_int_equal(reading.first.start, 7);
	assert_int_equal(reading.first.end, 8);
	assert_string_equal(reading.first.text, "nested deeper than 2 levels");
	reading_release(&reading);
}

static void values_beyond_the_limit_are_refused(void **state)
{
	static const struct {
		const char *text;
		uint32_t nodes;
	} cases[] = {
		{"1", 1},
		{"[]", 1},
		{"[1,2,3]", 4},
		{"{\"a\":1,\"b\":[{}]}", 4},
		{"{\"a\":1,\"a\":2}", 3}, /* a replaced value counts too */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (int less = 0; less < 2; less++) {
			struct reading reading;
			size_t len = strlen(cases[i].text);

			reading_init(&reading, cases[i].text, len);
			reading.limits.nodes = cases[i].nodes - (uint32_t)less;
			assert_int_equal(read_all(&reading) != NULL, !less);
			assert_int_equal(reading.refusals, less);
			reading_release(&reading);
		}
	}
}

/* A hostile text must be rejected before nodes are made, but after the text was
 * copied. */
static void a_hostile_text_takes_no_nodes(void **state)
{
	struct reading reading;
	struct buf text;

	buf_init(&text);
	buf_adds(&text, "[0");
	for (int i = 0; i < 200000; i++)
		buf_adds(&text, ",0");
	reading_init(&reading, text.data, text.len);
	reading.limits.nodes = 100;
	assert_null(read_all(&reading));
	assert_string_equal(reading.first.text, "more than 100 values");
	/* Memory for the copy of the text, and one bit for each byte. */
	assert_true(reading.arena.used < text.len + text.len / 8 + 100 * 256);
	buf_release(&text);
	reading_release(&reading);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_read),
		cmocka_unit_test(long_numbers_are_read_as_far_as_a_double_goes),
		cmocka_unit_test(an_empty_text_is_refused),
		cmocka_unit_test(nodes_know_their_bytes),
		cmocka_unit_test(nodes_know_their_parents),
		cmocka_unit_test(escapes_are_decoded),
		cmocka_unit_test(escaped_keys_are_compared_decoded),
		cmocka_unit_test(strings_end_at_every_offset),
		cmocka_unit_test(skipped_values_end_at_their_brackets),
		cmocka_unit_test(the_last_of_duplicate_keys_counts),
		cmocka_unit_test(a_duplicate_keeps_both_positions),
		cmocka_unit_test(duplicates_are_found_in_large_maps),
		cmocka_unit_test(nesting_beyond_the_limit_is_refused),
		cmocka_unit_test(the_deepest_bracket_is_the_position),
		cmocka_unit_test(values_beyond_the_limit_are_refused),
		cmocka_unit_test(a_hostile_text_takes_no_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
