/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arena, arrays in an arena, and errors: alignment, oversize requests, the
 * memory that a reset keeps, and that the first error wins.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/err.h"

static void memory_is_aligned_and_apart(void **state)
{
	struct arena arena = ARENA_INIT;
	char *last = NULL;

	for (size_t size = 0; size < 3000; size++) {
		char *p = arena_alloc(&arena, size);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
		if (last)
			assert_int_equal(last[0], 'l');
		memset(p, 'x', size);
		last = arena_strdup(&arena, "last");
	}
	assert_string_equal(last, "last");
	assert_true(arena.used > 3000 * 1500);
	arena_release(&arena);
	assert_null(arena.head);
}

static void zalloc_clears_reused_memory(void **state)
{
	struct arena arena = ARENA_INIT;
	unsigned char *p;

	memset(arena_alloc(&arena, 5000), 0xff, 5000);
	arena_reset(&arena);
	assert_int_equal(arena.used, 0);
	p = arena_zalloc(&arena, 5000);
	for (size_t i = 0; i < 5000; i++)
		assert_int_equal(p[i], 0);
	arena_release(&arena);
}

static void oversize_leaves_the_head_in_use(void **state)
{
	struct arena arena = ARENA_INIT;
	char *before = arena_alloc(&arena, 16);
	char *big = arena_alloc(&arena, 5 << 20);
	char *after = arena_alloc(&arena, 16);

	memset(big, 'b', 5 << 20);
	assert_ptr_equal(after, before + 16);
	arena_reset(&arena);
	assert_ptr_equal(arena_alloc(&arena, 16), before);
	arena_release(&arena);
}

static void reset_drops_a_large_head(void **state)
{
	struct arena arena = ARENA_INIT;

	arena_alloc(&arena, 5 << 20);
	arena_reset(&arena);
	assert_null(arena.head);
	for (int i = 0; i < 4000; i++)
		arena_alloc(&arena, 1024);
	arena_reset(&arena);
	assert_non_null(arena.head);
	assert_true(arena.limit - arena.next <= 1 << 20);
	arena_release(&arena);
}

static void strings_are_terminated(void **state)
{
	struct arena arena = ARENA_INIT;
	char long_text[300];

	memset(long_text, 'y', sizeof(long_text));
	assert_string_equal(arena_strndup(&arena, "abcdef", 3), "abc");
	assert_string_equal(arena_strndup(&arena, "", 0), "");
	assert_memory_equal(arena_strndup(&arena, "a\0b", 3), "a\0b", 4);
	assert_string_equal(arena_printf(&arena, "%s-%d", "pod", 7), "pod-7");
	assert_int_equal(strlen(arena_printf(&arena, "%.300s", long_text)),
			 300);
	arena_release(&arena);
}

static void arrays_grow_and_keep_their_items(void **state)
{
	struct arena arena = ARENA_INIT;
	int *items = NULL;
	size_t n = 0, size = 0;

	for (int i = 0; i < 1000; i++)
		*VEC_PUSH(&arena, items, n, size) = i;
	assert_int_equal(n, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(items[i], i);
	arena_release(&arena);
}

static void first_error_wins(void **state)
{
	struct err err = {0};

	assert_int_equal(err_wrap(&err, "nothing to wrap"), -1);
	assert_false(err.set);
	assert_int_equal(err_set_at(&err, 3, 5, "bad %s", "key"), -1);
	assert_int_equal(err_set(&err, 2, "later"), -1);
	assert_int_equal(err_wrap(&err, "file %d", 1), -1);
	assert_string_equal(err.text, "file 1: bad key");
	assert_int_equal(err.line, 3);
	assert_int_equal(err.column, 5);
	assert_int_equal(err.code, 0);
	assert_int_equal(err_set(NULL, 1, "x"), -1);
	assert_int_equal(err_wrap(NULL, "x"), -1);
}

static void long_errors_are_cut(void **state)
{
	struct err err = {0};
	char text[1000];

	memset(text, 'z', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	err_set(&err, 5, "%s", text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	err_wrap(&err, "path");
	assert_int_equal(strncmp(err.text, "path: zzz", 9), 0);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	err_wrap(&err, "%s", text);
	assert_int_equal(strncmp(err.text, "path: zzz", 9), 0);
	assert_int_equal(err.code, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_aligned_and_apart),
		cmocka_unit_test(zalloc_clears_reused_memory),
		cmocka_unit_test(oversize_leaves_the_head_in_use),
		cmocka_unit_test(reset_drops_a_large_head),
		cmocka_unit_test(strings_are_terminated),
		cmocka_unit_test(arrays_grow_and_keep_their_items),
		cmocka_unit_test(first_error_wins),
		cmocka_unit_test(long_errors_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
