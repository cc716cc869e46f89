/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats for review services: what each service requires beyond a valid
 * document (unique names, units of columns, limits), and that text of a
 * manifest cannot forge markup or commands.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <jansson.h>

#include "lint/report/parts/report_common.h"
#include "report_fixture.h"

static const char evil[] = "\x1b[2J ]]> <script>\n::error::x | `a` %0A, a:b"
			   " \"' [l](1) \x01";

static struct finding evil_finding(struct fixture *fixture)
{
	struct finding finding = fixture_finding(fixture, "gpu", 0);

	finding.message = finding.help = evil;
	finding.pod = finding.container = evil;
	finding.id = (struct object_id){evil, evil, evil, evil};
	finding.place.pointer = evil;
	return finding;
}

/* No format prints a control character, except for its own line ends. */
static void no_format_prints_control_characters(void **state)
{
	struct fixture fixture;
	struct finding findings[2];

	fixture_text(&fixture, manifest);
	findings[0] = findings[1] = evil_finding(&fixture);
	findings[1].suppressed = SUPPRESSED_POLICY;
	findings[1].suppression_reason = evil;
	for (size_t i = 0; i < report_formats_count; i++) {
		char *got = fixture_report(&fixture, report_formats[i],
					   findings, 2, NULL);

		for (const char *s = got; *s; s++)
			assert_true((unsigned char)*s >= 0x20 || *s == '\n');
		/* A forged command would start a line. */
		assert_null(strstr(got, "\n::error::x"));
		free(got);
	}
	fixture_release(&fixture);
}

/* Returns the value at a path of keys and indices, such as
 * "results.0.message". */
static const json_t *at(const json_t *json, const char *path)
{
	char key[64];
	size_t n;

	for (; json && *path; path += n + (path[n] == '.')) {
		n = strcspn(path, ".");
		snprintf(key, sizeof(key), "%.*s", (int)n, path);
		json = json_is_array(json)
			       ? json_array_get(json, strtoul(key, NULL, 10))
			       : json_object_get(json, key);
	}
	return json;
}

static void expect_text(const json_t *json, const char *path,
			const char *expected)
{
	const char *got = json_string_value(at(json, path));

	if (!got)
		fail_msg("no text at %s", path);
	assert_string_equal(got, expected);
}

static void expect_int(const json_t *json, const char *path, long expected)
{
	assert_true(json_is_integer(at(json, path)));
	assert_int_equal(json_integer_value(at(json, path)), expected);
}

static json_t *report_json_of(const char *name, const struct finding *findings,
			      size_t n, struct fixture *fixture)
{
	char *got = report_n(name, findings, n, fixture);
	json_t *json = json_loads(got, JSON_REJECT_DUPLICATES, NULL);

	assert_non_null(json);
	free(got);
	return json;
}

static void sarif_has_a_result_a_finding(void **state)
{
	struct fixture fixture;
	struct finding findings[3];
	struct related related[2] = {{.message = "in the cluster"},
				     {.message = "see [x](9)"}};
	json_t *json;

	fixture_text(&fixture, manifest);
	for (int i = 0; i < 3; i++)
		findings[i] = fixture_finding(&fixture, "gpu", 0);
	findings[0].rule = &fixture_rule_shm;
	findings[0].severity = SEVERITY_INFO;
	related[0].place.file = UINT32_MAX;
	related[1].place = fixture_place(&fixture, "kind", 0);
	findings[1].related = related;
	findings[1].nrelated = 2;
	findings[2].suppressed = SUPPRESSED_POLICY;
	findings[2].suppression_reason = "known";
	json = report_json_of("sarif", findings, 3, &fixture);
	expect_text(json, "version", "2.1.0");
	expect_text(json, "runs.0.columnKind", "unicodeCodePoints");
	expect_text(json, "runs.0.automationDetails.id", "gpugate/");
	expect_text(json, "runs.0.results.0.level", "note");
	expect_int(json, "runs.0.results.0.ruleIndex", 0);
	expect_int(json, "runs.0.results.1.ruleIndex", 1);
	expect_int(json, "runs.0.results.2.ruleIndex", 1);
	expect_text(json, "runs.0.tool.driver.rules.0.id", "shm-missing");
	expect_text(json, "runs.0.tool.driver.rules.1.id", "gpu-limit-missing");
	expect_text(json, "runs.0.tool.driver.rules.1.help.text",
		    "extended resources need an equal limit.\nHelp: set"
		    " the same limit.\nEvidence: the API server's validation."
		    "\nMore: gpugate explain gpu-limit-missing");
	expect_text(json, "runs.0.results.1.message.text",
		    "container `trainer` has no limit.\nHelp: set the same"
		    " limit\nin the cluster\n[jobs/train.yaml:1](2): see [x]"
		    " (9)");
	expect_int(json, "runs.0.results.1.relatedLocations.0.id", 2);
	assert_null(at(json, "runs.0.results.1.relatedLocations.1"));
	assert_null(at(json, "runs.0.results.1.suppressions"));
	expect_text(json, "runs.0.results.2.suppressions.0.kind", "external");
	expect_text(json, "runs.0.results.2.suppressions.0.justification",
		    "known");
	expect_text(json, "runs.0.results.0.partialFingerprints.gpugate/v1",
		    "000000001234abcd");
	json_decref(json);
	/* On GitHub the suppressed finding is left out, because it would be an
	 * open alert. */
	fixture.options.github = true;
	json = report_json_of("sarif", findings, 3, &fixture);
	assert_non_null(at(json, "runs.0.results.1"));
	assert_null(at(json, "runs.0.results.2"));
	json_decref(json);
	fixture_release(&fixture);
}

static void sarif_versions_are_semantic(void **state)
{
	static const char *const cases[][2] = {
		{"1.2.3", "1.2.3"},   {"v1.2.3-4-gabcdef", "1.2.3-4-gabcdef"},
		{"2d19791", "0.0.0"}, {"2", "0.0.0"},
		{"v", "0.0.0"},	      {"", "0.0.0"},
		{"a.b", "0.0.0"},     {NULL, "0.0.0"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(sarif_version(cases[i][0]), cases[i][1]);
}

/* A finding is on one line, columns count code points, ends are exclusive,
 * paths are URIs. */
static void sarif_counts_code_points(void **state)
{
	static const struct {
		const char *word;
		int line, column, end_column;
	} cases[] = {
		{"gpu", 4, 7, 10},
		{"名", 4, 3, 4},
		{"llm}\nspec", 2, 18, 22}, /* to the end of the first line */
		{"spec:\n", 3, 1, 6},
	};
	struct fixture fixture;

	fixture_text(&fixture, manifest);
	for (size_t i = 0; i < 4; i++) {
		struct finding finding =
			fixture_finding(&fixture, cases[i].word, 0);
		json_t *json = report_json_of("sarif", &finding, 1, &fixture);
		const json_t *place = at(json, "runs.0.results.0.locations.0."
					       "physicalLocation");

		expect_int(place, "region.startLine", cases[i].line);
		expect_int(place, "region.endLine", cases[i].line);
		expect_int(place, "region.startColumn", cases[i].column);
		expect_int(place, "region.endColumn", cases[i].end_column);
		expect_text(place, "artifactLocation.uri", "jobs/train.yaml");
		json_decref(json);
	}
	fixture_release(&fixture);
}

static void paths_are_uris(void **state)
{
	static const struct {
		const char *path, *uri;
	} cases[] = {
		{"a b/c.yaml", "a%20b/c.yaml"},
		{"./a.yaml", "a.yaml"},
		{"../a.yaml", "../a.yaml"},
		{"/srv/a.yaml", "file:///srv/a.yaml"},
		{"a:b#?%.yaml", "a%3Ab%23%3F%25.yaml"},
		{"名/\xff.yaml", "%E5%90%8D/%FF.yaml"},
		{"-", "-"},
	};
	struct fixture fixture;
	struct finding finding;

	fixture_text(&fixture, manifest);
	finding = fixture_finding(&fixture, "gpu", 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct report_file file = fixture_file(&fixture);
		struct report_summary summary = {0};
		char *text = NULL, wanted[64];
		size_t size;
		FILE *out = open_memstream(&text, &size);
		void *context =
			report_begin(&report_sarif, out, &fixture.options);

		file.path = cases[i].path;
		report_sarif.file(context, &file, &finding, 1);
		report_end(&report_sarif, context, &summary);
		fclose(out);
		snprintf(wanted, sizeof(wanted), "\"uri\":\"%s\"",
			 cases[i].uri);
		expect_in(text, wanted);
		free(text);
	}
	fixture_release(&fixture);
}

static void junit_has_a_case_a_finding(void **state)
{
	struct fixture fixture;
	struct finding findings[5];
	char *got;

	fixture_text(&fixture, manifest);
	for (int i = 0; i < 5; i++)
		findings[i] = fixture_finding(&fixture, "gpu", 0);
	findings[2].id.name = "other";
	findings[3].suppressed = SUPPRESSED_COMMENT;
	findings[3].suppression_reason = "known <x>";
	findings[4].severity = SEVERITY_WARNING;
	got = report_n("junit", findings, 4, &fixture);
	expect_in(got, "tests=\"4\" failures=\"3\" errors=\"0\" skipped=\"1\"");
	expect_in(got, "name=\"gpu-limit-missing Job ml/llm /spec\"");
	expect_in(got, "name=\"gpu-limit-missing Job ml/llm /spec #2\"");
	expect_in(got, "name=\"gpu-limit-missing Job ml/other /spec\"");
	expect_in(got, "name=\"gpu-limit-missing Job ml/llm /spec #3\"");
	expect_in(got, "<skipped message=\"suppressed by comment: known"
		       " &lt;x&gt;\"/>");
	expect_in(got, "<failure message=\"container `trainer` has no limit\""
		       " type=\"error\">jobs/train.yaml:4:7: error: container"
		       " `trainer` has no limit [gpu-limit-missing]\nhelp: set"
		       " the same limit</failure>");
	assert_int_equal(occurrences(got, "no findings"), 0);
	free(got);
	got = report_n("junit", findings + 3, 1, &fixture);
	expect_in(got, "tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"1\"");
	expect_in(got, "name=\"no findings\"");
	free(got);
	/* A finding below --fail-on is a passed test with the finding as
	 * output. */
	got = report_n("junit", findings + 4, 1, &fixture);
	expect_in(got, "tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\"");
	expect_in(got, "<system-out>jobs/train.yaml:4:7: warning: container"
		       " `trainer` has no limit [gpu-limit-missing]\nhelp: set"
		       " the same limit</system-out></testcase>");
	free(got);
	fixture.options.fail_on = "warning";
	got = report_n("junit", findings + 4, 1, &fixture);
	expect_in(got, "failures=\"1\"");
	expect_in(got, " type=\"warning\">");
	free(got);
	fixture_release(&fixture);
}

static void xml_is_escaped(void **state)
{
	struct fixture fixture;
	struct finding finding;
	char *got;

	fixture_text(&fixture, manifest);
	finding = evil_finding(&fixture);
	got = report_n("junit", &finding, 1, &fixture);
	assert_null(strstr(got, "<script"));
	assert_null(strstr(got, "]]>"));
	expect_in(got, "␛[2J ]]&gt; &lt;script&gt;␊::error::x | `a`"
		       " %0A, a:b &quot;&#39; [l](1) ␁");
	free(got);
	fixture_release(&fixture);
}

static void github_commands_are_escaped(void **state)
{
	struct fixture fixture;
	struct finding finding;
	char *got;

	fixture_text(&fixture, manifest);
	fixture.options.quiet = true;
	finding = evil_finding(&fixture);
	finding.message = "100% of\r\n::warning::a, b: c";
	finding.help = "";
	got = report_n("github", &finding, 1, &fixture);
	assert_string_equal(
		got, "::error file=jobs/train.yaml,line=4,endLine=4,col=7,"
		     "endColumn=10,title=gpugate gpu-limit-missing::100%25"
		     " of␍␊::warning::a, b: c%0Ahelp: set the same limit\n");
	free(got);
	fixture_release(&fixture);
}

/* Ten of each type are shown; errors first; the rest is counted. */
static void github_shows_ten_of_a_type(void **state)
{
	struct fixture fixture;
	struct finding findings[40];
	char *got;

	fixture_text(&fixture, manifest);
	for (int i = 0; i < 40; i++) {
		findings[i] = fixture_finding(&fixture, "gpu", 0);
		findings[i].severity = (enum severity)(i % 3);
		findings[i].place.column += (uint32_t)i;
	}
	got = report_n("github", findings, 30, &fixture);
	assert_int_equal(occurrences(got, "\n::error "), 9);
	assert_memory_equal(got, "::error ", 8);
	assert_int_equal(occurrences(got, "::warning "), 10);
	assert_int_equal(occurrences(got, "::notice "), 10);
	assert_null(strstr(got, " more finding"));
	free(got);
	got = report_n("github", findings, 40, &fixture);
	assert_int_equal(occurrences(got, "::error "), 10);
	assert_int_equal(occurrences(got, "::warning "), 10);
	/* 14 + 13 + 13, minus 29 shown; the tenth notice has the number */
	assert_int_equal(occurrences(got, "::notice "), 10);
	expect_in(got, "\n::notice title=gpugate::11 more findings without");
	assert_true(strstr(got, "::notice") > strstr(got, "::warning"));
	free(got);
	fixture_release(&fixture);
}

static void github_cuts_long_messages_between_characters(void **state)
{
	struct fixture fixture;
	struct finding finding;
	char message[3 * 3000 + 1], *got, *end;

	fixture_text(&fixture, manifest);
	fixture.options.quiet = true;
	for (size_t i = 0; i < 3000; i++)
		memcpy(message + 3 * i, "日", 3);
	message[3 * 3000] = '\0';
	finding = fixture_finding(&fixture, "gpu", 0);
	finding.message = message;
	got = report_n("github", &finding, 1, &fixture);
	end = strstr(got, "missing::") + strlen("missing::");
	assert_int_equal(strlen(end), 3999 + 1);
	assert_memory_equal(end + 3996, "日\n", 4);
	free(got);
	fixture_release(&fixture);
}

static void gitlab_has_an_issue_a_finding(void **state)
{
	struct fixture fixture;
	struct finding findings[3];
	json_t *json;

	fixture_text(&fixture, manifest);
	for (int i = 0; i < 3; i++)
		findings[i] = fixture_finding(&fixture, "gpu", 0);
	findings[1].place.column++;
	findings[2].severity = SEVERITY_WARNING;
	findings[2].fingerprint = 7;
	json = report_json_of("gitlab", findings, 3, &fixture);
	assert_int_equal(json_array_size(json), 3);
	expect_text(json, "0.description",
		    "gpu-limit-missing: container `trainer` has no limit");
	expect_text(json, "0.severity", "major");
	expect_text(json, "2.severity", "minor");
	expect_text(json, "0.location.path", "jobs/train.yaml");
	expect_int(json, "0.location.lines.begin", 4);
	for (size_t i = 0; i < 3; i++) {
		const json_t *a = json_array_get(json, i);
		const json_t *b = json_array_get(json, (i + 1) % 3);

		assert_false(
			json_equal(at(a, "fingerprint"), at(b, "fingerprint")));
	}
	json_decref(json);
	fixture_release(&fixture);
}

/* An edit above a finding must not change its fingerprint. */
static void gitlab_fingerprint_is_stable(void **state)
{
	struct fixture fixture;
	struct finding finding;
	json_t *before, *after;

	fixture_text(&fixture, manifest);
	finding = fixture_finding(&fixture, "gpu", 0);
	before = report_json_of("gitlab", &finding, 1, &fixture);
	finding.place.line += 100;
	after = report_json_of("gitlab", &finding, 1, &fixture);
	assert_true(json_equal(at(before, "0.fingerprint"),
			       at(after, "0.fingerprint")));
	json_decref(before);
	json_decref(after);
	fixture_release(&fixture);
}

static void rdjson_counts_bytes(void **state)
{
	struct fixture fixture;
	struct finding finding;
	json_t *json;

	fixture_text(&fixture, manifest);
	finding = fixture_finding(&fixture, "gpu", 0);
	json = report_json_of("rdjson", &finding, 1, &fixture);
	expect_int(json, "diagnostics.0.location.range.start.line", 4);
	/* two blanks, three bytes of 名, ": {" */
	expect_int(json, "diagnostics.0.location.range.start.column", 9);
	expect_int(json, "diagnostics.0.location.range.end.column", 12);
	expect_text(json, "diagnostics.0.severity", "ERROR");
	expect_text(json, "diagnostics.0.code.value", "gpu-limit-missing");
	json_decref(json);
	finding = fixture_finding(&fixture, "llm}\nspec", 0);
	json = report_json_of("rdjson", &finding, 1, &fixture);
	expect_int(json, "diagnostics.0.location.range.start.line", 2);
	expect_int(json, "diagnostics.0.location.range.end.line", 3);
	expect_int(json, "diagnostics.0.location.range.end.column", 5);
	json_decref(json);
	fixture_release(&fixture);
}

static void markdown_is_escaped(void **state)
{
	struct fixture fixture;
	struct finding finding;
	char *got;

	fixture_text(&fixture, manifest);
	finding = evil_finding(&fixture);
	finding.id = (struct object_id){"", "Job", "", "a|b"};
	finding.pod = finding.container = "";
	got = report_n("markdown", &finding, 1, &fixture);
	expect_in(got,
		  "| 4:7 | error | gpu-limit-missing | ␛&#91;2J"
		  " &#93;&#93;&#62; &#60;script&#62;␊&#58;&#58;error&#58;&#58;x"
		  " &#124; <code>a</code> %0A, a&#58;b \"' &#91;l&#93;(1) ␁ |"
		  " Job a&#124;b |\n");
	free(got);
	finding.message = "one ` tick";
	got = report_n("markdown", &finding, 1, &fixture);
	expect_in(got, "| one &#96; tick |");
	free(got);
	fixture_release(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_format_prints_control_characters),
		cmocka_unit_test(sarif_has_a_result_a_finding),
		cmocka_unit_test(sarif_versions_are_semantic),
		cmocka_unit_test(sarif_counts_code_points),
		cmocka_unit_test(paths_are_uris),
		cmocka_unit_test(junit_has_a_case_a_finding),
		cmocka_unit_test(xml_is_escaped),
		cmocka_unit_test(github_commands_are_escaped),
		cmocka_unit_test(github_shows_ten_of_a_type),
		cmocka_unit_test(github_cuts_long_messages_between_characters),
		cmocka_unit_test(gitlab_has_an_issue_a_finding),
		cmocka_unit_test(gitlab_fingerprint_is_stable),
		cmocka_unit_test(rdjson_counts_bytes),
		cmocka_unit_test(markdown_is_escaped),
	};

	return cmocka_run_group_tests_name("report_services", tests, NULL,
					   NULL);
}
