/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings collected by file: copies outlive their sources, and if there are
 * more than the maximum, the kept ones do not depend on which thread was first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/text.h"
#include "lint/run/collect.h"

enum { FILES = 6, MOST = 3 };

static const struct rule rule = {.name = "r"};

/* A finding in its own memory, which is overwritten after the collection has
 * copied it. */
struct made {
	char message[16];
	struct finding finding;
	struct finding *pointer;
};

static void make(struct made *made, uint32_t line, const char *message)
{
	*made = (struct made){.pointer = &made->finding};
	strcpy(made->message, message);
	made->finding = (struct finding){
		.rule = &rule,
		.place = {.line = line, .pointer = ""},
		.message = made->message,
		.fix = (struct fix *)made,
	};
}

static void put(struct collection *c, uint32_t file,
		struct finding_memory *memory, size_t begun)
{
	const atomic_size_t next = begun;
	struct made made;

	make(&made, 1, "alone");
	c->begun = &next;
	collect_file(c, file, &made.pointer, 1, memory);
	memset(&made, 'x', sizeof(made));
}

static void put_set(struct collection *c, uint32_t file, uint32_t line)
{
	struct made made;

	make(&made, line, "set");
	collect_set(c, file, &made.pointer, 1);
	memset(&made, 'x', sizeof(made));
}

/* Checks the number of findings of each file, as digits. */
static void check_kept(const struct collection *c, const char *want)
{
	char counts[FILES + 1] = "";

	for (size_t i = 0; i < c->nfiles; i++) {
		counts[i] = (char)('0' + c->files[i].n);
		assert_true(!c->files[i].n == !c->files[i].items);
	}
	assert_string_equal(counts, want);
}

static void begin(struct collection *c, struct finding_memory *memory)
{
	collection_init(c, FILES, NULL);
	c->most = MOST;
	*memory = (struct finding_memory){0};
}

static void end(struct collection *c, struct finding_memory *memory)
{
	collection_release(c);
	arena_release(&memory->arena);
}

static void copies_outlive_the_findings(void **state)
{
	struct finding_memory memory;
	struct collection c;
	const struct finding *items;

	(void)state;
	begin(&c, &memory);
	put(&c, 1, &memory, 2);
	put_set(&c, 1, 9);
	put_set(&c, 3, 2);
	assert_int_equal(collection_cut(&c), -1);
	check_kept(&c, "020100");
	items = c.files[1].items;
	assert_string_equal(items[0].message, "alone");
	assert_string_equal(items[1].message, "set");
	assert_string_equal(items[1].help, "");
	assert_null(items[0].fix);
	assert_true(c.files[1].alone);
	assert_false(c.files[3].alone);
	end(&c, &memory);
}

static void both_kinds_are_in_the_order_of_lines(void **state)
{
	struct finding_memory memory;
	struct collection c;

	(void)state;
	begin(&c, &memory);
	put(&c, 0, &memory, 1);
	put_set(&c, 0, 0);
	assert_string_equal(c.files[0].items[0].message, "set");
	assert_string_equal(c.files[0].items[1].message, "alone");
	end(&c, &memory);
}

static void equal_texts_are_kept_once(void **state)
{
	struct finding_memory memory;
	struct collection c;

	(void)state;
	begin(&c, &memory);
	put(&c, 0, &memory, 1);
	put(&c, 1, &memory, 2);
	assert_ptr_equal(c.files[0].items->message, c.files[1].items->message);
	end(&c, &memory);
}

/* When the maximum is reached, files that were not begun keep no findings; file
 * 2 was begun and keeps its own, although it ends last. */
static void the_first_files_keep_their_findings(void **state)
{
	static const uint32_t orders[][FILES - 1] = {
		{0, 1, 4, 5, 2}, {0, 4, 1, 2, 5}, {0, 1, 2, 4, 5}};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct finding_memory memory;
		struct collection c;

		begin(&c, &memory);
		for (size_t j = 0; j < FILES - 1; j++)
			put(&c, orders[i][j], &memory, i < 2 ? 5 : 3);
		assert_null(c.files[5].items);
		assert_int_equal(collection_cut(&c), 2);
		check_kept(&c, "111000");
		/* One more finding shows that there are more than the
		 * maximum. */
		put_set(&c, 2, 7);
		check_kept(&c, "112000");
		end(&c, &memory);
	}
}

static void findings_of_set_rules_count(void **state)
{
	struct finding_memory memory;
	struct collection c;

	(void)state;
	begin(&c, &memory);
	put(&c, 4, &memory, 5);
	for (uint32_t file = 0; file < FILES; file++)
		put_set(&c, file, 1);
	assert_int_equal(collection_cut(&c), 2);
	check_kept(&c, "111000");
	end(&c, &memory);
}

static void exactly_the_maximum_is_not_cut(void **state)
{
	struct finding_memory memory;
	struct collection c;

	(void)state;
	begin(&c, &memory);
	for (uint32_t file = 0; file < MOST; file++)
		put(&c, file, &memory, FILES);
	assert_int_equal(collection_cut(&c), -1);
	check_kept(&c, "111000");
	end(&c, &memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_outlive_the_findings),
		cmocka_unit_test(both_kinds_are_in_the_order_of_lines),
		cmocka_unit_test(equal_texts_are_kept_once),
		cmocka_unit_test(the_first_files_keep_their_findings),
		cmocka_unit_test(findings_of_set_rules_count),
		cmocka_unit_test(exactly_the_maximum_is_not_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
