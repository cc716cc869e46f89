/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers: always a readable string, lengths that leave out the NUL, reuse
 * after reset and release.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"

static void empty_is_a_string(void **state)
{
	struct buf buf;

	buf_init(&buf);
	assert_string_equal(buf.data, "");
	buf_add(&buf, NULL, 0);
	buf_adds(&buf, "");
	buf_reset(&buf);
	assert_int_equal(buf.len, 0);
	assert_int_equal(buf.size, 0);
	buf_release(&buf);
	assert_string_equal(buf.data, "");
}

static void text_is_appended(void **state)
{
	struct buf buf;

	buf_init(&buf);
	buf_adds(&buf, "pod");
	buf_addc(&buf, '-');
	buf_addf(&buf, "%d/%s", 4, "x");
	buf_add(&buf, "\0y", 2);
	assert_int_equal(buf.len, 9);
	assert_memory_equal(buf.data, "pod-4/x\0y", 10);
	buf_reset(&buf);
	assert_string_equal(buf.data, "");
	buf_adds(&buf, "again");
	assert_string_equal(buf.data, "again");
	buf_release(&buf);
	buf_release(&buf);
}

static void growing_keeps_the_text(void **state)
{
	struct buf buf;

	buf_init(&buf);
	for (int i = 0; i < 10000; i++) {
		buf_addf(&buf, "%04d", i);
		assert_int_equal(buf.len, (size_t)4 * (i + 1));
		assert_true(buf.len < buf.size);
		assert_int_equal(buf.data[buf.len], '\0');
	}
	assert_memory_equal(buf.data + 4 * 63, "00630064", 8);
	assert_memory_equal(buf.data + 4 * 9999, "9999", 5);
	buf_release(&buf);
}

static void room_is_made_ahead(void **state)
{
	struct buf buf;
	char *data;

	buf_init(&buf);
	buf_grow(&buf, 1000);
	data = buf.data;
	for (int i = 0; i < 1000; i++)
		buf_addc(&buf, 'r');
	assert_ptr_equal(buf.data, data);
	assert_int_equal(strlen(buf.data), 1000);
	buf_release(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_is_a_string),
		cmocka_unit_test(text_is_appended),
		cmocka_unit_test(growing_keeps_the_text),
		cmocka_unit_test(room_is_made_ahead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
