/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watch lines and list items in chunks: every text is passed whole, in two
 * pieces cut at each byte, and byte by byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "webhook/cluster/reflector.h"

struct taken {
	struct buf all; /* values, each followed by '|' */
	unsigned left;	/* values that the sink takes before it stops */
};

static bool take(void *context, const char *text, size_t len)
{
	struct taken *t = context;

	buf_add(&t->all, text, len);
	buf_addc(&t->all, '|');
	return t->left-- > 1;
}

/* Passes the text in two pieces, cut at `cut`; if that is beyond the end, byte
 * by byte. */
static bool reflector_lines(const char *text, size_t cut, struct taken *t)
{
	struct split_sink sink = {take, t};
	struct buf rest;
	size_t len = strlen(text);
	bool good = true;

	buf_init(&rest);
	if (cut <= len)
		good = lines_feed(&rest, text, cut, &sink) &&
		       lines_feed(&rest, text + cut, len - cut, &sink);
	else
		for (size_t i = 0; i < len && good; i++)
			good = lines_feed(&rest, text + i, 1, &sink);
	buf_release(&rest);
	return good;
}

static void a_stream_is_split_at_its_lines(void **state)
{
	static const struct {
		const char *text, *values;
	} cases[] = {
		{"", ""},
		{"{}", ""}, /* the line end is missing */
		{"{}\n", "{}|"},
		{"{}\r\n", "{}|"},
		{"\n\n{}\n\n", "{}|"},
		{"{\"a\":1}\n{\"b\":2}\n", "{\"a\":1}|{\"b\":2}|"},
		{"{\"a\":1}\n{\"b\":", "{\"a\":1}|"},
		{"what\never\nit is", "what|ever|"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (size_t cut = 0; cut <= strlen(cases[i].text) + 1; cut++) {
			struct taken t = {.left = 100};

			buf_init(&t.all);
			assert_true(reflector_lines(cases[i].text, cut, &t));
			assert_string_equal(t.all.data, cases[i].values);
			buf_release(&t.all);
		}
}

static void a_reader_may_stop(void **state)
{
	struct taken t = {.left = 2};

	buf_init(&t.all);
	assert_false(reflector_lines("1\n2\n3\n", 0, &t));
	assert_string_equal(t.all.data, "1|2|");
	buf_release(&t.all);
}

static void a_line_beyond_the_limit_ends_the_stream(void **state)
{
	struct split_sink sink = {take, NULL};
	struct buf rest;
	char *block = malloc(1 << 20);
	unsigned fed = 0;

	memset(block, 'x', 1 << 20);
	buf_init(&rest);
	while (lines_feed(&rest, block, 1 << 20, &sink) && fed < 100)
		fed++;
	assert_int_equal(fed, SPLIT_VALUE_MAX >> 20);
	buf_release(&rest);
	free(block);
}

struct result {
	bool good, done;
	struct taken taken;
	struct buf head;
};

static void reflector_items(const char *text, size_t cut, struct result *r)
{
	struct split_sink sink = {take, &r->taken};
	struct items items;
	size_t len = strlen(text);

	*r = (struct result){.good = true, .taken.left = 100};
	buf_init(&r->taken.all);
	items_init(&items);
	if (cut <= len)
		r->good = items_feed(&items, text, cut, &sink) &&
			  items_feed(&items, text + cut, len - cut, &sink);
	else
		for (size_t i = 0; i < len && r->good; i++)
			r->good = items_feed(&items, text + i, 1, &sink);
	r->done = items.done;
	r->head = items.head;
	buf_init(&items.head);
	items_release(&items);
}

static void a_list_is_split_into_its_items(void **state)
{
	static const struct {
		const char *text, *values, *head;
		bool good, done;
	} cases[] = {
		{"{}", "", "{}", true, true},
		{"{\"items\":[]}", "", "{\"items\":[]}", true, true},
		{"{\"items\":[{}]}", "{}|", "{\"items\":[]}", true, true},
		{" {\"kind\":\"L\",\"items\" : [ {\"a\":[{}]} , {\"b\":1}\n]"
		 ",\"metadata\":{\"items\":[{}]}}\n",
		 "{\"a\":[{}]}|{\"b\":1}|",
		 " {\"kind\":\"L\",\"items\" : [],\"metadata\":{\"items\":[{}]"
		 "}}",
		 true, true},
		/* brackets and quotes in strings */
		{"{\"items\":[{\"a\":\"}]\\\"{\\\\\"}]}",
		 "{\"a\":\"}]\\\"{\\\\\"}|", "{\"items\":[]}", true, true},
		/* another key, or another depth */
		{"{\"a\":\"items\",\"b\":[{}]}", "",
		 "{\"a\":\"items\",\"b\":[{}]}", true, true},
		{"{\"items2\":[{}],\"x\":{\"items\":[{}]}}", "",
		 "{\"items2\":[{}],\"x\":{\"items\":[{}]}}", true, true},
		{"{\"items\":null}", "", "{\"items\":null}", true, true},
		{"{\"items\":{\"a\":[{}]}}", "", "{\"items\":{\"a\":[{}]}}",
		 true, true},
		/* lists that are cut off */
		{"{\"items\":[{}", "{}|", "{\"items\":[", true, false},
		{"{\"items\":[{\"a\":", "", "{\"items\":[", true, false},
		{"{\"items\":[{}]", "{}|", "{\"items\":[]", true, false},
		{"", "", "", true, false},
		/* items that are not objects */
		{"{\"items\":[1]}", "", NULL, false, false},
		{"{\"items\":[\"a\"]}", "", NULL, false, false},
		{"{\"items\":[[]]}", "", NULL, false, false},
		{"}", "", NULL, false, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (size_t cut = 0; cut <= strlen(cases[i].text) + 1; cut++) {
			struct result r;

			reflector_items(cases[i].text, cut, &r);
			assert_int_equal(r.good, cases[i].good);
			assert_string_equal(r.taken.all.data, cases[i].values);
			if (cases[i].good)
				assert_int_equal(r.done, cases[i].done);
			if (cases[i].head)
				assert_string_equal(r.head.data, cases[i].head);
			buf_release(&r.taken.all);
			buf_release(&r.head);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stream_is_split_at_its_lines),
		cmocka_unit_test(a_reader_may_stop),
		cmocka_unit_test(a_line_beyond_the_limit_ends_the_stream),
		cmocka_unit_test(a_list_is_split_into_its_items),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
