/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Baselines. Written entries are read back, in a stable order. An unused entry
 * is stale, unless its file was not checked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "engine/suppress.h"
#include "sample_rules.h"

static char folder[] = "/tmp/test_baseline.XXXXXX";
static char path[64];

static int setup(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/b.json", folder);
	return 0;
}

static int teardown(void **state)
{
	unlink(path);
	return rmdir(folder);
}

static struct finding make(size_t rule, uint64_t fingerprint)
{
	struct finding finding = {.rule = sample_items[rule],
				  .fingerprint = fingerprint,
				  .message = "a \"message\"",
				  .id = {"v1", "Pod", "ml", "train"}};

	return finding;
}

static void add(struct baseline *baseline, const char *file, size_t rule,
		uint64_t fingerprint)
{
	struct finding finding = make(rule, fingerprint);

	baseline_add(baseline, file, &finding);
}

static bool has(struct baseline *baseline, uint64_t fingerprint)
{
	struct finding finding = make(SHM_MISSING, fingerprint);

	return baseline_has(baseline, &finding);
}

static void read_back(struct buf *out)
{
	FILE *file = fopen(path, "r");
	char text[4096];

	assert_non_null(file);
	buf_reset(out);
	buf_add(out, text, fread(text, 1, sizeof(text), file));
	fclose(file);
}

static void write_text(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void save(struct baseline *baseline)
{
	struct buf text;

	buf_init(&text);
	baseline_text(baseline, &text);
	write_text(text.data);
	buf_release(&text);
}

static struct baseline *load(void)
{
	struct err err = {0};
	struct baseline *baseline = baseline_load(path, &err);

	if (!baseline)
		fail_msg("%s", err.text);
	return baseline;
}

static void written_entries_are_read_back(void **state)
{
	static const char want[] =
		"{\"version\":2,\"findings\":[\n"
		"{\"fingerprint\":\"00000000000000ff\",\"rule\":\"quota-never-"
		"fits\",\"file\":\"a.yaml\",\"object\":\"Pod ml/train\","
		"\"message\":\"a \\\"message\\\"\"},\n"
		"{\"fingerprint\":\"ffffffffffffffff\",\"rule\":\"shm-"
		"missing\",\"file\":\"a.yaml\",\"object\":\"Pod ml/train\","
		"\"message\":\"a \\\"message\\\"\"},\n"
		"{\"fingerprint\":\"0000000000000001\",\"rule\":\"shm-"
		"missing\",\"file\":\"b.yaml\",\"object\":\"Pod ml/train\","
		"\"message\":\"a \\\"message\\\"\"}\n"
		"]}\n";
	struct baseline *baseline = baseline_new();
	struct buf text;

	buf_init(&text);
	add(baseline, "b.yaml", SHM_MISSING, 1);
	add(baseline, "a.yaml", SHM_MISSING, UINT64_MAX);
	add(baseline, "a.yaml", NEVER_FITS, 255);
	/* a second finding that is equal */
	add(baseline, "c.yaml", SHM_MISSING, 1);
	assert_int_equal(baseline_count(baseline), 4);
	save(baseline);
	baseline_free(baseline);
	read_back(&text);
	assert_string_equal(text.data, want);

	baseline = load();
	assert_int_equal(baseline_count(baseline), 3);
	assert_true(has(baseline, 1));
	assert_true(has(baseline, 255));
	assert_true(has(baseline, UINT64_MAX));
	assert_false(has(baseline, 0));
	assert_false(has(baseline, 2));
	save(baseline);
	baseline_free(baseline);
	read_back(&text);
	assert_string_equal(text.data, want);
	buf_release(&text);
}

static void an_empty_baseline_holds_nothing(void **state)
{
	struct baseline *baseline = baseline_new();
	struct buf text;

	buf_init(&text);
	save(baseline);
	baseline_free(baseline);
	read_back(&text);
	assert_string_equal(text.data, "{\"version\":2,\"findings\":[]}\n");
	baseline = load();
	assert_false(has(baseline, 1));
	assert_int_equal(baseline_stale(baseline, NULL, NULL, NULL), 0);
	baseline_free(baseline);
	baseline_free(NULL);
	buf_release(&text);
}

static bool is_a(void *context, const struct baseline_entry *entry)
{
	return strcmp(entry->file, "a.yaml") == 0;
}

static void note(void *context, const struct baseline_entry *entry)
{
	buf_addf(context, "%s %s\n", entry->file, entry->rule);
}

static void entries_without_findings_are_stale(void **state)
{
	struct baseline_files only_a = {is_a, NULL};
	struct baseline *baseline = baseline_new();
	struct buf stale;

	buf_init(&stale);
	add(baseline, "a.yaml", SHM_MISSING, 1);
	add(baseline, "a.yaml", NEVER_FITS, 2);
	add(baseline, "b.yaml", IN_INIT, 3);
	save(baseline);
	baseline_free(baseline);
	baseline = load();
	assert_true(has(baseline, 1));
	assert_int_equal(baseline_stale(baseline, NULL, NULL, NULL), 2);
	assert_int_equal(baseline_stale(baseline, &only_a, note, &stale), 1);
	assert_string_equal(stale.data, "a.yaml quota-never-fits\n");
	assert_int_equal(baseline_prune(baseline, &only_a), 1);
	assert_int_equal(baseline_count(baseline), 2);
	/* its file was not checked, so the entry stays */
	assert_true(has(baseline, 3));
	assert_false(has(baseline, 2));
	assert_int_equal(baseline_prune(baseline, NULL), 0);
	baseline_free(baseline);
	buf_release(&stale);
}

static void a_broken_baseline_is_refused_with_its_line(void **state)
{
	static const struct {
		const char *text, *want;
		unsigned line;
	} rows[] = {
		{"", "'[' or '{' expected near end of file", 1},
		{"{\n\"version\": 1,\n}", "string or '}' expected near '}'", 3},
		{"[]", "this is not a gpugate baseline", 0},
		{"{}", "this is not a gpugate baseline", 0},
		{"{\"version\":1,\"findings\":{}}",
		 "this is not a gpugate baseline", 0},
		{"{\"version\":3,\"findings\":[]}",
		 "baseline of version 3, expected 2: rewrite it "
		 "with --write-baseline",
		 0},
		{"{\"version\":1,\"findings\":[{}]}",
		 "finding 1 has no fingerprint of 16 hexadecimal digits", 0},
		{"{\"version\":1,\"findings\":[{\"fingerprint\":"
		 "\"0123456789ABCDEF\"}]}",
		 "finding 1 has no fingerprint of 16 hexadecimal digits", 0},
		{"{\"version\":1,\"findings\":[{\"fingerprint\":1}]}",
		 "finding 1 has no fingerprint of 16 hexadecimal digits", 0},
		{"{\"version\":1,\"findings\":[\"x\"]}",
		 "finding 1 has no fingerprint of 16 hexadecimal digits", 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err err = {0};
		char want[300];

		write_text(rows[i].text);
		assert_null(baseline_load(path, &err));
		snprintf(want, sizeof(want), "%s: %s", path, rows[i].want);
		assert_string_equal(err.text, want);
		assert_int_equal(err.line, rows[i].line);
	}
}

static void a_missing_file_or_a_folder_is_an_error(void **state)
{
	struct err err = {0};

	unlink(path);
	assert_null(baseline_load(path, &err));
	assert_non_null(strstr(err.text, "No such file or directory"));
	err = (struct err){0};
	assert_null(baseline_load(folder, &err));
	assert_non_null(strstr(err.text, "Is a directory"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_entries_are_read_back),
		cmocka_unit_test(an_empty_baseline_holds_nothing),
		cmocka_unit_test(entries_without_findings_are_stale),
		cmocka_unit_test(a_broken_baseline_is_refused_with_its_line),
		cmocka_unit_test(a_missing_file_or_a_folder_is_an_error),
	};

	return cmocka_run_group_tests_name("baseline", tests, setup, teardown);
}
