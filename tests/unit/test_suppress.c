/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suppressions: the line that a comment covers, the scope of an annotation, and
 * findings about unused, expired or malformed ones. Objects are put together by
 * hand: only their place in the tree matters here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/buf.h"
#include "engine/suppress.h"
#include "sample_rules.h"

enum { TODAY = 20000 }; /* 2024-10-04 */

struct fixture {
	struct arena arena;
	struct source source;
	struct loader loader;
	struct doc doc;
	struct suppressions *s;
	struct buf issues;
};

static void no_issue(void *context, const struct load_issue *issue)
{
	fail_msg("the test's own YAML: %s", issue->text);
}

/* Scans text and excludes its documents; the last one stays in doc. */
static void begin(struct fixture *f, const char *text)
{
	struct doc doc;

	*f = (struct fixture){0};
	buf_init(&f->issues);
	source_init(&f->source, &f->arena, "t.yaml", text, strlen(text));
	f->s = suppressions_scan(&f->arena, &f->source, TODAY, NULL);
	loader_init(&f->loader, &f->source, &load_limits_default, &f->arena);
	f->loader.issue = no_issue;
	while (loader_next(&f->loader, &doc) > 0) {
		f->doc = doc;
		suppressions_exclude(f->s, &doc);
	}
}

static void add(void *context, const struct suppression_issue *issue)
{
	static const char *const kinds[] = {"unused", "expired", "malformed",
					    "refused"};
	struct fixture *f = context;
	struct position at = source_position(&f->source, issue->start);

	buf_addf(&f->issues, "%u:%u: %s: %s\n", at.line, at.column,
		 kinds[issue->kind], issue->text);
}

static void end(struct fixture *f, const char *want)
{
	suppressions_finish(f->s, &sample_set, add, f);
	assert_string_equal(f->issues.data, want);
	buf_release(&f->issues);
	arena_release(&f->arena);
}

/* Returns the reason of the suppression; NULL if the finding is not
 * suppressed. */
static const char *try_at(struct fixture *f, size_t rule, unsigned line)
{
	static const struct setting open = {.enabled = true};
	struct finding finding = {.rule = sample_items[rule],
				  .pod = "",
				  .place = {.line = line, .pointer = ""}};

	suppressions_apply(f->s, NULL, &open, &finding);
	if (!finding.suppressed)
		return NULL;
	assert_int_equal(finding.suppressed, SUPPRESSED_COMMENT);
	return finding.suppression_reason;
}

#define YES(f, rule, line, reason)                                             \
	assert_string_equal(try_at(f, rule, line), reason)
#define NO(f, rule, line) assert_null(try_at(f, rule, line))

/* --- comments ------------------------------------------------------------- */

static void other_comments_suppress_nothing(void **state)
{
	struct fixture f;

	begin(&f, "a: b # gpugate is fine\n# other: ignore[all]\n");
	NO(&f, SHM_MISSING, 1);
	end(&f, "");
	begin(&f, "");
	end(&f, "");
}

static void a_comment_counts_for_its_line(void **state)
{
	struct fixture f;

	begin(&f, "a: 1 # gpugate: ignore[shm-missing] -- own line\n"
		  "# gpugate: ignore[shm-missing] -- next line\n"
		  "b: 2\n"
		  "  # gpugate: ignore[shm-missing] -- first of two\n"
		  "# words between\n"
		  "#gpugate:ignore[ resources , shm ]--second of two\n"
		  "c: 3\n"
		  "# gpugate: ignore[shm-missing] -- a blank line is a line\n"
		  "\n"
		  "d: 4\n");
	YES(&f, SHM_MISSING, 1, "own line");
	NO(&f, SHM_MISSING, 2);
	YES(&f, SHM_MISSING, 3, "next line");
	NO(&f, IN_INIT, 3);
	NO(&f, SHM_MISSING, 4);
	YES(&f, SHM_MISSING, 7, "first of two");
	YES(&f, IN_INIT, 7, "second of two");
	NO(&f, NEVER_FITS, 7);
	NO(&f, SHM_MISSING, 10);
	end(&f, "6:1: unused: nothing here to suppress for `shm`\n"
		"8:1: unused: nothing here to suppress for `shm-missing`\n");
}

static void rules_categories_and_former_names_count(void **state)
{
	struct fixture f;

	begin(&f, "a: 1 # gpugate: ignore[all] -- everything\n"
		  "b: 1 # gpugate: ignore[shm] -- category\n"
		  "c: 1 # gpugate: ignore[dev-shm-missing] -- old name\n"
		  "d: 1 # gpugate: ignore[shm-missing,spot-advice] -- two\n");
	YES(&f, NEVER_FITS, 1, "everything");
	NO(&f, INVALID_SYNTAX, 1);
	YES(&f, SHM_MISSING, 2, "category");
	NO(&f, IN_INIT, 2);
	YES(&f, SHM_MISSING, 3, "old name");
	YES(&f, SPOT_ADVICE, 4, "two");
	YES(&f, SHM_MISSING, 4, "two");
	end(&f, "");
}

static void a_file_may_be_ignored_whole(void **state)
{
	struct fixture f;

	begin(&f, "a: 1\nb: 2\n"
		  "# gpugate: ignore-file[shm-missing] until=2024-10-04 -- "
		  "made elsewhere\n");
	YES(&f, SHM_MISSING, 1, "made elsewhere");
	YES(&f, SHM_MISSING, 99, "made elsewhere");
	NO(&f, IN_INIT, 1);
	end(&f, "");
}

static void every_kind_of_line_end_counts(void **state)
{
	struct fixture f;

	begin(&f, "# gpugate: ignore[shm] -- dos\r\na: 1\r\n"
		  "b: 1 # gpugate: ignore[shm] -- no line end");
	YES(&f, SHM_MISSING, 2, "dos");
	YES(&f, SHM_MISSING, 3, "no line end");
	end(&f, "");
}

/* A `#` inside a value does not begin a comment. */
static void a_number_sign_in_a_value_is_no_comment(void **state)
{
	struct fixture f;

	begin(&f, "a: |  # gpugate: ignore[shm] -- on the header\n"
		  "  text\n"
		  "  # gpugate: ignore[resources] -- in the text\n"
		  "b: \"x # gpugate: ignore[resources] -- quoted\"\n"
		  "c: 'x\n"
		  "  # gpugate: ignore[resources] -- folded\n"
		  "  '\n"
		  "\"# gpugate: ignore[x] -- key\": 1\n"
		  "d: x# gpugate:ignore[resources] -- no blank before\n"
		  "e: http://gpugate:ignore[all]\n"
		  "# gpugate: ignore[shm] -- behind a block\n"
		  "f: 1\n");
	YES(&f, SHM_MISSING, 1, "on the header");
	for (unsigned line = 1; line < 12; line++)
		NO(&f, IN_INIT, line);
	YES(&f, SHM_MISSING, 12, "behind a block");
	end(&f, "");
}

static void json_has_no_comments(void **state)
{
	struct fixture f;

	begin(&f, "{\"a\":\n \"x # gpugate: ignore[resources] -- r\"}\n");
	NO(&f, IN_INIT, 2);
	end(&f, "");
}

struct row {
	const char *comment, *want; /* issues */
	bool works;
};

static void malformed_comments_are_reported(void **state)
{
	static const struct row rows[] = {
		{"# gpugate: ignore[shm-missing] -- fine", "", true},
		{"## gpugate: ignore[shm-missing] -- fine", "", true},
		{"# gpugate: ignore[shm-missing]",
		 "the reason is missing: end the comment with `-- reason`",
		 true},
		{"# gpugate: ignore[shm-missing] -- ",
		 "the reason after `--` is missing", true},
		{"# gpugate: ignore[shm-missing] -- r, until=2027-01-31",
		 "`until=` counts only before `--`", true},
		{"# gpugate: ignore[shm-missing] because",
		 "expected `until=YYYY-MM-DD` or `-- reason` after `]`", false},
		{"# gpugate: ignore[shm-missing] until=tomorrow -- r",
		 "`until=` needs a date, for example until=2027-01-31", false},
		{"# gpugate: ignore[shm-missing] until=2025-02-29 -- r",
		 "`until=` needs a date, for example until=2027-01-31", false},
		{"# gpugate: ignore[] -- r",
		 "no rule is named between `[` and `]`", false},
		{"# gpugate: ignore[shm-missing -- r",
		 "`[` is not closed by `]`", false},
		{"# gpugate: ignore shm-missing -- r",
		 "name the rules: `# gpugate: ignore[RULE] -- reason`", false},
		{"# gpugate: ignore",
		 "name the rules: `# gpugate: "
		 "ignore[RULE] -- reason`",
		 false},
		{"# gpugate: ignroe[shm-missing] -- r",
		 "expected `ignore[RULE]` or `ignore-file[RULE]` after "
		 "`gpugate:`",
		 false},
		{"# gpugate: ignore[shm-mising,shm-missing] -- r",
		 "unknown rule `shm-mising`; did you mean `shm-missing`?",
		 true},
		{"# gpugate: ignore[zzzzzzz,shm-missing] -- r",
		 "unknown rule `zzzzzzz`", true},
		{"# gpugate: ignore[invalid-syntax,shm-missing] -- r",
		 "`invalid-syntax` cannot be suppressed", true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture f;
		struct buf text, want;

		buf_init(&text);
		buf_init(&want);
		buf_addf(&text, "a: 1 %s\n", rows[i].comment);
		if (*rows[i].want)
			buf_addf(&want, "1:6: malformed: %s\n", rows[i].want);
		begin(&f, text.data);
		if ((try_at(&f, SHM_MISSING, 1) != NULL) != rows[i].works)
			fail_msg("%s", rows[i].comment);
		end(&f, want.data);
		buf_release(&text);
		buf_release(&want);
	}
}

static void a_suppression_ends_on_its_day(void **state)
{
	struct fixture f;

	begin(&f, "a: 1 # gpugate: ignore[shm] until=2024-10-04 -- last day\n"
		  "b: 1 # gpugate: ignore[shm] until=2024-10-03 -- over\n");
	YES(&f, SHM_MISSING, 1, "last day");
	NO(&f, SHM_MISSING, 2);
	end(&f, "2:6: expired: the suppression expired on 2024-10-03\n");
}

/* A suppression is reported as unused only if its rule could have reported. */
static void unused_suppressions_are_reported(void **state)
{
	struct setting settings[SAMPLE_RULES] = {{0}};
	struct fixture f;

	begin(&f, "a: 1 # gpugate: ignore[quota] -- set rules speak later\n"
		  "b: 1 # gpugate: ignore[all] -- they are among all\n"
		  "c: 1 # gpugate: ignore[shm, resources] -- half used\n");
	YES(&f, SHM_MISSING, 3, "half used");
	end(&f, "3:6: unused: nothing here to suppress for `resources`\n");

	begin(&f, "a: 1 # gpugate: ignore[shm] -- r\n"
		  "b: 1 # gpugate: ignore[resources] -- r\n");
	settings[IN_INIT].enabled = true;
	suppressions_settings(f.s, settings);
	end(&f, "2:6: unused: nothing here to suppress for `resources`\n");
}

static void locked_rules_are_not_suppressed(void **state)
{
	static const struct setting locked = {.enabled = true, .locked = true};
	struct finding finding = {.rule = sample_items[SHM_MISSING],
				  .pod = "",
				  .place = {.line = 1, .pointer = ""}};
	struct fixture f;

	begin(&f, "a: 1 # gpugate: ignore[shm] -- r\n");
	suppressions_apply(f.s, NULL, &locked, &finding);
	assert_int_equal(finding.suppressed, SUPPRESSED_NOT);
	end(&f,
	    "1:6: refused: `shm-missing` is not suppressed: the policy locks "
	    "it\n");
}

/* Long lines and long blocks of comments take linear time. */
static void many_comments_stay_linear(void **state)
{
	struct fixture f;
	struct buf text;

	buf_init(&text);
	for (size_t i = 0; i < 60000; i++)
		buf_adds(&text, "# gpugate: ignore[shm] -- r\n");
	for (size_t i = 0; i < 60000; i++)
		buf_adds(&text, "gpugate: ");
	begin(&f, "");
	buf_release(&f.issues);
	source_init(&f.source, &f.arena, "t", text.data, text.len);
	f.s = suppressions_scan(&f.arena, &f.source, TODAY, NULL);
	YES(&f, SHM_MISSING, 60001, "r");
	arena_release(&f.arena);
	buf_release(&text);
}

/* --- annotations ---------------------------------------------------------- */

static const char deployment[] =
	"apiVersion: apps/v1\n"
	"kind: Deployment\n"
	"metadata:\n"
	"  annotations:\n"
	"    gpugate.dev/ignore: \"shm-missing, resources\"\n"
	"    gpugate.dev/ignore-reason: whole object\n"
	"spec:\n"
	"  template:\n"
	"    metadata:\n"
	"      annotations:\n"
	"        gpugate.dev/ignore: security\n"
	"        gpugate.dev/ignore-reason: template only\n"
	"        gpugate.dev/ignore-until: \"2024-10-04\"\n"
	"    spec: {}\n";

struct made {
	struct object object;
	struct pod pod;
};

static void make(struct made *made, const struct fixture *f, const char *role)
{
	*made = (struct made){0};
	made->object.doc = &f->doc;
	made->object.root = f->doc.root;
	made->pod.object = &made->object;
	made->pod.role = role;
	made->pod.template = node_path(f->doc.root, "spec.template");
	made->pod.metadata = node_get(made->pod.template, "metadata");
	made->object.pods = &made->pod;
	made->object.npods = 1;
}

static const char *try_pointer(struct fixture *f, const struct object *object,
			       size_t rule, const char *pointer)
{
	static const struct setting open = {.enabled = true};
	struct finding finding = {
		.rule = sample_items[rule],
		.pod = "Worker",
		.place = {.line = 1, .document = 1, .pointer = pointer}};

	suppressions_apply(f->s, object, &open, &finding);
	if (!finding.suppressed)
		return NULL;
	assert_int_equal(finding.suppressed, SUPPRESSED_ANNOTATION);
	return finding.suppression_reason;
}

static void annotations_count_for_their_object(void **state)
{
	struct object inner = {0};
	struct fixture f;
	struct made made;

	begin(&f, deployment);
	make(&made, &f, "");
	assert_string_equal(try_pointer(&f, &made.object, SHM_MISSING, "/spec"),
			    "whole object");
	assert_string_equal(try_pointer(&f, &made.object, IN_INIT, ""),
			    "whole object");
	assert_null(try_pointer(&f, &made.object, VISIBLE_DEVICES, "/spec"));
	assert_null(try_pointer(&f, &made.object, VISIBLE_DEVICES,
				"/spec/templates"));
	assert_string_equal(try_pointer(&f, &made.object, VISIBLE_DEVICES,
					"/spec/template/spec"),
			    "template only");
	assert_null(try_pointer(&f, &made.object, NEVER_FITS, "/spec"));
	/* an embedded object is covered by the enclosing one */
	inner.doc = &f.doc;
	inner.root = node_get(f.doc.root, "spec");
	inner.parent = &made.object;
	assert_string_equal(try_pointer(&f, &inner, SHM_MISSING, "/spec/x"),
			    "whole object");
	end(&f, "");
}

static void an_annotation_of_a_template_counts_for_its_role(void **state)
{
	struct fixture f;
	struct made made;

	/* The finding is outside of the template, but about the template's
	 * role. */
	begin(&f, deployment);
	make(&made, &f, "Worker");
	assert_string_equal(try_pointer(&f, &made.object, VISIBLE_DEVICES,
					"/spec/restartPolicy"),
			    "template only");
	made.pod.role = "Master";
	end(&f, "5:25: unused: nothing here to suppress for `shm-missing`, "
		"`resources`\n");
}

static void an_unused_annotation_is_reported(void **state)
{
	struct fixture f;
	struct made made;

	begin(&f, deployment);
	make(&made, &f, "");
	suppressions_object(f.s, &made.object);
	suppressions_object(f.s, &made.object);
	end(&f, "5:25: unused: nothing here to suppress for `shm-missing`, "
		"`resources`\n"
		"11:29: unused: nothing here to suppress for `security`\n");
}

/* Each finding is compared with each word, so their number is limited. */
static void too_many_words_are_reported(void **state)
{
	static char text[2000];
	struct fixture f;
	struct made made;
	char *at = text;

	(void)state;
	at = stpcpy(at, "kind: Pod\nmetadata:\n  annotations:\n"
			"    gpugate.dev/ignore-reason: r\n"
			"    gpugate.dev/ignore: \"");
	for (int i = 0; i < 300; i++)
		at = stpcpy(at, "shm,");
	strcpy(at, "\"\n");
	begin(&f, text);
	make(&made, &f, "");
	assert_null(try_pointer(&f, &made.object, SHM_MISSING, ""));
	end(&f, "5:25: malformed: `gpugate.dev/ignore` names too many "
		"rules\n");
}

static void malformed_annotations_are_reported(void **state)
{
	static const struct {
		const char *annotations, *want;
		bool works;
	} rows[] = {
		{"{gpugate.dev/ignore: shm}",
		 "malformed: annotation `gpugate.dev/ignore-reason` is missing",
		 true},
		{"{gpugate.dev/ignore: \"\"}",
		 "malformed: `gpugate.dev/ignore` names no rule", false},
		{"{gpugate.dev/ignore: [shm]}",
		 "malformed: `gpugate.dev/ignore` names no rule", false},
		{"{gpugate.dev/ignore: shm, gpugate.dev/ignore-reason: r, "
		 "gpugate.dev/ignore-until: soon}",
		 "malformed: `gpugate.dev/ignore-until` needs a date, "
		 "for example \"2027-01-31\"",
		 false},
		{"{gpugate.dev/ignore: shm, gpugate.dev/ignore-reason: r, "
		 "gpugate.dev/ignore-until: 2024-10-03}",
		 "expired: the suppression expired on 2024-10-03", false},
		{"{gpugate.dev/ignore: \"shm,shn\", gpugate.dev/ignore-reason: "
		 "r}",
		 "malformed: unknown rule `shn`; did you mean `shm`?", true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf text, want;
		struct fixture f;
		struct made made;

		buf_init(&text);
		buf_init(&want);
		buf_addf(&text, "metadata: {annotations: %s}\n",
			 rows[i].annotations);
		buf_addf(&want, "1:46: %s\n", rows[i].want);
		begin(&f, text.data);
		make(&made, &f, "");
		assert_int_equal(
			try_pointer(&f, &made.object, SHM_MISSING, "") != NULL,
			rows[i].works);
		end(&f, want.data);
		buf_release(&text);
		buf_release(&want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_comments_suppress_nothing),
		cmocka_unit_test(a_comment_counts_for_its_line),
		cmocka_unit_test(rules_categories_and_former_names_count),
		cmocka_unit_test(a_file_may_be_ignored_whole),
		cmocka_unit_test(every_kind_of_line_end_counts),
		cmocka_unit_test(a_number_sign_in_a_value_is_no_comment),
		cmocka_unit_test(json_has_no_comments),
		cmocka_unit_test(malformed_comments_are_reported),
		cmocka_unit_test(a_suppression_ends_on_its_day),
		cmocka_unit_test(unused_suppressions_are_reported),
		cmocka_unit_test(locked_rules_are_not_suppressed),
		cmocka_unit_test(many_comments_stay_linear),
		cmocka_unit_test(annotations_count_for_their_object),
		cmocka_unit_test(
			an_annotation_of_a_template_counts_for_its_role),
		cmocka_unit_test(an_unused_annotation_is_reported),
		cmocka_unit_test(too_many_words_are_reported),
		cmocka_unit_test(malformed_annotations_are_reported),
	};

	return cmocka_run_group_tests_name("suppress", tests, NULL, NULL);
}
