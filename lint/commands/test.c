/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `gpugate test PATH...`: the tests inside files of kind Rules. A test consists
 * of a manifest and the lines at which the rule must report a finding; no other
 * rule runs, and comments suppress nothing.
 */
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/err.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "engine/registry.h"
#include "engine/run.h"
#include "lint/options/options.h"
#include "lint/settings/settings.h"
#include "lint/term/escape.h"
#include "lint/term/log.h"

enum { WALK_FILES = 16 };

struct found_lines {
	unsigned *items;
	size_t n, size;
};

struct outcome {
	const struct rule *rule;
	const struct custom_test *test;
	const char *failure; /* NULL if it passed */
};

struct testing {
	struct arena arena;
	const struct options *options;
	struct rule_set rules;
	const struct cluster *cluster;
	const char **files;
	size_t nfiles, files_size;
	struct policy **policies; /* outcomes contain pointers into them */
	size_t npolicies, policies_size;
	struct outcome *outcomes;
	size_t n, size, failures, untested;
	bool broken;
	/* State of the test that is running. */
	const char *rule;
	struct found_lines found;
	const char *error; /* error of an expression or of the file, or NULL */
};

/* --- files of kind Rules -------------------------------------------------- */

static void add_file(struct testing *t, const char *path)
{
	*VEC_PUSH(&t->arena, t->files, t->nfiles, t->files_size) =
		arena_strdup(&t->arena, path);
}

/* True if the file contains rules. Manifests of tests are in the same
 * folders. */
static bool holds_rules(const char *path)
{
	struct file_how how = {.limit = FILE_POLICY_MAX};
	struct buf text;
	bool found;

	buf_init(&text);
	found = !file_load(path, &how, &text, NULL) &&
		(text_find(text.data, text.len, "kind: Rules") ||
		 text_find(text.data, text.len, "\"Rules\""));
	buf_release(&text);
	return found;
}

static struct testing *walking; /* for nftw(), which does not pass a context */

static int visit_file(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	if (type == FTW_F &&
	    (!ftw->level || (path_is_manifest(path) && holds_rules(path))))
		add_file(walking, path);
	return 0;
}

static void find_files(struct testing *t)
{
	const struct list *paths = &t->options->paths;

	walking = t;
	for (size_t i = 0; i < paths->n; i++) {
		size_t before = t->nfiles;

		if (nftw(paths->items[i], visit_file, WALK_FILES, 0))
			log_line("%s: %s", paths->items[i], strerror(errno));
		else if (t->nfiles == before)
			log_line("%s: no document of kind Rules",
				 paths->items[i]);
		t->broken |= t->nfiles == before;
		if (t->files)
			texts_sort(t->files + before, t->nfiles - before);
	}
}

/* --- one test ------------------------------------------------------------- */

static void collect_findings(void *context, uint32_t file,
			     struct finding **findings, size_t n)
{
	struct testing *t = context;

	for (size_t i = 0; i < n; i++) {
		const struct finding *f = findings[i];

		if (!t->error && !strcmp(f->rule->name, "invalid-syntax"))
			t->error = arena_printf(&t->arena, "line %u: %s",
						f->place.line, f->message);
		if (strcmp(f->rule->name, t->rule) != 0)
			continue;
		*VEC_PUSH(&t->arena, t->found.items, t->found.n,
			  t->found.size) = f->place.line;
		if (!t->error && !strcmp(f->cause, CUSTOM_ERROR))
			t->error = arena_printf(&t->arena, "line %u: %s",
						f->place.line, f->message);
	}
}

static void check_case_file(struct testing *t, const struct policy *policy,
			    const char *path, const struct buf *text)
{
	struct run_options options = {
		.rules = &t->rules,
		.partial = true,
		.no_ignore = true,
		.file_values = true,
		.today = (int64_t)time(NULL) / 86400,
		.cluster = t->cluster,
		.sink = collect_findings,
		.context = t,
	};
	struct run_file file = {.policy = policy};
	struct arena docs = ARENA_INIT, lines = ARENA_INIT;
	struct source source;
	struct run run;

	source_init(&source, &lines, path, text->data, text->len);
	file.source = &source;
	t->found = (struct found_lines){0};
	t->error = NULL;
	run_init(&run, &options);
	run_file(&run, &file, &docs, NULL, NULL);
	/* If no object was checked, a test without expected lines must not
	 * pass. */
	if (!t->error && !run.counts.objects)
		t->error = "the file contains no Kubernetes object";
	run_release(&run);
	arena_release(&docs);
	arena_release(&lines);
}

static void add_lines(struct buf *out, const unsigned *lines, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_addf(out, "%s%u", i ? ", " : "", lines[i]);
	buf_adds(out, n ? "" : "none");
}

/* Compares the lines with the expected ones. Returns NULL if they are equal, or
 * else the reason. An error of an expression or of the file is always such a
 * reason. */
static const char *compare(struct testing *t, const struct custom_test *test)
{
	struct buf text;
	const char *kept;

	if (t->error)
		return t->error;
	if (test->n == t->found.n &&
	    (!test->n || !memcmp(test->want, t->found.items,
				 test->n * sizeof(*test->want))))
		return NULL;
	buf_init(&text);
	buf_adds(&text, "lines wanted: ");
	add_lines(&text, test->want, test->n);
	buf_adds(&text, "; found: ");
	add_lines(&text, t->found.items, t->found.n);
	kept = arena_strdup(&t->arena, text.data);
	buf_release(&text);
	return kept;
}

static const char *path_of(struct testing *t, const struct custom_test *test)
{
	const char *slash = strrchr(test->from, '/');

	if (!slash || *test->file == '/')
		return test->file;
	return arena_printf(&t->arena, "%.*s/%s", (int)(slash - test->from),
			    test->from, test->file);
}

static void run_test(struct testing *t, const struct policy *policy,
		     const struct rule *rule, const struct custom_test *test)
{
	struct file_how how = {.limit = FILE_MANIFEST_MAX};
	const char *path = path_of(t, test);
	struct outcome outcome = {rule, test, NULL};
	struct err err = {0};
	struct buf text;

	buf_init(&text);
	if (file_load(path, &how, &text, &err)) {
		log_line("%s:%u: %s: %s", test->from, test->line, path,
			 err.text);
		t->broken = true;
	} else {
		t->rule = rule->name;
		check_case_file(t, policy, path, &text);
		outcome.failure = compare(t, test);
		t->failures += outcome.failure != NULL;
		*VEC_PUSH(&t->arena, t->outcomes, t->n, t->size) = outcome;
	}
	buf_release(&text);
}

static void run_tests(struct testing *t, const struct policy *policy,
		      const struct rule *rule)
{
	const char *const select[] = {rule->name, NULL};
	const struct policy_overrides overrides = {.select = select};
	const struct custom_test *tests = NULL;
	size_t n = custom_tests(rule, &tests);
	struct policy *alone = policy_adjust(policy, &overrides, NULL);

	t->untested += !n;
	for (size_t i = 0; i < n; i++)
		run_test(t, alone, rule, &tests[i]);
	policy_free(alone);
}

static void run_file_tests(struct testing *t, const char *path)
{
	struct policy_options options = {.rules_only = true};
	struct policy_problems problems = {0};
	struct policy *policy =
		policy_load(&t->rules, path, &options, &problems);
	const struct rule_set *rules;

	problems_print(t->options, &problems);
	policy_problems_release(&problems);
	t->broken |= !policy;
	if (!policy)
		return;
	*VEC_PUSH(&t->arena, t->policies, t->npolicies, t->policies_size) =
		policy;
	rules = policy_rules(policy);
	if (!rules->added)
		log_line("%s: no rules", path);
	t->broken |= !rules->added;
	for (size_t i = rules->n - rules->added; i < rules->n; i++)
		run_tests(t, policy, rules->items[i]);
}

/* --- reports -------------------------------------------------------------- */

static void add_text(struct buf *out, const struct testing *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct outcome *o = &t->outcomes[i];

		buf_adds(out, o->failure ? "FAIL " : "ok   ");
		escape_adds(out, o->test->from);
		buf_addf(out, ":%u: %s: ", o->test->line, o->rule->name);
		escape_adds(out, o->test->file);
		if (o->failure) {
			buf_adds(out, ": ");
			escape_adds(out, o->failure);
		}
		buf_addc(out, '\n');
	}
	buf_addf(out, "%zu tests, %zu failed", t->n, t->failures);
	if (t->untested)
		buf_addf(out, "; %zu rules have no test", t->untested);
	buf_addc(out, '\n');
}

static void add_junit(struct buf *out, const struct testing *t)
{
	buf_addf(out,
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		 "<testsuites name=\"gpugate test\">\n"
		 "<testsuite name=\"rules\" tests=\"%zu\" failures=\"%zu\" "
		 "errors=\"0\" skipped=\"0\" time=\"0\">\n",
		 t->n, t->failures);
	for (size_t i = 0; i < t->n; i++) {
		const struct outcome *o = &t->outcomes[i];

		buf_adds(out, "<testcase");
		xml_add_attribute(out, "classname", o->rule->name);
		xml_add_attribute(out, "name", o->test->file);
		xml_add_attribute(out, "file", o->test->from);
		buf_addf(out, " line=\"%u\" time=\"0\"", o->test->line);
		if (o->failure) {
			buf_adds(out, "><failure");
			xml_add_attribute(out, "message", o->failure);
			buf_adds(out, "/></testcase>\n");
		} else {
			buf_adds(out, "/>\n");
		}
	}
	buf_adds(out, "</testsuite>\n</testsuites>\n");
}

static void report(const struct testing *t)
{
	const char *format = t->options->rules_format;
	struct buf out;

	buf_init(&out);
	if (format && !strcmp(format, "junit"))
		add_junit(&out, t);
	else
		add_text(&out, t);
	print_out(&out);
}

int test_command(struct options *options)
{
	struct testing t = {.options = options, .rules = program_rules()};
	struct err err = {0};

	if (!options->paths.n)
		return log_usage("test", "test needs a rules file or a folder");
	if (options->cluster) {
		t.cluster =
			cluster_load(options->cluster, true, NULL, NULL, &err);
		if (!t.cluster)
			log_line("%s", err.text);
		t.broken = !t.cluster;
	}
	find_files(&t);
	for (size_t i = 0; i < t.nfiles; i++)
		run_file_tests(&t, t.files[i]);
	report(&t);
	for (size_t i = 0; i < t.npolicies; i++)
		policy_free(t.policies[i]);
	cluster_put(t.cluster);
	arena_release(&t.arena);
	return t.broken ? 2 : t.failures ? 1 : 0;
}
