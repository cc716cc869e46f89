/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line hash, compared with the values of GitHub's own tool for these texts
 * (its published test vectors) and with a second computation from the
 * definition; and the counter that it uses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lint/text/line_hash.h"
#include "report_fixture.h"

enum { MOST = 400 };

struct line_hashes {
	struct line_hash items[MOST];
	size_t n;
};

/* Returns the hashes of all lines, each computed twice. */
static struct line_hashes hashes_of(const char *text)
{
	struct line_hashes hashes = {.n = 0};
	struct fixture fixture;
	struct line_hasher hasher;
	const struct line_hash *hash;

	fixture_text(&fixture, text);
	line_hasher_init(&hasher, &fixture.source);
	for (uint32_t line = 1; line <= MOST; line++)
		line_hash_want(&hasher, line);
	while ((hash = line_hash_at(&hasher, (uint32_t)hashes.n + 1))) {
		assert_in_range(hashes.n, 0, MOST - 1);
		hashes.items[hashes.n++] = *hash;
		hash = line_hash_at(&hasher, (uint32_t)hashes.n);
		assert_non_null(hash);
		assert_memory_equal(hash, &hashes.items[hashes.n - 1],
				    sizeof(*hash));
	}
	line_hasher_release(&hasher);
	fixture_release(&fixture);
	return hashes;
}

static void expect_hashes(const char *text, const char *expected)
{
	struct line_hashes hashes = hashes_of(text);
	char got[1024] = "";

	for (size_t i = 0; i < hashes.n; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got),
			 "%s%llx:%u", i ? " " : "",
			 (unsigned long long)hashes.items[i].hash,
			 hashes.items[i].count);
	assert_string_equal(got, expected);
}

/* Hashes of some lines can be requested alone; the lines between them count as
 * well. */
static void lines_may_be_left_out(void **state)
{
	static const char text[] = "a\n\n\n\n\nb\n\n\n\n\na\n";
	struct line_hashes hashes = hashes_of(text);
	struct fixture fixture;
	struct line_hasher hasher;
	const struct line_hash *hash;

	fixture_text(&fixture, text);
	line_hasher_init(&hasher, &fixture.source);
	for (uint32_t line = 3; line <= hashes.n; line += 3)
		line_hash_want(&hasher, line);
	for (uint32_t line = 3; line <= hashes.n; line += 3) {
		hash = line_hash_at(&hasher, line);
		assert_non_null(hash);
		assert_memory_equal(hash, &hashes.items[line - 1],
				    sizeof(*hash));
	}
	assert_null(line_hash_at(&hasher, (uint32_t)hashes.n + 1));
	hash = line_hash_at(&hasher, 6);
	assert_non_null(hash);
	assert_memory_equal(hash, &hashes.items[5], sizeof(*hash));
	line_hasher_release(&hasher);
	fixture_release(&fixture);
}

static void hashes_are_those_of_github(void **state)
{
	static const char ended[] =
		"e9496ae3ebfced30:1 fb7c023a8b9ccb3f:1 ce8ba1a563dcdaca:1"
		" e20e36e16fcb0cc8:1 b3edc88f2938467e:1 c8e28b0b4002a3a0:1"
		" c129715d7a2bc9a3:1";

	expect_hashes("", "c129715d7a2bc9a3:1");
	expect_hashes(" a\nb\n  \t\tc\n d",
		      "271789c17abda88f:1 54703d4cd895b18:1"
		      " 180aee12dab6264:1 a23a3dc5e078b07b:1");
	expect_hashes(" hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End",
		      "8b7cf3e952e7aeb2:1 b1ae1287ec4718d9:1"
		      " bff680108adb0fcc:1 c6805c5e1288b612:1"
		      " b86d3392aea1be30:1 e6ceba753e1a442:1");
	expect_hashes(" hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End\n",
		      ended);
	expect_hashes(" hello; \t\nworld!!!\r\r\r  \t\tGreetings\r End\r",
		      ended);
	expect_hashes(
		" hello; \t\r\nworld!!!\r\n\r\n\r\n  \t\tGreetings\r\n End\r\n",
		ended);
	expect_hashes("alpha\nbeta\nalpha\n",
		      "8d07ce75f7b3af45:1 ca140c3f893ffa65:1"
		      " 26f09ff008857193:1 c129715d7a2bc9a3:1");
}

/* Returns the sum of unit times 37 to the power of its distance from the
 * window's end. */
static uint64_t by_definition(const uint16_t *units, size_t n, size_t start)
{
	uint64_t hash = 0;

	for (size_t i = start; i < start + 100; i++)
		hash = hash * 37 + (i < n ? units[i] : 0);
	return hash;
}

static void units_are_utf16(void **state)
{
	static const uint16_t units[] = {0xfeff, 'a',	 0xe9, 0x65e5, 0xd83d,
					 0xde00, 0xfffd, '\n', 'b',    0xffff};
	struct line_hashes hashes = hashes_of("\xef\xbb\xbf a é\t日😀\xff\n b ");

	assert_int_equal(hashes.n, 2);
	assert_true(hashes.items[0].hash == by_definition(units, 10, 0));
	assert_true(hashes.items[1].hash == by_definition(units, 10, 8));
}

/* Windows longer than a line, and equal lines far from the end. */
static void equal_lines_are_counted(void **state)
{
	struct line_hashes hashes;
	char text[4 * 300 + 1];

	for (size_t i = 0; i < 300; i++)
		memcpy(text + 4 * i, "a: \n", 4);
	text[4 * 300] = '\0';
	hashes = hashes_of(text);
	assert_int_equal(hashes.n, 301);
	/* A window of 100 units has 33 lines of three units and a bit. */
	for (size_t i = 0; i < 260; i++) {
		assert_true(hashes.items[i].hash == hashes.items[0].hash);
		assert_int_equal(hashes.items[i].count, i + 1);
	}
	assert_true(hashes.items[299].hash != hashes.items[0].hash);
	assert_int_equal(hashes.items[299].count, 1);
}

/* The text above a line does not change its hash; the text below does. */
static void only_what_follows_counts(void **state)
{
	static const char *const texts[] = {"x: 1\nend: 2\n", "y\nend: 2\n",
					    "x: 1\nend: 3\n"};
	uint64_t hash[3];

	for (size_t i = 0; i < 3; i++)
		hash[i] = hashes_of(texts[i]).items[1].hash;
	assert_true(hash[0] == hash[1]);
	assert_true(hash[0] != hash[2]);
}

static void repeated_hashes_are_counted(void **state)
{
	struct counter counter = {0};

	assert_int_equal(counter_next(&counter, 0), 1);
	assert_int_equal(counter_next(&counter, 0), 2);
	for (uint64_t i = 1; i < 5000; i++)
		assert_int_equal(counter_next(&counter, i << 32), 1);
	for (uint64_t i = 1; i < 5000; i++)
		assert_int_equal(counter_next(&counter, i << 32), 2);
	assert_int_equal(counter_next(&counter, 0), 3);
	counter_reset(&counter);
	assert_int_equal(counter_next(&counter, 0), 1);
	assert_true(counter_has(&counter, 0));
	assert_false(counter_has(&counter, 1));
	assert_int_equal(counter_next(&counter, 0), 2);
	counter_release(&counter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hashes_are_those_of_github),
		cmocka_unit_test(units_are_utf16),
		cmocka_unit_test(equal_lines_are_counted),
		cmocka_unit_test(only_what_follows_counts),
		cmocka_unit_test(lines_may_be_left_out),
		cmocka_unit_test(repeated_hashes_are_counted),
	};

	return cmocka_run_group_tests_name("line_hash", tests, NULL, NULL);
}
