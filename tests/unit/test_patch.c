/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pointers and patches, case by case; json-patch-tests are in
 * tests/check/patch.sh. Every patch must leave the document unchanged.
 */
#include "json_reading.h"

#include "tests/tools/json_patch.h"

/* Returns the value that all tokens lead to, or NULL. */
static const struct node *pointer_resolve(const struct node *root,
					  const struct pointer *pointer)
{
	for (size_t i = 0; i < pointer->n; i++)
		root = pointer_step(root, &pointer->tokens[i]);
	return root;
}

struct pointer_case {
	const char *text;
	const char *value; /* JSON; NULL: the pointer leads to no value */
};

static const char document[] =
	"{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,\"e^f\":3,"
	"\"m~n\":8,\"~1\":9,\" \":7,\"o\":{\"01\":4}}";

static void pointers_find_their_value(void **state)
{
	static const struct pointer_case cases[] = {
		{"", document},
		{"/foo", "[\"bar\",\"baz\"]"},
		{"/foo/0", "\"bar\""},
		{"/foo/1", "\"baz\""},
		{"/", "0"},
		{"/a~1b", "1"},
		{"/c%d", "2"},
		{"/e^f", "3"},
		{"/m~0n", "8"},
		{"/~01", "9"},
		{"/ ", "7"},
		{"/o/01", "4"},
		{"/foo/2", NULL},
		{"/foo/-", NULL},
		{"/foo/00", NULL},
		{"/foo/01", NULL},
		{"/foo/-1", NULL},
		{"/foo/+1", NULL},
		{"/foo/1e0", NULL},
		{"/foo/", NULL},
		{"/foo/0/x", NULL},
		{"/fo", NULL},
		{"/foo/99999999999", NULL},
		{"//", NULL},
		{"/foo/4294967296", NULL},
	};
	struct reading reading;
	const struct node *root = read_text(&reading, document);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct pointer pointer;
		struct err err = {0};
		const struct node *node;

		assert_int_equal(pointer_parse(&reading.arena, cases[i].text,
					       strlen(cases[i].text), &pointer,
					       &err),
				 0);
		node = pointer_resolve(root, &pointer);
		if (cases[i].value)
			assert_value(node, cases[i].value);
		else if (node)
			fail_msg("%s leads somewhere", cases[i].text);
	}
	reading_release(&reading);
}

static void bad_pointers_are_refused(void **state)
{
	static const char *const cases[] = {
		"a", "~", "/~", "/~2", "/a~", "/~a", "/a/~/b", " /a", "#/a"};
	struct arena arena = ARENA_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct pointer pointer;
		struct err err = {0};

		assert_int_equal(pointer_parse(&arena, cases[i],
					       strlen(cases[i]), &pointer,
					       &err),
				 -1);
		assert_true(err.set);
	}
	arena_release(&arena);
}

static void keys_are_escaped_in_pointers(void **state)
{
	struct buf out;

	(void)state;
	buf_init(&out);
	pointer_add(&out, "nvidia.com/gpu", 14);
	pointer_add(&out, "a~1b", 4);
	pointer_add(&out, "", 0);
	assert_string_equal(out.data, "/nvidia.com~1gpu/a~01b/");
	buf_release(&out);
}

struct patch_case {
	const char *document, *patch;
	const char *result; /* or NULL */
	const char *error;
};

static void run_case(const struct patch_case *test)
{
	struct reading old, patch;
	const struct node *root = read_text(&old, test->document);
	const struct node *list = read_text(&patch, test->patch);
	struct err err = {0};
	struct node *made = patch_apply(&old.arena, root, list, &err);

	if (test->result) {
		if (!made)
			fail_msg("%s: %s", test->patch, err.text);
		assert_value(made, test->result);
		assert_false(err.set);
	} else {
		assert_null(made);
		if (!strstr(err.text, test->error))
			fail_msg("%s: \"%s\" without \"%s\"", test->patch,
				 err.text, test->error);
	}
	assert_value(root, test->document);
	reading_release(&old);
	reading_release(&patch);
}

static void patches_change_documents(void **state)
{
	static const struct patch_case cases[] = {
		{"{}", "[]", "{}", NULL},
		{"{\"a\":1}", "[{\"op\":\"add\",\"path\":\"/a\",\"value\":2}]",
		 "{\"a\":2}", NULL},
		{"[1,2]", "[{\"op\":\"add\",\"path\":\"/0\",\"value\":0}]",
		 "[0,1,2]", NULL},
		{"[1,2]", "[{\"op\":\"add\",\"path\":\"/1\",\"value\":0}]",
		 "[1,0,2]", NULL},
		{"[1,2]", "[{\"op\":\"add\",\"path\":\"/2\",\"value\":0}]",
		 "[1,2,0]", NULL},
		{"[1,2]", "[{\"op\":\"add\",\"path\":\"/-\",\"value\":0}]",
		 "[1,2,0]", NULL},
		{"{\"a\":[1,2,3]}",
		 "[{\"op\":\"remove\",\"path\":\"/a/1\"},"
		 "{\"op\":\"remove\",\"path\":\"/a/1\"},"
		 "{\"op\":\"add\",\"path\":\"/a/-\",\"value\":9}]",
		 "{\"a\":[1,9]}", NULL},
		{"{\"a\":{\"b\":1}}",
		 "[{\"op\":\"copy\",\"from\":\"\",\"path\":\"/c\"}]",
		 "{\"a\":{\"b\":1},\"c\":{\"a\":{\"b\":1}}}", NULL},
		{"{\"a\":{\"b\":1}}",
		 "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/c\"},"
		 "{\"op\":\"replace\",\"path\":\"/c/b\",\"value\":2}]",
		 "{\"a\":{\"b\":1},\"c\":{\"b\":2}}", NULL},
		{"{\"a\":1,\"b\":[]}",
		 "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/b/0\"}]",
		 "{\"b\":[1]}", NULL},
		{"[1,2,3]",
		 "[{\"op\":\"move\",\"from\":\"/0\",\"path\":\"/2\"}]",
		 "[2,3,1]", NULL},
		{"{\"a\":1}",
		 "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a\"}]",
		 "{\"a\":1}", NULL},
		{"{\"a\":1.0}",
		 "[{\"op\":\"test\",\"path\":\"/a\",\"value\":1}]",
		 "{\"a\":1.0}", NULL},
		{"{\"a\":null}",
		 "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":{\"b\":[]}},"
		 "{\"op\":\"add\",\"path\":\"/a/b/-\",\"value\":\"x\"}]",
		 "{\"a\":{\"b\":[\"x\"]}}", NULL},
		{"{\"a\":1}",
		 "[{\"op\":\"replace\",\"path\":\"\",\"value\":[]}]", "[]",
		 NULL},
		{"{\"a/b\":{\"c~d\":1}}",
		 "[{\"op\":\"remove\",\"path\":\"/a~1b/c~0d\"}]",
		 "{\"a/b\":{}}", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		run_case(&cases[i]);
}

static void bad_patches_are_refused(void **state)
{
	static const struct patch_case cases[] = {
		{"{}", "{}", NULL, "a patch is a list"},
		{"{}", "[1]", NULL, "\"op\" must be a string"},
		{"{}", "[{\"op\":1}]", NULL, "\"op\" must be a string"},
		{"{}", "[{\"op\":\"no\"}]", NULL, "unknown op \"no\""},
		{"{}", "[{\"op\":\"add\"}]", NULL, "\"path\" must be a string"},
		{"{}", "[{\"op\":\"add\",\"path\":1,\"value\":1}]", NULL,
		 "\"path\" must be a string"},
		{"{}", "[{\"op\":\"add\",\"path\":\"/a\"}]", NULL,
		 "\"value\" is missing"},
		{"{}", "[{\"op\":\"copy\",\"path\":\"/a\"}]", NULL,
		 "\"from\" must be a string"},
		{"{}", "[{\"op\":\"add\",\"path\":\"/a/b\",\"value\":1}]", NULL,
		 "\"/a\" does not exist"},
		{"{\"a\":1}",
		 "[{\"op\":\"add\",\"path\":\"/a/b\",\"value\":1}]", NULL,
		 "\"/a\" is neither a map nor a list"},
		{"[1]", "[{\"op\":\"add\",\"path\":\"/2\",\"value\":1}]", NULL,
		 "\"/2\" is past the end of the list"},
		{"[1]", "[{\"op\":\"add\",\"path\":\"/x\",\"value\":1}]", NULL,
		 "\"/x\" is not an index"},
		{"[1]", "[{\"op\":\"add\",\"path\":\"/-1\",\"value\":1}]", NULL,
		 "is not an index"},
		{"[1]", "[{\"op\":\"remove\",\"path\":\"/-\"}]", NULL,
		 "\"/-\" does not exist"},
		{"[1]", "[{\"op\":\"remove\",\"path\":\"\"}]", NULL,
		 "the whole document cannot be removed"},
		{"{}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":1}]",
		 NULL, "\"/a\" does not exist"},
		{"{\"a\":{}}",
		 "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/b\"}]", NULL,
		 "cannot be moved into itself"},
		{"{\"a\":1}",
		 "[{\"op\":\"test\",\"path\":\"/a\",\"value\":\"1\"}]", NULL,
		 "\"/a\" differs from the value"},
		{"{\"a\":1}",
		 "[{\"op\":\"remove\",\"path\":\"/a\"},"
		 "{\"op\":\"remove\",\"path\":\"/a\"}]",
		 NULL, "operation 1 of the patch: \"/a\" does not exist"},
		{"{}", "[{\"op\":\"add\",\"path\":\"a\",\"value\":1}]", NULL,
		 "does not begin with /"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		run_case(&cases[i]);
}

/* Doubling a document with copies, and nesting it, must end in an error. */
static void a_patch_that_doubles_is_refused(void **state)
{
	struct reading old, patch;
	struct err err = {0};
	struct buf text;

	(void)state;
	buf_init(&text);
	buf_adds(&text, "[");
	for (int i = 0; i < 64; i++)
		buf_addf(&text,
			 "%s{\"op\":\"copy\",\"from\":\"\",\"path\":\"/-\"}",
			 i ? "," : "");
	buf_adds(&text, "]");
	read_text(&old, "[1]");
	assert_null(patch_apply(&old.arena, read_all(&old),
				read_text(&patch, text.data), &err));
	assert_non_null(strstr(err.text, "makes more than"));
	reading_release(&old);
	reading_release(&patch);
	err = (struct err){0};
	buf_reset(&text);
	buf_adds(&text, "[");
	for (int i = 0; i < 12; i++) {
		buf_addf(&text, "%s{\"op\":\"copy\",\"from\":\"\",\"path\":\"",
			 i ? "," : "");
		for (int k = 0; k < 1 << i; k++)
			buf_adds(&text, "/a");
		buf_adds(&text, "\"}");
	}
	buf_adds(&text, "]");
	assert_null(patch_apply(&old.arena, read_text(&old, "{}"),
				read_text(&patch, text.data), &err));
	assert_non_null(strstr(err.text, "nests deeper"));
	reading_release(&old);
	reading_release(&patch);
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pointers_find_their_value),
		cmocka_unit_test(bad_pointers_are_refused),
		cmocka_unit_test(keys_are_escaped_in_pointers),
		cmocka_unit_test(patches_change_documents),
		cmocka_unit_test(bad_patches_are_refused),
		cmocka_unit_test(a_patch_that_doubles_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
