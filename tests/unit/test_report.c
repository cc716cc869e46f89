/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every report format with the same hand-made findings: the exact output if the
 * format is public, and texts that must not break the format.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <jansson.h>

#include "report_fixture.h"

static void formats_are_sorted(void **state)
{
	for (size_t i = 0; i < report_formats_count; i++) {
		assert_ptr_equal(report_format_find(report_formats[i]->name),
				 report_formats[i]);
		assert_true(*report_formats[i]->help);
		if (i)
			assert_true(strcmp(report_formats[i - 1]->name,
					   report_formats[i]->name) < 0);
	}
	assert_null(report_format_find("nonsense"));
	assert_null(report_format_find(""));
}

static void concise_has_a_line_a_finding(void **state)
{
	struct fixture fixture;
	struct finding findings[3];
	char *got;

	fixture_text(&fixture, manifest);
	for (int i = 0; i < 3; i++)
		findings[i] = fixture_finding(&fixture, "gpu", 0);
	findings[1].suppressed = SUPPRESSED_COMMENT;
	findings[2].severity = SEVERITY_INFO;
	findings[2].message = "a\nb: error: forged\x1b[2J";
	got = report_n("concise", findings, 3, &fixture);
	assert_string_equal(got,
			    "jobs/train.yaml:4:7: error: container `trainer`"
			    " has no limit [gpu-limit-missing]\n"
			    "jobs/train.yaml:4:7: info: a␊b: error: forged␛[2J"
			    " [gpu-limit-missing]\n");
	free(got);
	fixture.options.color = true;
	got = report_n("concise", findings, 1, &fixture);
	expect_in(got, ": \033[1;31merror\033[0m: container");
	free(got);
	fixture_release(&fixture);
}

static void statistics_count_by_rule_and_severity(void **state)
{
	struct fixture fixture;
	struct finding findings[4];
	char *got;

	fixture_text(&fixture, manifest);
	fixture.options.statistics = true;
	for (int i = 0; i < 4; i++)
		findings[i] = fixture_finding(&fixture, "gpu", 0);
	findings[1].rule = findings[2].rule = &fixture_rule_shm;
	findings[1].severity = findings[2].severity = SEVERITY_WARNING;
	findings[3].severity = SEVERITY_INFO;
	got = report_n("concise", findings, 4, &fixture);
	expect_in(got, "findings  severity  rule\n"
		       "       2  warning   shm-missing\n"
		       "       1  error     gpu-limit-missing\n"
		       "       1  info      gpu-limit-missing\n");
	free(got);
	got = report_n("markdown", findings, 4, &fixture);
	expect_in(got, "| 2 | warning | shm-missing |\n| 1 | error | "
		       "gpu-limit-missing |\n| 1 | info |");
	free(got);
	fixture_release(&fixture);
}

static void the_summary_counts_what_was_left_out(void **state)
{
	static const struct skipped_file skipped[] = {{"a", "Helm template"},
						      {"b", "too large"},
						      {"c", "Helm template"},
						      {"d", "r3"},
						      {"e", "r4"},
						      {"f", "r5"}};
	static const struct not_run not_run[] = {
		{&fixture_rule, "needs --cluster", 1, 0},
		{&fixture_rule_shm, "needs --cluster", 2, 0},
		{&fixture_rule_shm, "unknown namespace", 2, 0}};
	struct report_summary summary = {
		.files = 6,
		.counts = {.objects = 14,
			   .errors = 3,
			   .warnings = 1,
			   .suppressed = 5,
			   .gpus = 9},
		.skipped = skipped,
		.nskipped = 3,
		.counts.fixable = 2,
		.counts.fixable_unsafe = 1,
		.not_run = not_run,
		.nnot_run = 3,
	};
	struct fixture fixture;
	char *got;

	fixture_text(&fixture, manifest);
	got = fixture_report(&fixture, &report_full, NULL, 0, &summary);
	assert_string_equal(
		got,
		"Checked 14 objects in 6 files (2 skipped: Helm template, 1"
		" skipped: too large) — 3 errors, 1 warning, 5 suppressed; 9"
		" GPUs requested\n2 fixable with --fix, 1 more with"
		" --unsafe-fixes.\nSkipped (needs --cluster):"
		" gpu-limit-missing, shm-missing\n"
		"Skipped (unknown namespace): shm-missing\n");
	free(got);
	summary = (struct report_summary){
		.files = 1, .counts = {.objects = 1, .gpus_unknown = true}};
	got = fixture_report(&fixture, &report_full, NULL, 0, &summary);
	assert_string_equal(got, "Checked 1 object in 1 file — no findings; an"
				 " unknown number of GPUs requested\n");
	free(got);
	summary = (struct report_summary){
		.skipped = skipped, .nskipped = 6, .ignored = 2};
	got = fixture_report(&fixture, &report_full, NULL, 0, &summary);
	assert_string_equal(
		got, "No files were linted: no manifests found (2 skipped: Helm"
		     " template, 1 skipped: too large, 1 skipped: r3, 1"
		     " skipped: r4, 1 skipped for other reasons, 2 ignored by"
		     " .gitignore)\n");
	free(got);
	summary = (struct report_summary){.failed = true};
	got = fixture_report(&fixture, &report_full, NULL, 0, &summary);
	assert_string_equal(
		got, "No files were linted: none of the paths could be read\n");
	free(got);
	summary = (struct report_summary){.files = 2, .counts = {.errors = 1}};
	got = fixture_report(&fixture, &report_full, NULL, 0, &summary);
	assert_string_equal(got, "Nothing was linted: no Kubernetes objects in"
				 " 2 files — 1 error, 0 warnings\n");
	free(got);
	fixture_release(&fixture);
}

static void json_has_its_shape(void **state)
{
	static const struct not_run not_run = {&fixture_rule, "needs --cluster",
					       3, 0};
	struct report_summary summary = {.files = 1,
					 .counts = {.gpus = 4, .errors = 1},
					 .not_run = &not_run,
					 .nnot_run = 1};
	struct fixture fixture;
	struct finding findings[2];
	struct related related = {.message = "here"};
	char *got;

	fixture_text(&fixture, manifest);
	findings[0] = findings[1] = fixture_finding(&fixture, "gpu", 0);
	related.place = fixture_place(&fixture, "kind", 0);
	findings[0].related = &related;
	findings[0].nrelated = 1;
	findings[1].suppressed = SUPPRESSED_ANNOTATION;
	findings[1].suppression_reason = "known";
	got = fixture_report(&fixture, &report_json, findings, 2, &summary);
	assert_string_equal(
		got,
		"{\"version\":1,\n\"findings\":[\n"
		"{\"rule\":\"gpu-limit-missing\","
		"\"fingerprint\":\"000000001234abcd\","
		"\"category\":\"resources\",\"severity\":\"error\","
		"\"message\":\"container `trainer` has no limit\","
		"\"help\":\"set the same limit\","
		"\"file\":\"jobs/train.yaml\",\"line\":4,\"column\":7,"
		"\"endLine\":4,\"endColumn\":10,\"document\":1,"
		"\"object\":{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\","
		"\"namespace\":\"ml\",\"name\":\"llm\"},"
		"\"pod\":\"Worker\",\"container\":\"trainer\","
		"\"path\":\"/spec\","
		"\"related\":[{\"file\":\"jobs/train.yaml\",\"line\":1,"
		"\"column\":1,\"message\":\"here\"}]}],\n"
		"\"suppressed\":[\n"
		"{\"rule\":\"gpu-limit-missing\",\"file\":\"jobs/train.yaml\","
		"\"line\":4,\"via\":\"annotation\",\"reason\":\"known\"}],\n"
		"\"summary\":{\"files\":1,\"skipped\":[],\"rendered\":[],\"ignored\":0,\"notKubernetes\":0,"
		"\"documents\":0,\"objects\":0,\"workloads\":0,\"gpus\":4,"
		"\"gpusUnknown\":false,\"unknownKindsWithPods\":0,"
		"\"placeholders\":0,\"fragments\":0,\"patchedBases\":0,\"chartValues\":0,\"infrastructure\":0,"
		"\"infrastructureUnknown\":0,\"errors\":1,"
		"\"warnings\":0,\"infos\":0,\"suppressed\":0,\"fixable\":0,"
		"\"fixableUnsafe\":0,\"incomplete\":false,\"rulesNotRun\":["
		"{\"rule\":\"gpu-limit-missing\",\"reason\":\"needs"
		" --cluster\",\"count\":3}]}}\n");
	free(got);
	fixture_release(&fixture);
}

static void json_lines_has_a_line_a_finding(void **state)
{
	struct fixture fixture;
	struct finding findings[2];
	char *got, *line;
	size_t lines = 0;

	fixture_text(&fixture, manifest);
	findings[0] = findings[1] = fixture_finding(&fixture, "gpu", 0);
	findings[1].suppressed = SUPPRESSED_BASELINE;
	got = report_n("jsonl", findings, 2, &fixture);
	for (line = strtok(got, "\n"); line; line = strtok(NULL, "\n")) {
		json_t *json = json_loads(line, 0, NULL);

		assert_non_null(json);
		assert_non_null(json_object_get(json, lines == 0 ? "message"
						      : lines == 1
							      ? "suppressed"
							      : "summary"));
		json_decref(json);
		lines++;
	}
	assert_int_equal(lines, 3);
	free(got);
	fixture_release(&fixture);
}

/* Paths may contain bytes that are not UTF-8, which JSON cannot. */
static void json_of_any_bytes(void **state)
{
	static const char *const formats[] = {"json", "gitlab", "rdjson",
					      "sarif"};
	struct fixture fixture;
	struct finding finding;

	fixture_text(&fixture, manifest);
	finding = fixture_finding(&fixture, "gpu", 0);
	finding.message = "\x01\"\\\xff\xc0\xaf tail\xe6";
	finding.id.name = "\xed\xa0\x80";
	for (size_t i = 0; i < 4; i++) {
		char *got = report_n(formats[i], &finding, 1, &fixture);
		json_t *json = json_loads(got, JSON_REJECT_DUPLICATES, NULL);

		assert_non_null(json);
		expect_in(got, " tail\xef\xbf\xbd");
		json_decref(json);
		free(got);
	}
	fixture_release(&fixture);
}

static void formats_are_whole_without_findings(void **state)
{
	static const struct {
		const char *format, *text;
	} cases[] = {
		{"gitlab", "[]\n"},
		{"concise", ""},
		{"rdjson",
		 "{\"source\":{\"name\":\"gpugate\"},\n\"diagnostics\":[]}\n"},
		{"sarif", "\n\"results\":[],\n"},
		{"json", "\"findings\":[],\n\"suppressed\":[],\n"},
		{"junit", "name=\"no findings\""},
		{"github", "No files were linted"},
		{"markdown", "No files were linted"},
	};
	struct fixture fixture;

	fixture_text(&fixture, manifest);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *got = report_n(cases[i].format, NULL, 0, &fixture);

		expect_in(got, cases[i].text);
		free(got);
	}
	fixture_release(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_are_sorted),
		cmocka_unit_test(concise_has_a_line_a_finding),
		cmocka_unit_test(statistics_count_by_rule_and_severity),
		cmocka_unit_test(the_summary_counts_what_was_left_out),
		cmocka_unit_test(json_has_its_shape),
		cmocka_unit_test(json_lines_has_a_line_a_finding),
		cmocka_unit_test(json_of_any_bytes),
		cmocka_unit_test(formats_are_whole_without_findings),
	};

	return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
