/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML into trees: structure, merges, aliases, duplicate keys, flags, and the
 * byte spans of keys and values.
 */
#include "yaml_reading.h"

#include "doc/build.h"

struct pair {
	const char *text, *said;
};

static void assert_pairs(const struct pair *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_reads(pairs[i].text, pairs[i].said);
}

static const struct pair structures[] = {
	{"a: 1\nb:\n  c: [x, {v: z}]\n",
	 "1: {\"a\":1,\"b\":{\"c\":[\"x\",{\"v\":\"z\"}]}}\n"},
	{"- 1\n- - 2\n  - 3\n-\n", "1: [1,[2,3],null]\n"},
	{"a:\n- 1\n- 2\n", "1: {\"a\":[1,2]}\n"},
	{"[]", "1: []\n"},
	{"--- {}\n", "disagree 1:1-2:1 kubectl rejects the file here: only a "
		     "comment may follow ---\n1: {}\n"},
	{"word\n", "1: \"word\"\n"},
	{"two\nlines\n", "1: \"two lines\"\n"},
	{"? a\n? b\n", "1: {\"a\":null,\"b\":null}\n"},
	{"? a\n: b\n", "1: {\"a\":\"b\"}\n"},
	{"[a: 1, b]", "1: [{\"a\":1},\"b\"]\n"},
	{"a: |\n  x\n  y\n", "1: {\"a\":\"x\\ny\\n\"}\n"},
	/* kubectl adds the missing line end */
	{"a: |\n  x", "1: {\"a\":\"x\\n\"}\n"},
	{"a: |+\n  x\n\n", "1: {\"a\":\"x\\n\\n\"}\n"},
	{"a: >-\n  x\n  y\n\n  z\n", "1: {\"a\":\"x y\\nz\"}\n"},
	{"a: |2\n   x\n", "1: {\"a\":\" x\\n\"}\n"},
	{"a: \"x\\ty\\u00e9\\x41\\\n   z\"\n", "1: {\"a\":\"x\\ty\xc3\xa9"
					       "Az\"}\n"},
	{"a: 'it''s'\n", "1: {\"a\":\"it's\"}\n"},
	{"a: \"\\0\"\n", "1: {\"a\":\"\\u0000\"}\n"},
	{"a: b # c\n#d\n", "1: {\"a\":\"b\"}\n"},
	{"a: b#c\n", "1: {\"a\":\"b#c\"}\n"},
	{"a:\r\n  - 1\r\n  - |\r\n    x\r\n    y\r\n",
	 "1: {\"a\":[1,\"x\\ny\\n\"]}\n"},
	/* kubectl removes one CR from each line. */
	{"a: |\r\r\n  x\r\r\n  y\nb: 1\n", "1: {\"a\":\"x\\ny\\n\",\"b\":1}\n"},
	{"a: >\n  x\r\r\n  y\n", "1: {\"a\":\"x y\\n\"}\n"},
	{"a: \"x\r\r\n  y\"\n", "1: {\"a\":\"x y\"}\n"},
	{"a: |\n  x\r\r\r\n  y\n", "1: {\"a\":\"x\\n\\ny\\n\"}\n"},
	{"\r\r\na: |\n  x\r\r", "1: {\"a\":\"x\\n\"}\n"},
	{"a: http://x:80/y\n", "1: {\"a\":\"http://x:80/y\"}\n"},
	{"a:\tb\n", "1: {\"a\":\"b\"}\n"},
};

static void structure_is_read(void **state)
{
	assert_pairs(structures, ARRAY_SIZE(structures));
}

static const struct pair merges[] = {
	{"a: &a {x: 1, v: 2}\nb:\n  <<: *a\n  v: 3\n",
	 "1: {\"a\":{\"x\":1,\"v\":2},\"b\":{\"x\":1,\"v\":3}}\n"},
	{"a: &a {x: 1}\nb:\n  x: 2\n  <<: *a\n",
	 "disagree 4:3-5 kubectl lets this merge replace \"x\" of line 3, other "
	 "readers do not: write << first\n"
	 "1: {\"a\":{\"x\":1},\"b\":{\"x\":1}}\n"},
	{"a: &a {x: 1}\nb: &b {x: 2, v: 2}\nc:\n  <<: [*a, *b]\n",
	 "1: {\"a\":{\"x\":1},\"b\":{\"x\":2,\"v\":2},\"c\":{\"x\":1,\"v\":2}}"
	 "\n"},
	{"<<: {x: 1}\nv: 2\n", "1: {\"x\":1,\"v\":2}\n"},
	{"<<: [{x: 1}, {x: 2, z: 3}]\n", "1: {\"x\":1,\"z\":3}\n"},
	{"<<: []\na: 1\n", "1: {\"a\":1}\n"},
	{"<<: {}\n", "1: {}\n"},
	{"a: &a {<<: {x: 1}, v: 1}\nb: {<<: *a}\n",
	 "1: {\"a\":{\"x\":1,\"v\":1},\"b\":{\"x\":1,\"v\":1}}\n"},
	{"<<: {<<: {x: 1}, x: 2}\n", "1: {\"x\":2}\n"},
	{"<<: {x: 1}\n<<: {x: 2}\n", "1: {\"x\":2}\n"},
	{"!!merge <<: {x: 1}\n", "1: {\"x\":1}\n"},
	{"\"<<\": {x: 1}\n", "1: {\"<<\":{\"x\":1}}\n"},
	{"a: <<\n", "1: {\"a\":\"<<\"}\n"},
	{"- <<\n", "1: [\"<<\"]\n"},
	{"&m <<: {x: 1}\nv: *m\n", "1: {\"x\":1,\"v\":\"<<\"}\n"},
	{"<<: 1\n", "error 1:5-6 a merge (<<) needs a map or a list of maps\n"
		    "1: -\n"},
	{"<<:\n",
	 "error 1:4-4 a merge (<<) needs a map or a list of maps\n1: -\n"},
	{"<<: [1]\n",
	 "error 1:6-7 a merge (<<) needs a map or a list of maps\n1: -\n"},
	{"<<: [[{x: 1}]]\n",
	 "error 1:6-14 a merge (<<) needs a map or a list of maps\n1: -\n"},
	{"a: &a [1]\n<<: *a\n",
	 "error 2:5-7 a merge (<<) needs a map or a list of maps\n1: -\n"},
	{"a: &a x\n<<: [*a]\n",
	 "error 1:7-8 a merge (<<) needs a map or a list of maps\n1: -\n"},
};

static void merges_are_read_as_kubectl_does(void **state)
{
	assert_pairs(merges, ARRAY_SIZE(merges));
}

static const struct pair aliases[] = {
	{"a: &x 1\nb: *x\n", "1: {\"a\":1,\"b\":1}\n"},
	{"a: &x [1, {b: c}]\nd: *x\n",
	 "1: {\"a\":[1,{\"b\":\"c\"}],\"d\":[1,{\"b\":\"c\"}]}\n"},
	{"&x a: *x\n", "1: {\"a\":\"a\"}\n"},
	{"- &x 1.5\n- {*x : 2}\n", "1: [1.5,{\"1.5\":2}]\n"},
	{"- &x 1e6\n- {*x : 2}\n- *x\n",
	 "1: [1000000,{\"1e+06\":2},1000000]\n"},
	{"- &x on\n- {*x : 2}\n", "1: [true,{\"true\":2}]\n"},
	{"- &x !!binary aGk=\n- {*x : 2}\n", "1: [\"hi\",{\"hi\":2}]\n"},
	{"- &x\n- *x\n", "1: [null,null]\n"},
	{"- &x 1\n- &x 2\n- *x\n", "1: [1,2,2]\n"},
	{"&x [&x 1, *x]\n", "1: [1,1]\n"},
	{"- &x [1]\n- &y [*x, *x]\n- *y\n", "1: [[1],[[1],[1]],[[1],[1]]]\n"},
	{"a: &x {k: 1}\na: 2\nb: *x\n",
	 "duplicate 2:1-2 key \"a\" is given twice (before on line 1): the last "
	 "value counts\n1: {\"a\":2,\"b\":{\"k\":1}}\n"},
	{"a: {k: &x 1}\na: {k: 2}\nb: *x\n",
	 "duplicate 2:1-2 key \"a\" is given twice (before on line 1): the last "
	 "value counts\n1: {\"a\":{\"k\":2},\"b\":1}\n"},
	{"a: *x\n",
	 "error 1:4-6 anchor &x is not defined before this alias\n1: -\n"},
	{"a: *x\nb: &x 1\n",
	 "error 1:4-6 anchor &x is not defined before this alias\n1: -\n"},
	{"&x [*x]\n", "error 1:5-7 anchor &x contains itself\n1: -\n"},
	{"a: &x {b: [1, *x]}\n", "error 1:15-17 anchor &x contains itself\n"
				 "1: -\n"},
	{"&x {<<: *x}\n", "error 1:9-11 anchor &x contains itself\n1: -\n"},
	{"- &x [1]\n- {*x : 1}\n",
	 "error 2:4-6 a list cannot be a key\n1: -\n"},
	{"- &x {}\n- {*x : 1}\n", "error 2:4-6 a map cannot be a key\n1: -\n"},
	{"- &x ~\n- {*x : 1}\n", "error 2:4-6 null cannot be a key\n1: -\n"},
	{"- &x 1\n---\n- *x\n", "1: [1]\nerror 3:3-5 anchor &x is not defined "
				"before this alias\n2: -\n"},
};

static void aliases_are_expanded(void **state)
{
	assert_pairs(aliases, ARRAY_SIZE(aliases));
}

static const struct pair duplicates[] = {
	{"a: 1\nb: 2\na: 3\n", "duplicate 3:1-2 key \"a\" is given twice "
			       "(before on line 1): the last value counts\n"
			       "1: {\"a\":3,\"b\":2}\n"},
	{"a: 1\n\"a\": {b: 2}\n", "duplicate 2:1-4 key \"a\" is given twice "
				  "(before on line 1): the last value counts\n"
				  "1: {\"a\":{\"b\":2}}\n"},
	{"a: {b: 2}\na:\n", "duplicate 2:1-2 key \"a\" is given twice (before "
			    "on line 1): the last value counts\n"
			    "1: {\"a\":null}\n"},
	{"on: 1\ntrue: 2\n", "duplicate 2:1-5 key \"true\" is given twice "
			     "(before on line 1): the last value counts\n"
			     "1: {\"true\":2}\n"},
	{"- {\"\\n\": 1, \"\\n\": 2}",
	 "duplicate 1:13-17 key \"?\" is given "
	 "twice (before on line 1): the last value "
	 "counts\n1: [{\"\\n\":2}]\n"},
	{"a: .inf\na: 1\n", "duplicate 2:1-2 key \"a\" is given twice (before "
			    "on line 1): the last value counts\n"
			    "1: {\"a\":1}\n"},
	{"A: 1\na: 2\n", "1: {\"A\":1,\"a\":2}\n"},
	{"- a: 1\n- a: 2\n", "1: [{\"a\":1},{\"a\":2}]\n"},
	{"~: 1\n\"null\": 2\n", "error 1:1-2 null cannot be a key\n1: -\n"},
};

static void duplicate_keys_are_reported(void **state)
{
	assert_pairs(duplicates, ARRAY_SIZE(duplicates));
}

/* Many keys and a duplicate of each: found by the index of large maps. */
static void duplicates_are_found_in_large_maps(void **state)
{
	enum { N = 3000 };
	struct reading reading;
	const struct node *root;
	struct buf text;

	buf_init(&text);
	for (int i = 0; i < 2 * N; i++)
		buf_addf(&text, "key%d: %d\n", i % N, i);
	root = read_one(&reading, text.data);
	assert_int_equal(node_count(root), N);
	for (const struct node *child = root->first; child; child = child->next)
		assert_int_equal(atoi(child->str), atoi(child->key + 3) + N);
	buf_release(&text);
	reading_release(&reading);
}

/* --- positions ------------------------------------------------------------ */

/* A path of indexes ("1.0"), and the bytes of the value and of its key. */
struct span {
	const char *text, *path, *value, *key;
};

static const struct node *follow(const struct node *node, const char *path)
{
	for (; *path; path += path[1] ? 2 : 1) {
		int i = *path - '0';

		for (node = node->first; node && i; i--)
			node = node->next;
		assert_non_null(node);
	}
	return node;
}

static void assert_bytes(const struct reading *reading, uint32_t start,
			 uint32_t end, const char *bytes)
{
	char *got;

	assert_true(start <= end && end <= reading->source.len);
	got = strndup(reading->source.text + start, end - start);
	assert_string_equal(got, bytes);
	free(got);
}

static const struct span spans[] = {
	{"a: 1\nbc: two words # x\n", "", "a: 1\nbc: two words", ""},
	{"a: 1\nbc: two words # x\n", "0", "1", "a"},
	{"a: 1\nbc: two words # x\n", "1", "two words", "bc"},
	{"a: 'x'\n", "0", "'x'", "a"},
	{"a: \"x\\n\"\n", "0", "\"x\\n\"", "a"},
	{"\"a b\": c\n", "0", "c", "\"a b\""},
	{"a: b\n  c\n", "0", "b\n  c", "a"},
	{"? a\n: b\n", "0", "b", "a"},
	{"a: |\n  x\n  y\nb: 1\n", "0", "|\n  x\n  y", "a"},
	{"a: |\n  x\n\n\nb: 1\n", "0", "|\n  x", "a"},
	{"a: >2- # c\n  x\n \nb: 1\n", "0", ">2- # c\n  x", "a"},
	{"a: |\n  x\n  \n", "0", "|\n  x", "a"},
	{"a: |\n  x", "0", "|\n  x", "a"},
	{"a: |\nb: 1\n", "0", "|", "a"},
	{"a: x\r\r\nbc: \xc3\xa9y\r\r\n", "0", "x", "a"},
	{"a: x\r\r\nbc: \xc3\xa9y\r\r\n", "1", "\xc3\xa9y", "bc"},
	{"a: |\r\r\n  x\r\r\nb: 1\n", "0", "|\r\r\n  x", "a"},
	{"- a: 1\n  b: 2\n- c\n", "0", "a: 1\n  b: 2", ""},
	{"- a: 1\n  b: 2\n- c\n", "", "- a: 1\n  b: 2\n- c", ""},
	{"x:\n- 1\n- 2\ny: 1\n", "0", "- 1\n- 2", "x"},
	{"x:\n  - 1\n  - 2\n\n# c\ny: 1\n", "0", "- 1\n  - 2", "x"},
	{"x:\n  y:\n    z: 1\n\n\nw: 1\n", "0", "y:\n    z: 1", "x"},
	{"x: [1, {a: b}]\n", "0", "[1, {a: b}]", "x"},
	{"x: [1, {a: b}]\n", "0.1", "{a: b}", ""},
	{"x: [1, {a: b}]\n", "0.1.0", "b", "a"},
	{"x: [a: 1]\n", "0.0", "a: 1", ""},
	{"x: [a: {} ]\n", "0.0", "a: {}", ""},
	{"x: [[1], [2]]\n", "0.1", "[2]", ""},
	{"x: []\n", "0", "[]", "x"},
	{"a:\nb: 1\n", "0", "", "a"},
	{"a: # none\nb: 1\n", "0", "", "a"},
	{"a:\n  b:\nc: 1\n", "0", "b:", "a"},
	{"{a, b: 1}\n", "0", "", "a"},
	{"-\n- 1\n", "0", "", ""},
	{"a: &x b\n", "0", "b", "a"},
	{"a: !!str b\n", "0", "b", "a"},
	{"a: &x !!str b\n", "0", "b", "a"},
	{"a: !<tag:x,2000:y> b\n", "0", "b", "a"},
	{"a: !!map # c\n  b: 1\n", "0", "b: 1", "a"},
	{"a: &x\n  - 1\n", "0", "- 1", "a"},
	{"a: &x\n- 1\n", "0", "- 1", "a"},
	{"a: &x {b: 1}\n", "0", "{b: 1}", "a"},
	{"a: &x |\n  b\n", "0", "|\n  b", "a"},
	{"a: &x\nb: 1\n", "0", "", "a"},
	{"&x a: b\n", "0", "b", "a"},
	{"!!map\n&x !!str a: b\n", "", "&x !!str a: b", ""},
	{"!!map\n&x !!str a: b\n", "0", "b", "a"},
	{"- !!x : b\n", "0", "!!x : b", ""},
	{"- !!x : b\n", "0.0", "b", ""},
	{"a: !!x\xe2\x80\xa8  b\n", "0", "b", "a"},
	{"\xc3\xa9: \"\xc3\xbc\"\nb: c\n", "0", "\"\xc3\xbc\"", "\xc3\xa9"},
	{"\xc3\xa9: \"\xc3\xbc\"\nb: c\n", "1", "c", "b"},
	{"# \xf0\x9f\x98\x80\na: [\xe6\x97\xa5, b]\n", "0.0", "\xe6\x97\xa5",
	 ""},
	{"# \xf0\x9f\x98\x80\na: [\xe6\x97\xa5, b]\n", "0.1", "b", ""},
	{"a: |\n  \xc3\xa9\nb: c\n", "1", "c", "b"},
	{"a: \xc2\x85"
	 "b: c\n",
	 "1", "c", "b"},
	{"a: 1\r\nb: |\r\n  x\r\n\r\nc: 2\r\n", "1", "|\r\n  x", "b"},
	{"a: 1\r\nb: |\r\n  x\r\n\r\nc: 2\r\n", "2", "2", "c"},
	{"\xc3\xa9: 1\r\nb: 2\r\n", "1", "2", "b"},
	{"a:\t1\t# x\n", "0", "1", "a"},
	{"\xef\xbb\xbf"
	 "a: 1\n",
	 "0", "1", "a"},
	{"a: &x {b: 1}\nc: *x\n", "1", "{b: 1}", "c"},
	{"a: &x {b: 1}\nc: *x\n", "1.0", "1", "b"},
	{"a: &x 1\nc:\n  d: *x\ne: 1\n", "1", "d: *x", "c"},
	{"a: 1\nb: 2\na: 3\n", "0", "3", "a"},
	{"--- # c\na: 1\n...\n", "", "a: 1", ""},
};

static void nodes_know_their_bytes(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(spans); i++) {
		struct reading reading;
		const struct node *node = read_one(&reading, spans[i].text);

		if (!node)
			fail_msg("%s: %s", spans[i].text, reading.said.data);
		node = follow(node, spans[i].path);
		assert_bytes(&reading, node->start, node->end, spans[i].value);
		assert_bytes(&reading, node->key_start, node->key_end,
			     spans[i].key);
		reading_release(&reading);
	}
}

static const struct {
	const char *text, *path;
	unsigned flags;
} flagged[] = {
	{"a: b\n", "", 0},
	{"a: b\n", "0", 0},
	{"a: 'b'\n", "0", NODE_QUOTED},
	{"a: \"b\"\n", "0", NODE_QUOTED},
	{"a: |\n  b\n", "0", NODE_BLOCK},
	{"a: >\n  b\n", "0", NODE_BLOCK},
	{"a: []\n", "0", NODE_FLOW},
	{"{a: b}\n---\n", "", NODE_FLOW},
	{"a:\n- b\n", "0", 0},
	{"a:\n", "0", NODE_IMPLICIT},
	{"a: ~\n", "0", 0},
	{"a: !!null\n", "0", NODE_IMPLICIT},
	{"a: !!str\n", "0", 0},
	{"a: ''\n", "0", NODE_QUOTED},
	{"a: &x b\n", "0", NODE_ANCHORED},
	{"a: &x []\n", "0", NODE_ANCHORED | NODE_FLOW},
	{"a: &x [1]\nb: *x\n", "1", NODE_ALIASED | NODE_FLOW},
	{"a: &x [1]\nb: *x\n", "1.0", NODE_ALIASED},
	{"a: &x {b: 1}\n<<: *x\n", "1", NODE_ALIASED | NODE_MERGED},
	{"<<: {b: [1]}\n", "0", NODE_MERGED | NODE_FLOW},
	{"<<: {b: [1]}\n", "0.0", NODE_MERGED},
	{"<<: {b: 1}\nb: 2\n", "0", 0},
	{"a: &x 1\na: 2\n", "0", 0},
};

static void nodes_know_their_style(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(flagged); i++) {
		struct reading reading;
		const struct node *node = read_one(&reading, flagged[i].text);

		node = follow(node, flagged[i].path);
		if (node->flags != flagged[i].flags)
			fail_msg("%s at %s: flags %u", flagged[i].text,
				 flagged[i].path, node->flags);
		reading_release(&reading);
	}
}

/* Checks the links of a tree whose nodes were grafted, replaced or merged. */
static void assert_links(const struct node *node)
{
	uint32_t n = 0;

	if (node->type != NODE_MAP && node->type != NODE_SEQ)
		return;
	for (const struct node *child = node->first; child;
	     child = child->next) {
		assert_ptr_equal(child->parent, node);
		assert_int_equal(child->index, n++);
		if (!child->next)
			assert_ptr_equal(node->last, child);
		if (node->type == NODE_MAP)
			assert_ptr_equal(node_get(node, child->key), child);
		assert_links(child);
	}
	assert_int_equal(node->len, n);
}

static void nodes_know_their_parents(void **state)
{
	static const char text[] = "a: &a {x: &x [1, {v: 2}], z: 3}\n"
				   "b: *a\n"
				   "b: {x: *x, w: *x}\n"
				   "b: *a\n"
				   "c: {<<: [*a, {q: [*x]}], x: *x, z: 4}\n"
				   "d: {z: 1, <<: *a, z: &z 2, <<: {z: 5}}\n"
				   "a: {x: 1}\n";
	struct reading reading;
	const struct node *root = read_one(&reading, text);
	struct buf out;

	assert_non_null(root);
	assert_links(root);
	buf_init(&out);
	node_json(root, &out);
	assert_string_equal(out.data, "{\"b\":{\"x\":[1,{\"v\":2}],\"z\":3},"
				      "\"c\":{\"q\":[[1,{\"v\":2}]],"
				      "\"x\":[1,{\"v\":2}],\"z\":4},"
				      "\"d\":{\"x\":[1,{\"v\":2}],\"z\":5},"
				      "\"a\":{\"x\":1}}");
	buf_release(&out);
	reading_release(&reading);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(structure_is_read),
		cmocka_unit_test(merges_are_read_as_kubectl_does),
		cmocka_unit_test(aliases_are_expanded),
		cmocka_unit_test(duplicate_keys_are_reported),
		cmocka_unit_test(duplicates_are_found_in_large_maps),
		cmocka_unit_test(nodes_know_their_bytes),
		cmocka_unit_test(nodes_know_their_style),
		cmocka_unit_test(nodes_know_their_parents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
