/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns against paths and names, as many misses as hits, and patterns that
 * must be rejected with a message instead of matching something.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/glob.h"

struct row {
	const char *pattern, *text;
	unsigned flags;
	bool matches;
};

static const struct row rows[] = {
	{"a.yaml", "a.yaml", 0, true},
	{"a.yaml", "b/a.yaml", 0, false},
	{"a.yaml", "axyaml", 0, false},
	{"", "", 0, true},
	{"", "a", 0, false},
	{"*.yaml", "a.yaml", 0, true},
	{"*.yaml", ".hidden.yaml", 0, true},
	{"*.yaml", "d/a.yaml", 0, false},
	{"*.yaml", "a.yaml.bak", 0, false},
	{"*.y", "axy", 0, false},
	{"**/*.yaml", "a.yaml", 0, true},
	{"**/*.yaml", "x/y/a.yaml", 0, true},
	{"jobs/**", "jobs/a/b.yaml", 0, true},
	{"jobs/**", "jobs", 0, false},
	{"jobs/**/b", "jobs/b", 0, true},
	{"jobs/**/b", "jobs/x/y/b", 0, true},
	{"jobs/**/b", "jobs/xb", 0, false},
	{"a?c", "abc", 0, true},
	{"a?c", "ac", 0, false},
	{"a?c", "a/c", 0, false},
	{"?", "\xc3\xa4", 0, true},
	{"[a-c]x", "bx", 0, true},
	{"[a-c]x", "dx", 0, false},
	{"[!a-c]x", "dx", 0, true},
	{"[!a-c]x", "bx", 0, false},
	{"[!a]x", "/x", 0, false},
	{"\\*", "*", 0, true},
	{"\\*", "a", 0, false},
	{"{a,b}", "a", 0, true},
	{"{a,b}", "b", 0, true},
	{"{a,b}", "c", 0, false},
	{"{a,b}", "{a,b}", 0, false},
	{"x{a,b{c,d}}y", "xay", 0, true},
	{"x{a,b{c,d}}y", "xbdy", 0, true},
	{"x{a,b{c,d}}y", "xby", 0, false},
	{"x{,-old}.yaml", "x.yaml", 0, true},
	{"x{,-old}.yaml", "x-old.yaml", 0, true},
	{"*.{yaml,yml}", "job.yml", 0, true},
	{"*.{yaml,yml}", "job.json", 0, false},
	{"{a,b}{c,d}", "bc", 0, true},
	{"{a,b}{c,d}", "ab", 0, false},
	{"{a}", "{a}", 0, true},
	{"{a}", "a", 0, false},
	{"{a,b", "{a,b", 0, true},
	{"\\{a,b}", "{a,b}", 0, true},
	{"a}b", "a}b", 0, true},
	{"team-*", "team-ml", GLOB_NAME, true},
	{"team-*", "team", GLOB_NAME, false},
	{"team-*", "my-team-ml", GLOB_NAME, false},
	{"nvidia.com/*", "nvidia.com/gpu", GLOB_NAME, true},
	{"*/gpu", "a/b/gpu", GLOB_NAME, true},
	{"*/gpu", "a/b/gpu", 0, false},
	{"a?b", "a/b", GLOB_NAME, true},
	{"*", "kube-system", GLOB_NAME, true},
	/* Bytes that are not UTF-8 match no wildcard. */
	{"*.yaml", "\xff.yaml", 0, false},
};

static void each_pattern_matches_its_names_only(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct err err = {0};
		struct glob *glob =
			glob_compile(rows[i].pattern, rows[i].flags, &err);

		if (!glob)
			fail_msg("%s: %s", rows[i].pattern, err.text);
		if (glob_match(glob, rows[i].text) != rows[i].matches)
			fail_msg("\"%s\" against \"%s\"", rows[i].pattern,
				 rows[i].text);
		glob_free(glob);
	}
}

static void bad_patterns_are_refused(void **state)
{
	static const char *const bad[] = {"[a", "x[", "{ok,[}"};
	char many[64] = "", huge[6000];
	struct err err = {0};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		err = (struct err){0};
		assert_null(glob_compile(bad[i], 0, &err));
		assert_true(err.set);
		assert_non_null(strstr(err.text, "pattern \""));
	}
	for (int i = 0; i < 9; i++)
		strcat(many, "{a,b}");
	err = (struct err){0};
	assert_null(glob_compile(many, 0, &err));
	assert_non_null(strstr(err.text, "alternatives"));
	memset(huge, '{', sizeof(huge));
	huge[sizeof(huge) - 1] = '\0';
	assert_null(glob_compile(huge, 0, NULL));
	huge[4000] = '\0';
	glob_free(glob_compile(huge, 0, NULL));
	glob_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_pattern_matches_its_names_only),
		cmocka_unit_test(bad_patterns_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
