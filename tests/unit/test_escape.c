/* SPDX-License-Identifier: Apache-2.0 */
/* Work that is abandoned: its guards run, and the next work starts fresh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/escape.h"

struct trace {
	char text[16];
};

static void note(struct trace *trace, char c)
{
	size_t len = strlen(trace->text);

	trace->text[len] = c;
	trace->text[len + 1] = '\0';
}

static void note_end(void *what)
{
	note(what, 'e');
}

static void finish(void *context)
{
	struct escape_guard guard;

	escape_guard(&guard, note_end, context);
	escape_unguard(&guard);
	note(context, 'f');
}

static void run_out(void *context)
{
	struct escape_guard outer, inner, past;

	escape_guard(&outer, note_end, context);
	escape_guard(&past, note_end, context);
	escape_unguard(&past);
	escape_guard(&inner, note_end, context);
	OUT_OF_MEMORY();
}

static void wait_long(void *context)
{
	struct arena *arena = context;

	for (;;) {
		usleep(1000);
		arena_alloc(arena, 1 << 20);
	}
}

static void ends_guards_when_it_leaves(void **state)
{
	struct trace trace = {""};

	assert_int_equal(escape_run(run_out, &trace, NULL), ESCAPE_MEMORY);
	assert_string_equal(trace.text, "ee");
	assert_int_equal(escape_run(finish, &trace, NULL), ESCAPE_NONE);
	assert_string_equal(trace.text, "eef");
	escape_leave(ESCAPE_MEMORY); /* returns, because no work has begun */
}

static void run_inner(void *context)
{
	struct escape_guard guard;

	escape_guard(&guard, note_end, context);
	assert_int_equal(escape_run(run_out, context, NULL), ESCAPE_MEMORY);
	note(context, 'i');
	escape_unguard(&guard);
	run_out(context);
}

static void leaves_the_inner_work_only(void **state)
{
	struct trace trace = {""};

	assert_int_equal(escape_run(run_inner, &trace, NULL), ESCAPE_MEMORY);
	assert_string_equal(trace.text, "eeiee");
}

static void leaves_at_the_deadline(void **state)
{
	struct arena arena = ARENA_INIT;

	assert_int_equal(escape_run(wait_long, &arena,
				    &(struct escape_limits){.elapsed = 5}),
			 ESCAPE_TIME);
	arena_release(&arena);
}

static void work_long(void *context)
{
	for (;;)
		escape_check(0);
}

static void leaves_at_the_limit_of_processor_time(void **state)
{
	const struct escape_limits limits = {.elapsed = 60000, .processor = 20};

	assert_int_equal(escape_run(work_long, NULL, &limits), ESCAPE_WORK);
}

static void leaves_at_the_limit_of_memory(void **state)
{
	struct arena arena = ARENA_INIT;
	const struct escape_limits limits = {.memory = 5 << 20};

	assert_int_equal(escape_run(wait_long, &arena, &limits), ESCAPE_WORK);
	assert_true(arena.used <= 6 << 20);
	arena_release(&arena);
}

static void waits_without_processor_time(void **state)
{
	struct arena arena = ARENA_INIT;
	const struct escape_limits limits = {.elapsed = 30, .processor = 29};

	assert_int_equal(escape_run(wait_long, &arena, &limits), ESCAPE_TIME);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_guards_when_it_leaves),
		cmocka_unit_test(leaves_the_inner_work_only),
		cmocka_unit_test(leaves_at_the_deadline),
		cmocka_unit_test(leaves_at_the_limit_of_processor_time),
		cmocka_unit_test(leaves_at_the_limit_of_memory),
		cmocka_unit_test(waits_without_processor_time),
	};

	return cmocka_run_group_tests_name("escape", tests, NULL, NULL);
}
