/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budgets of the loader. A text above one is rejected with a position, and a
 * text at the limit is read. Hostile texts of a megabyte end within LONGEST
 * seconds.
 */
#include "yaml_reading.h"

#include <time.h>

/* Reads text with limits that set() changes; said must be the expected
 * output. */
static void assert_limited(const char *text,
			   void (*set)(struct load_limits *limits),
			   const char *said)
{
	struct reading reading;

	reading_init(&reading, text, strlen(text));
	set(&reading.limits);
	read_documents(&reading);
	assert_string_equal(reading.said.data, said);
	reading_release(&reading);
}

static void set_bytes(struct load_limits *limits)
{
	limits->bytes = 5;
}

static void bytes_are_limited(void **state)
{
	assert_limited("a: 1\n", set_bytes, "1: {\"a\":1}\n");
	assert_limited("a: 12\n", set_bytes, "error 1:1-1 more than 5 bytes\n");
	assert_limited("{\"a\":1}", set_bytes,
		       "error 1:1-1 more than 5 bytes\n");
}

static void set_depth(struct load_limits *limits)
{
	limits->depth = 3;
}

static void depth_is_limited(void **state)
{
	assert_limited("[[[1]]]", set_depth, "1: [[[1]]]\n");
	assert_limited("[[[[1]]]]", set_depth,
		       "error 1:4-5 nested deeper than 3 levels\n1: -\n");
	assert_limited("a:\n b:\n  c: 1\n", set_depth,
		       "1: {\"a\":{\"b\":{\"c\":1}}}\n");
	assert_limited("a:\n b:\n  c:\n  - 1\n", set_depth,
		       "error 4:3-4 nested deeper than 3 levels\n1: -\n");
	assert_limited("- &x [1]\n- [*x]\n", set_depth, "1: [[1],[[1]]]\n");
	assert_limited("- &x [1]\n- [[*x]]\n", set_depth,
		       "error 2:5-7 nested deeper than 3 levels\n1: -\n");
	assert_limited("- &x [1]\n- &y [*x]\n- [*y]\n", set_depth,
		       "error 3:4-6 nested deeper than 3 levels\n1: -\n");
	assert_limited("- &x {a: [1]}\n- <<: *x\n", set_depth,
		       "1: [{\"a\":[1]},{\"a\":[1]}]\n");
}

static void set_nodes(struct load_limits *limits)
{
	limits->nodes = 5;
}

static void values_are_limited(void **state)
{
	assert_limited("[1, 2, 3, 4]", set_nodes, "1: [1,2,3,4]\n");
	assert_limited("[1, 2, 3, 4, 5]", set_nodes,
		       "error 1:14-15 more than 5 values\n1: -\n");
	assert_limited("a: 1\nb: 2\nc: 3\nd: 4\ne: 5\n", set_nodes,
		       "error 5:1-2 more than 5 values\n1: -\n");
	assert_limited("[1, 2, 3, 4]\n---\n[1, 2, 3, 4]", set_nodes,
		       "1: [1,2,3,4]\n2: [1,2,3,4]\n");
	assert_limited(
		"- &x [1, 2]\n- *x\n", set_nodes,
		"error 2:3-5 more than 5 values after aliases are expanded\n"
		"1: -\n");
	assert_limited("- &x {a: 1}\n- {<<: *x, b: 1}\n", set_nodes,
		       "error 2:12-13 more than 5 values\n1: -\n");
}

static void set_documents(struct load_limits *limits)
{
	limits->documents = 2;
}

static void documents_are_limited(void **state)
{
	assert_limited("a\n---\nb\n---\n", set_documents,
		       "1: \"a\"\n2: \"b\"\n");
	assert_limited("a\n---\nb\n---\nc\n", set_documents,
		       "1: \"a\"\n2: \"b\"\nerror 6:1-1 more than 2 "
		       "documents\n");
	assert_limited("{}{}{}", set_documents,
		       "1: {}\n2: {}\nerror 1:5-5 more than 2 documents\n");
}

static void set_directives(struct load_limits *limits)
{
	limits->directives = 2;
}

#define REFUSES "kubectl rejects %YAML and %TAG lines\n"

static void directives_are_limited(void **state)
{
	struct buf text;

	assert_limited("%TAG !a! b\n# c\n%TAG !b! b\n---\na\n", set_directives,
		       "disagree 1:1-4:1 " REFUSES "1: \"a\"\n");
	assert_limited("%TAG !a! b\n\n%TAG !b! b\n%TAG !c! b\n---\na\n",
		       set_directives,
		       "disagree 1:1-5:1 " REFUSES
		       "error 4:1-2 more than 2 directives\n1: -\n");
	assert_limited("%TAG !a! b\r%TAG !b! b\r%TAG !c! b\r---\ra\n",
		       set_directives,
		       "error 1:23-24 more than 2 directives\n1: -\n");
	assert_limited("# c\xc2\x85%TAG !a! b\xe2\x80\xa8%TAG !b! b\xe2\x80\xa9"
		       "%TAG !c! b\n---\na\n",
		       set_directives,
		       "error 1:27-28 more than 2 directives\n1: -\n"
		       "2: \"a\"\n");
	buf_init(&text);
	buf_adds(&text, "%TAG !a! ");
	for (int i = 0; i < 1020; i++)
		buf_addc(&text, 'x');
	buf_adds(&text, "\n---\na\n");
	assert_limited(text.data, set_directives,
		       "disagree 1:1-2:1 " REFUSES
		       "error 1:1-2 directive of more than 1024 bytes\n1: -\n");
	buf_release(&text);
}

static void set_work(struct load_limits *limits)
{
	limits->flow_work = 12;
}

static void set_duplicate_work(struct load_limits *limits)
{
	limits->flow_work = 212;
}

#define TOO_MUCH                                                               \
	"too much work to read: [ ] and { } too deep for their length, or "    \
	"too many duplicate keys\n1: -\n"

static void the_work_of_aliases_is_limited(void **state)
{
	assert_limited("[1, 2, 3, 4]", set_work, "1: [1,2,3,4]\n");
	assert_limited("[[1, 2, 3, 4]]", set_work, "1: [[1,2,3,4]]\n");
	assert_limited("[[1, 2, 3, 4, 5]]", set_work,
		       "error 1:16-17 " TOO_MUCH);
	assert_limited("- 1\n- 2\n- 3\n- 4\n- 5\n- 6\n- 7\n- 8\n- 9\n- 10\n",
		       set_work, "1: [1,2,3,4,5,6,7,8,9,10]\n");
	assert_limited("a: 1\na: 2\n", set_work, "error 2:1-2 " TOO_MUCH);
	assert_limited("a: &x 1\na: 2\n", set_duplicate_work,
		       "duplicate 2:1-2 key \"a\" is given twice (before on "
		       "line 1): the last value counts\nerror 1:7-8 " TOO_MUCH);
}

/* As in go-yaml, at most 99 of 100 decoded values may come from aliases. */
static void aliases_may_make_as_much_as_in_go_yaml(void **state)
{
	struct reading reading;
	struct buf text;
	int n[2] = {60, 200};

	for (int i = 0; i < 2; i++) {
		buf_init(&text);
		buf_adds(&text, "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: [");
		for (int k = 0; k < n[i]; k++)
			buf_adds(&text, "*a,");
		buf_adds(&text, "]\n");
		assert_non_null(read_one(&reading, text.data));
		reading_release(&reading);
		buf_release(&text);
	}
	buf_init(&text);
	buf_adds(&text, "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
	for (int k = 1; k < 9; k++)
		buf_addf(&text, "a%d: &a%d [*a%d,*a%d,*a%d,*a%d]\n", k, k,
			 k - 1, k - 1, k - 1, k - 1);
	assert_null(read_one(&reading, text.data));
	assert_non_null(strstr(reading.said.data,
			       "aliases make up too much of the document"));
	reading_release(&reading);
	buf_release(&text);
}

/* --- hostile texts -------------------------------------------------------- */

/* Each text is start, then middle repeated up to a megabyte, then end. */
static const struct {
	const char *start, *middle, *end;
} hostile[] = {
	{"", "[", ""},
	{"", "{a: ", ""},
	{"", "- ", ""},
	{"", "? ", ""},
	{"", "%TAG !a! tag:x,2000:\n", "---\na\n"},
	{"", "%TAG !a! tag:x,2000:\r", "---\ra\n"},
	{"a: &a [1,1,1,1]\n", "b: &a [*a,*a,*a,*a,*a,*a,*a,*a]\n", ""},
	{"a: &a {k: 1, l: 2}\nb:\n", "  <<: *a\n", ""},
	{"a: &a {k: 1}\nb:\n  <<: [", "*a,", "]\n"},
	{"", "a: &a 1\n", ""},
	{"", "a\n...\n", ""},
	{"", "a\r---\r", ""},
	{"", "a\xe2\x80\xa8---\xe2\x80\xa8", ""},
	{"", "---\n", ""},
	{"", "---x\n", ""},
	{"", "%YAML 1.1\n---\n", ""},
	{"", "{}", ""},
	{"{", "\"a\":1,", ""},
	{"", "{\"a\":", ""},
	{"[", "\xc3\xa9,", "]"},
	{"", "\xc3\xa9: \xc3\xbc\n", ""},
	{"a: \"", "\\U0001F600", "\""},
	{"a: \"", "\\", ""},
	{"a: |\n", "  x\n", ""},
	{"a: ", "x\n  ", "\n"},
	{"[a", "\n", "]"},
	{"[", "#\n", "]"},
	{"", "&a ", ""},
	{"", "! ", ""},
	{"", ":", ""},
	{"", "a\n\xef\xbb\xbf", ""},
	{"", "\xe2\x80\xa8", ""},
	{"[", "\"x\" ", "]"},
};

/* Seconds. Far more than the 1 s of the slowest text, far less than a quadratic
 * algorithm would take. */
enum { LONGEST = 10 };

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void assert_quick(const struct buf *text, const char *what)
{
	struct reading reading;
	struct doc doc;
	double start = seconds();

	reading_init(&reading, text->data, text->len);
	reading.loader.issue = NULL;
	while (loader_next(&reading.loader, &doc))
		;
	reading_release(&reading);
	if (seconds() - start > LONGEST)
		fail_msg("%s: %.1f s", what, seconds() - start);
}

static void hostile_texts_end_quickly(void **state)
{
	struct buf text;

	buf_init(&text);
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		buf_reset(&text);
		buf_adds(&text, hostile[i].start);
		while (text.len < 1000000)
			buf_adds(&text, hostile[i].middle);
		buf_adds(&text, hostile[i].end);
		assert_quick(&text, hostile[i].middle);
	}
	buf_release(&text);
}

static void hostile_shapes_end_quickly(void **state)
{
	struct buf text;

	buf_init(&text);
	for (int i = 0; i < 990; i++)
		buf_addc(&text, '[');
	while (text.len < 1000000)
		buf_adds(&text, "1,");
	assert_quick(&text, "flow at depth 990");
	buf_reset(&text);
	for (int i = 0; i < 100000; i++)
		buf_addf(&text, "k%d: &a 1\n", i % 50000);
	assert_quick(&text, "anchored keys given twice");
	buf_reset(&text);
	buf_adds(&text, "%TAG !e! tag:");
	while (text.len < 500000)
		buf_addc(&text, 'x');
	buf_adds(&text, "\n---\n");
	while (text.len < 1000000)
		buf_adds(&text, "- !e!x\n");
	assert_quick(&text, "tags with a long prefix");
	buf_reset(&text);
	for (int i = 0; i < 80000; i++)
		buf_addf(&text, "- &a%d 1\n- *a%d\n", i, i);
	assert_quick(&text, "many anchors");
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_limited),
		cmocka_unit_test(depth_is_limited),
		cmocka_unit_test(values_are_limited),
		cmocka_unit_test(documents_are_limited),
		cmocka_unit_test(directives_are_limited),
		cmocka_unit_test(the_work_of_aliases_is_limited),
		cmocka_unit_test(aliases_may_make_as_much_as_in_go_yaml),
		cmocka_unit_test(hostile_texts_end_quickly),
		cmocka_unit_test(hostile_shapes_end_quickly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
