/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The default report for users: blocks, the findings that are shown, and the
 * lines about the others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/text.h"
#include "report_fixture.h"

static void full_shows_source_and_related_places(void **state)
{
	struct fixture fixture;
	struct finding finding;
	struct related related[3] = {{.message = "this job"},
				     {.message = "the\nquota"},
				     {.message = "in the cluster"}};
	char *got;

	fixture_text(&fixture, manifest);
	fixture.options.quiet = true;
	finding = fixture_finding(&fixture, "gpu", 0);
	related[0].place = fixture_place(&fixture, "name", 0);
	related[1].place = related[2].place = related[0].place;
	related[1].place.file = 1;
	related[2].place.file = UINT32_MAX;
	finding.related = related;
	finding.nrelated = 3;
	got = report_n("full", &finding, 1, &fixture);
	assert_string_equal(
		got,
		"error: container `trainer` has no limit [gpu-limit-missing]\n"
		" --> jobs/train.yaml:4:7   Job ml/llm › Worker › trainer\n"
		"  |\n"
		"2 | metadata: {name: llm}\n"
		"  |            ---- this job\n"
		"3 | spec:\n"
		"4 |   名: {gpu: 4}\n"
		"  |        ^^^\n"
		"  |\n"
		"  = note: cluster/quota.yaml:2: the␊quota\n"
		"  = note: in the cluster\n"
		"  = help: set the same limit\n"
		"  = docs: gpugate explain gpu-limit-missing\n\n");
	free(got);
	fixture_release(&fixture);
}

/* Findings without a source file, without an object, and with many related
 * places. */
static void full_does_without_source_and_object(void **state)
{
	struct fixture fixture;
	struct finding finding;
	struct related related[20];
	char texts[20][24];
	char *got;

	fixture_text(&fixture, manifest);
	fixture.options.quiet = true;
	finding = fixture_finding(&fixture, "gpu", 0);
	finding.rule = &fixture_rule_shm;
	finding.id = (struct object_id){"", "", "", ""};
	finding.pod = finding.container = "";
	finding.place.file = 7; /* the fixture knows only file 0 */
	struct report_file file = fixture_file(&fixture);
	struct report_summary summary = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	void *context = report_begin(&report_full, out, &fixture.options);

	file.index = 7;
	report_full.file(context, &file, &finding, 1);
	report_end(&report_full, context, &summary);
	fclose(out);
	assert_string_equal(text, "error: container `trainer` has no limit"
				  " [shm-missing]\n --> jobs/train.yaml:4:7\n"
				  "  = docs: gpugate explain shm-missing\n\n");
	free(text);
	finding.place.file = 0;
	for (int i = 0; i < 20; i++) {
		snprintf(texts[i], sizeof(texts[i]), "again %d", i);
		related[i] = (struct related){finding.place, texts[i]};
	}
	finding.related = related;
	finding.nrelated = 20;
	got = report_n("full", &finding, 1, &fixture);
	assert_int_equal(occurrences(got, "again"), 20);
	free(got);
	fixture_release(&fixture);
}

/* Findings of one place share an excerpt, with the lines of each finding
 * below. */
static void full_has_one_block_a_place(void **state)
{
	struct fixture fixture;
	struct finding findings[3];
	struct related related[2] = {{.message = "this job"},
				     {.message = "in the cluster"}};
	char *got;

	fixture_text(&fixture, manifest);
	fixture.options.quiet = true;
	for (int i = 0; i < 3; i++)
		findings[i] = fixture_finding(&fixture, "gpu", 0);
	related[0].place = related[1].place =
		fixture_place(&fixture, "name", 0);
	related[1].place.file = UINT32_MAX;
	findings[0].related = findings[1].related = related;
	findings[0].nrelated = 1;
	findings[1].nrelated = 2;
	findings[1].rule = &fixture_rule_shm;
	findings[1].severity = SEVERITY_WARNING;
	findings[1].message = "no /dev/shm";
	findings[1].container = "";
	findings[2].place = fixture_place(&fixture, "name", 0);
	got = report_n("full", findings, 3, &fixture);
	assert_string_equal(
		got,
		" --> jobs/train.yaml:4:7   Job ml/llm › Worker › trainer\n"
		"  |\n"
		"2 | metadata: {name: llm}\n"
		"  |            ---- this job\n"
		"3 | spec:\n"
		"4 |   名: {gpu: 4}\n"
		"  |        ^^^\n"
		"  |\n"
		"error: container `trainer` has no limit [gpu-limit-missing]\n"
		"  = help: set the same limit\n"
		"  = docs: gpugate explain gpu-limit-missing\n"
		"warning: no /dev/shm [shm-missing]\n"
		"  = in: Job ml/llm › Worker\n"
		"  = note: in the cluster\n"
		"  = docs: gpugate explain shm-missing\n\n"
		"error: container `trainer` has no limit [gpu-limit-missing]\n"
		" --> jobs/train.yaml:2:12   Job ml/llm › Worker › trainer\n"
		"  |\n"
		"2 | metadata: {name: llm}\n"
		"  |            ^^^^\n"
		"  |\n"
		"  = help: set the same limit\n"
		"  = docs: gpugate explain gpu-limit-missing\n\n");
	free(got);
	fixture_release(&fixture);
}

/* An error after many warnings of its rule is shown. */
static void full_shows_three_of_a_rule_and_counts_the_rest(void **state)
{
	struct fixture fixture;
	struct finding findings[9];
	char *got;

	fixture_text(&fixture, manifest);
	fixture.options.quiet = true;
	for (int i = 0; i < 9; i++) {
		findings[i] = fixture_finding(&fixture, "gpu", 0);
		findings[i].severity = SEVERITY_WARNING;
	}
	findings[5].severity = SEVERITY_ERROR;
	findings[6].suppressed = SUPPRESSED_COMMENT;
	findings[8].rule = &fixture_rule_shm;
	got = report_n("full", findings, 9, &fixture);
	assert_int_equal(occurrences(got, "warning: "), 4);
	assert_int_equal(occurrences(got, "error: "), 1);
	assert_int_equal(occurrences(got, " more (--show-all)\n"), 1);
	expect_in(got, "\n\ngpu-limit-missing: 3 more (--show-all)\n\n");
	free(got);
	fixture.options.show_all = true;
	got = report_n("full", findings, 9, &fixture);
	assert_int_equal(occurrences(got, "warning: "), 7);
	assert_null(strstr(got, "more"));
	free(got);
	fixture_release(&fixture);
}

static void full_counts_infos_unless_they_fail(void **state)
{
	static const struct report_summary summary = {
		.files = 1, .counts = {.objects = 1, .infos = 5}};
	struct fixture fixture;
	struct finding findings[5];
	char *got;

	fixture_text(&fixture, manifest);
	for (int i = 0; i < 5; i++) {
		findings[i] = fixture_finding(&fixture, "gpu", 0);
		findings[i].severity = SEVERITY_INFO;
	}
	findings[1].rule = &fixture_rule_shm;
	got = fixture_report(&fixture, &report_full, findings, 5, &summary);
	assert_string_equal(
		got,
		"Checked 1 object in 1 file — 0 errors, 0 warnings, 5 infos; "
		"no GPUs requested\nInfos, shown with --show-all: "
		"gpu-limit-missing 4, shm-missing 1\n");
	free(got);
	fixture.options.fail_on = "info";
	got = fixture_report(&fixture, &report_full, findings, 5, &summary);
	assert_int_equal(occurrences(got, "info: "), 4);
	expect_in(got, "\ngpu-limit-missing: 1 more (--show-all)\n");
	assert_null(strstr(got, "Infos"));
	free(got);
	fixture.options.fail_on = "never";
	fixture.options.show_all = true;
	got = fixture_report(&fixture, &report_full, findings, 5, &summary);
	assert_int_equal(occurrences(got, "info: "), 5);
	assert_null(strstr(got, "Infos"));
	free(got);
	fixture_release(&fixture);
}

/* Excerpts and diffs of a manifest in one long line; the change is visible. */
static void full_cuts_lines_to_the_width(void **state)
{
	struct fixture fixture;
	struct finding finding;
	struct fix_edit edit = {.text = "\"requests.gpu\""};
	struct fix_result repair = {.title = "rename",
				    .patch = "",
				    .edits = &edit,
				    .nedits = 1,
				    .refused = ""};
	char text[600], *got, *line, *rest;

	memset(text, ' ', sizeof(text));
	memcpy(text, "{\"kind\": 1,", 11);
	memcpy(text + 400, "\"gpu\": 8,", 9);
	text[sizeof(text) - 2] = '}';
	text[sizeof(text) - 1] = '\0';
	fixture_text(&fixture, text);
	fixture.options.quiet = true;
	fixture.options.width = 72;
	finding = fixture_finding(&fixture, "\"gpu\"", 0);
	edit.start = finding.place.start;
	edit.end = finding.place.end;
	finding.repair = &repair;
	got = report_n("full", &finding, 1, &fixture);
	expect_in(got, "\"gpu\": 8");
	expect_in(got, "  | - …");
	expect_in(got, "\"requests.gpu\": 8");
	for (line = strtok_r(got, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		if (utf8_count(line, strlen(line)) > 72)
			fail_msg("wider than 72: %s", line);
	free(got);
	fixture_release(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_shows_source_and_related_places),
		cmocka_unit_test(full_does_without_source_and_object),
		cmocka_unit_test(full_has_one_block_a_place),
		cmocka_unit_test(
			full_shows_three_of_a_rule_and_counts_the_rest),
		cmocka_unit_test(full_counts_infos_unless_they_fail),
		cmocka_unit_test(full_cuts_lines_to_the_width),
	};

	return cmocka_run_group_tests_name("report_full", tests, NULL, NULL);
}
