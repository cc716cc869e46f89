/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metrics: counts are on the page, the page is in Prometheus' format
 * whatever the label values contain (tests/check/metrics_page.py reads it
 * strictly), and a flood of values does not make it grow without limit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "engine/registry.h"
#include "webhook/observe/metrics.h"

static int new_metrics(void **state)
{
	*state = metrics_new();
	metrics_set_build(*state, "1.0.0");
	return 0;
}

static int free_metrics(void **state)
{
	metrics_free(*state);
	return 0;
}

static char *page_of(struct metrics *m)
{
	struct buf out;

	buf_init(&out);
	metrics_write(m, &out);
	return out.data;
}

/* The strict reader must accept the page, and each series of wanted must have
 * its value. */
static void check_page(struct metrics *m, const char *const *wanted)
{
	char path[] = "/tmp/gpugate-metrics-XXXXXX";
	char *page = page_of(m);
	int fd = mkstemp(path);
	struct buf command;
	int status;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, page, strlen(page)), strlen(page));
	close(fd);
	free(page);
	buf_init(&command);
	buf_addf(&command, "python3 tests/check/metrics_page.py %s", path);
	for (; wanted && *wanted; wanted++)
		buf_addf(&command, " '%s'", *wanted);
	buf_adds(&command, " >&2");
	status = system(command.data);
	buf_release(&command);
	unlink(path);
	assert_int_equal(status, 0);
}

static unsigned count_lines(const char *page, const char *start)
{
	unsigned n = 0;

	for (const char *at = page; (at = strstr(at, start)); at++)
		n += at == page || at[-1] == '\n';
	return n;
}

static void request(struct metrics *m, const char *webhook, const char *kind,
		    const char *decision, uint64_t nanoseconds)
{
	metrics_count_request(m, &(struct metrics_request){
					 .webhook = webhook,
					 .operation = "CREATE",
					 .kind = kind,
					 .decision = decision,
					 .nanoseconds = nanoseconds,
				 });
}

static void finding(struct metrics *m, const char *rule, const char *namespace,
		    int64_t gpus)
{
	metrics_count_finding(m, &(struct metrics_finding){
					 .rule = rule,
					 .action = "deny",
					 .mode = "enforce",
					 .level = "owner",
					 .namespace = namespace,
					 .gpus = gpus,
				 });
}

/* -- the page -------------------------------------------------------------- */

static void a_new_page_is_whole(void **state)
{
	static const char *const wanted[] = {
		"gpugate_admission_requests_total{webhook=\"validate\",operation=\"CREATE\",kind=\"Pod\",decision=\"deny\",dry_run=\"false\"}",
		"0",
		"gpugate_admission_requests_total{webhook=\"mutate\",operation=\"UPDATE\",kind=\"Pod\",decision=\"patch\",dry_run=\"false\"}",
		"0",
		"gpugate_admission_duration_seconds_count{webhook=\"mutate\"}",
		"0",
		"gpugate_in_flight",
		"0",
		"gpugate_overload_total",
		"0",
		"gpugate_break_glass_total",
		"0",
		"gpugate_policy_reload_failures_total",
		"0",
		"gpugate_timeouts_total{phase=\"body\"}",
		"0",
		"gpugate_connections",
		"0",
		"gpugate_build_info{version=\"1.0.0\"}",
		"1",
		"controller_runtime_webhook_requests_total{webhook=\"/mutate\",code=\"500\"}",
		"0",
		"controller_runtime_webhook_requests_in_flight{webhook=\"all\"}",
		"0",
		"controller_runtime_webhook_latency_seconds_count{webhook=\"/validate\"}",
		"0",
		/* Without a value, the series is absent: a 0 would be
		 * misleading. */
		"gpugate_certificate_expiry_timestamp_seconds",
		"-",
		"gpugate_cluster_state_age_seconds",
		"-",
		"gpugate_policy_last_reload_success_timestamp_seconds",
		"-",
		NULL,
	};

	check_page(*state, wanted);
}

static void every_family_of_the_contract_is_there(void **state)
{
	static const char *const names[] = {
		"gpugate_admission_requests_total",
		"gpugate_admission_duration_seconds",
		"gpugate_findings_total",
		"gpugate_gpus_affected_total",
		"gpugate_exemption_expiry_timestamp_seconds",
		"gpugate_rules_not_run",
		"gpugate_patches_total",
		"gpugate_in_flight",
		"gpugate_overload_total",
		"gpugate_memory_refused_total",
		"gpugate_cluster_state_age_seconds",
		"gpugate_certificate_expiry_timestamp_seconds",
		"gpugate_policy_last_reload_success_timestamp_seconds",
		"gpugate_policy_reload_failures_total",
		"gpugate_build_info",
		"process_cpu_seconds_total",
		"process_resident_memory_bytes",
		"process_open_fds",
		"process_max_fds",
		"process_start_time_seconds",
	};
	char *page = page_of(*state);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char line[128];

		snprintf(line, sizeof(line), "# HELP %s ", names[i]);
		assert_non_null(strstr(page, line));
		snprintf(line, sizeof(line), "# TYPE %s ", names[i]);
		assert_non_null(strstr(page, line));
	}
	free(page);
}

static void rules_are_known_beforehand(void **state)
{
	struct rule_set rules = {.items = all_rules, .n = all_rules_count};
	char *page;
	unsigned patching = 0;

	metrics_know_rules(*state, &rules);
	page = page_of(*state);
	for (size_t i = 0; i < rules.n; i++)
		patching += (rules.items[i]->flags &
			     (RULE_SAFE_PATCH | RULE_OPT_IN_PATCH)) != 0;
	assert_true(patching > 0);
	assert_int_equal(count_lines(page, "gpugate_patches_total{"), patching);
	free(page);
	check_page(*state, NULL);
}

static void process_figures_are_sane(void **state)
{
	char *page = page_of(*state);
	const char *at;

	at = strstr(page, "\nprocess_resident_memory_bytes ");
	assert_non_null(at);
	assert_true(strtod(strchr(at, ' '), NULL) > 1e6);
	at = strstr(page, "\nprocess_start_time_seconds ");
	assert_non_null(at);
	assert_true(strtod(strchr(at, ' '), NULL) > (double)time(NULL) - 600);
	assert_true(strtod(strchr(at, ' '), NULL) < (double)time(NULL) + 2);
	at = strstr(page, "\nprocess_open_fds ");
	assert_non_null(at);
	assert_true(strtod(strchr(at, ' '), NULL) >= 3);
	free(page);
}

/* -- counting -------------------------------------------------------------- */

static void requests_and_durations(void **state)
{
	static const char *const wanted[] = {
		"gpugate_admission_requests_total{webhook=\"validate\",operation=\"CREATE\",kind=\"PyTorchJob.kubeflow.org\",decision=\"deny\",dry_run=\"false\"}",
		"2",
		"gpugate_admission_requests_total{webhook=\"validate\",operation=\"other\",kind=\"Pod\",decision=\"other\",dry_run=\"true\"}",
		"1",
		"gpugate_admission_duration_seconds_bucket{webhook=\"validate\",le=\"0.0001\"}",
		"2",
		"gpugate_admission_duration_seconds_bucket{webhook=\"validate\",le=\"0.00025\"}",
		"3",
		"gpugate_admission_duration_seconds_bucket{webhook=\"validate\",le=\"2.5\"}",
		"3",
		"gpugate_admission_duration_seconds_bucket{webhook=\"validate\",le=\"+Inf\"}",
		"4",
		"gpugate_admission_duration_seconds_sum{webhook=\"validate\"}",
		"3.000200002",
		"gpugate_admission_duration_seconds_count{webhook=\"mutate\"}",
		"1",
		"controller_runtime_webhook_requests_total{webhook=\"/validate\",code=\"200\"}",
		"4",
		"controller_runtime_webhook_requests_total{webhook=\"/mutate\",code=\"500\"}",
		"1",
		"controller_runtime_webhook_latency_seconds_count{webhook=\"/validate\"}",
		"4",
		NULL,
	};
	struct metrics *m = *state;

	request(m, "validate", "PyTorchJob.kubeflow.org", "deny", 1);
	request(m, "validate", "PyTorchJob.kubeflow.org", "deny", 100000);
	request(m, "validate", "Pod", "allow", 100001);
	request(m, "mutate", "Pod", "error", 5);
	metrics_count_request(m, &(struct metrics_request){
					 .webhook = "validate",
					 .operation = "PATCH",
					 .kind = "Pod",
					 .decision = "shrug",
					 .dry_run = true,
					 .nanoseconds = 3000000000,
				 });
	check_page(m, wanted);
}

static void findings_patches_and_the_rest(void **state)
{
	static const char *const wanted[] = {
		"gpugate_findings_total{rule=\"shm-missing\",action=\"deny\",mode=\"enforce\",level=\"owner\",namespace=\"ml\"}",
		"2",
		"gpugate_findings_total{rule=\"shm-missing\",action=\"other\",mode=\"other\",level=\"other\",namespace=\"\"}",
		"1",
		"gpugate_gpus_affected_total{rule=\"shm-missing\",action=\"deny\"}",
		"40",
		"gpugate_patches_total{rule=\"shm-missing\"}",
		"1",
		"gpugate_rules_not_run{rule=\"quota-never-fits\"}",
		"2",
		"gpugate_break_glass_total",
		"1",
		"gpugate_overload_total",
		"1",
		"gpugate_in_flight",
		"1",
		"gpugate_timeouts_total{phase=\"header\"}",
		"7",
		"gpugate_certificate_expiry_timestamp_seconds",
		"1900000000",
		"gpugate_cluster_state_age_seconds",
		"1.5",
		"gpugate_policy_info{hash=\"00ff\"}",
		"1",
		NULL,
	};
	struct metrics *m = *state;

	finding(m, "shm-missing", "ml", 32);
	finding(m, "shm-missing", "ml", 8);
	metrics_count_finding(m, &(struct metrics_finding){
					 .rule = "shm-missing",
					 .gpus = -5,
				 });
	metrics_count_patch(m, "shm-missing");
	metrics_count_not_run(m, metrics_rule_number(m, "quota-never-fits"));
	metrics_count_not_run(m, metrics_rule_number(m, "quota-never-fits"));
	metrics_add(m, METRICS_BREAK_GLASS, 1);
	metrics_add(m, METRICS_OVERLOAD, 1);
	assert_int_equal(metrics_in_flight(m, 1), 1);
	assert_int_equal(metrics_in_flight(m, 1), 2);
	assert_int_equal(metrics_in_flight(m, -1), 1);
	metrics_add(m, METRICS_TIMEOUTS_HEADER, 7);
	metrics_set(m, METRICS_CERTIFICATE_EXPIRY, 1.9e9);
	metrics_set(m, METRICS_CLUSTER_STATE_AGE, 1.5);
	metrics_set_policy(m, "00ff");
	check_page(m, wanted);
}

static void a_lost_cluster_state_has_no_age(void **state)
{
	static const char *const wanted[] = {
		"gpugate_cluster_state_age_seconds", "-", NULL};

	metrics_set(*state, METRICS_CLUSTER_STATE_AGE, 10);
	metrics_set(*state, METRICS_CLUSTER_STATE_AGE, -1);
	check_page(*state, wanted);
}

static void exemptions_are_replaced(void **state)
{
	static const struct metrics_exemption first[] = {{"a", 100},
							 {"b", 200}};
	static const struct metrics_exemption second[] = {
		{"b", 300}, {"c\"\\\n", 400}, {"b", 250}};
	static const char *const wanted[] = {
		"gpugate_exemption_expiry_timestamp_seconds{name=\"a\"}",
		"-",
		"gpugate_exemption_expiry_timestamp_seconds{name=\"b\"}",
		"250",
		"gpugate_exemption_expiry_timestamp_seconds{name=\"c\\\"\\\\\\n\"}",
		"400",
		NULL,
	};
	char *page;

	metrics_set_exemptions(*state, first, 2);
	metrics_set_exemptions(*state, second, 3);
	check_page(*state, wanted);
	metrics_set_exemptions(*state, NULL, 0);
	page = page_of(*state);
	assert_int_equal(count_lines(page, "gpugate_exemption_expiry"), 0);
	free(page);
}

/* -- label values from users ----------------------------------------------- */

static void hostile_values(void **state)
{
	static const char *const values[] = {
		"\"} 1\ngpugate_in_flight 99\n",
		"back\\slash",
		"\xff\xfe",
		/* invalid UTF-8 becomes the label of the value before it */
		"\xff\xff",
		"\xc0\xaf",
		"\x01\x02\x1b[31m",
		"",
		"\xed\xa0\x80",
		"caf\xc3\xa9",
	};
	struct metrics *m = *state;
	char *big = malloc(100001);

	memset(big, 'x', 100000);
	big[100000] = '\0';
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		request(m, "mutate", values[i], "allow", 1);
		finding(m, values[i], values[i], 1);
	}
	request(m, "mutate", big, "allow", 1);
	memset(big, '\xff', 100000);
	request(m, "mutate", big, "allow", 1);
	big[50000] = '\0';
	request(m, "mutate", big, "allow", 1);
	request(m, NULL, NULL, NULL, 1);
	free(big);
	check_page(m, NULL);
}

static void floods_are_capped(void **state)
{
	static const char *const wanted[] = {
		"gpugate_admission_requests_total{webhook=\"mutate\",operation=\"CREATE\",kind=\"other\",decision=\"allow\",dry_run=\"false\"}",
		"4801", /* Pod is one of 200 named kinds */
		"gpugate_findings_total{rule=\"r\",action=\"deny\",mode=\"enforce\",level=\"owner\",namespace=\"other\"}",
		"4800",
		NULL,
	};
	struct metrics *m = *state;
	char *page;

	for (int i = 0; i < 5000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "name-%d", i);
		request(m, "mutate", name, "allow", 1);
		finding(m, "r", name, 1);
	}
	check_page(m, wanted);
	page = page_of(m);
	assert_int_equal(count_lines(page, "gpugate_findings_total{"), 201);
	free(page);
}

/* With a value for every label, the table of findings is full, and every count
 * is still right. */
static void a_full_table_counts_on(void **state)
{
	struct metrics *m = *state;
	unsigned long sum = 0;
	unsigned lines = 0;
	char *page;

	for (int i = 0; i < 300 * 300; i++) {
		char rule[16], namespace[16];

		snprintf(rule, sizeof(rule), "r%d", i / 300);
		snprintf(namespace, sizeof(namespace), "n%d", i % 300);
		finding(m, rule, namespace, 0);
	}
	page = page_of(m);
	for (const char *at = page;
	     (at = strstr(at, "\ngpugate_findings_total{")); at++) {
		sum += strtoul(strstr(at, "} ") + 2, NULL, 10);
		lines++;
	}
	free(page);
	assert_int_equal(sum, 300 * 300);
	assert_in_range(lines, 30000, 34000);
}

/* -- threads --------------------------------------------------------------- */

enum { THREADS = 8, EACH = 20000 };

static void *hammer(void *context)
{
	for (int i = 0; i < EACH; i++)
		request(context, i % 2 ? "mutate" : "validate", "Job.batch",
			"allow", 40000);
	return NULL;
}

static void *hammer_new_names(void *context)
{
	for (int i = 0; i < 3000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "ns-%d", i % 300);
		finding(context, name, name, 1);
	}
	return NULL;
}

static void run_threads(struct metrics *m, void *(*run)(void *))
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run, m), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void threads_lose_nothing(void **state)
{
	static const char *const wanted[] = {
		"gpugate_admission_requests_total{webhook=\"mutate\",operation=\"CREATE\",kind=\"Job.batch\",decision=\"allow\",dry_run=\"false\"}",
		"80000",
		"gpugate_admission_duration_seconds_count{webhook=\"validate\"}",
		"80000",
		"gpugate_admission_duration_seconds_sum{webhook=\"validate\"}",
		"3.2",
		NULL,
	};
	struct timespec a, b;
	double ns;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	for (int i = 0; i < EACH; i++)
		request(*state, "mutate", "Warm.up", "allow", 40000);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	ns = ((double)(b.tv_sec - a.tv_sec) * 1e9 +
	      (double)(b.tv_nsec - a.tv_nsec)) /
	     EACH;
	print_message("one count, alone: %.0f ns\n", ns);
	clock_gettime(CLOCK_MONOTONIC, &a);
	run_threads(*state, hammer);
	clock_gettime(CLOCK_MONOTONIC, &b);
	ns = ((double)(b.tv_sec - a.tv_sec) * 1e9 +
	      (double)(b.tv_nsec - a.tv_nsec)) /
	     (THREADS * EACH);
	print_message("one count, %d threads, by the clock: %.0f ns\n", THREADS,
		      ns);
	metrics_count_request(*state,
			      &(struct metrics_request){.webhook = "mutate",
							.operation = "CREATE",
							.kind = "Pod",
							.decision = "allow"});
	check_page(*state, wanted);
}

static void threads_agree_on_new_names(void **state)
{
	unsigned long sum = 0;
	char *page;

	run_threads(*state, hammer_new_names);
	check_page(*state, NULL);
	page = page_of(*state);
	for (const char *at = page;
	     (at = strstr(at, "\ngpugate_findings_total{")); at++)
		sum += strtoul(strstr(at, "} ") + 2, NULL, 10);
	free(page);
	assert_int_equal(sum, THREADS * 3000);
}

/* The reader of this test must reject wrong pages. */
static void the_strict_reader_rejects_wrong_pages(void **state)
{
	static const char *const pages[] = {
		"",
		"a 1\n",
		"# HELP a b\n# TYPE a gauge\na 1",
		"# HELP a b\n# TYPE a gauge\na 1\na 1\n",
		"# HELP a b\n# TYPE a gauge\na{x=\"\\t\"} 1\n",
		"# HELP a b\n# TYPE a gauge\na{x=\"1\",x=\"2\"} 1\n",
		"# HELP a b\n# TYPE a gauge\na one\n",
		"# HELP a b\n# TYPE a counter\na 1\n",
		"# HELP a b\n# TYPE a gauge\n# HELP c d\n# TYPE c gauge\na 1\n",
		"# HELP a b\n# TYPE a histogram\na_bucket{le=\"+Inf\"} 2\n"
		"a_sum 1\na_count 1\n",
		"# HELP a b\n# TYPE a histogram\na_bucket{le=\"1\"} 2\n"
		"a_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 1\n",
		"# HELP a b\n# TYPE a gauge\na{x=\"\xff\"} 1\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
		FILE *file =
			popen("python3 tests/check/metrics_page.py /dev/stdin "
			      ">/dev/null 2>&1",
			      "w");

		assert_non_null(file);
		fputs(pages[i], file);
		assert_int_not_equal(pclose(file), 0);
	}
}

#define WITH(f) cmocka_unit_test_setup_teardown(f, new_metrics, free_metrics)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WITH(a_new_page_is_whole),
		WITH(every_family_of_the_contract_is_there),
		WITH(rules_are_known_beforehand),
		WITH(process_figures_are_sane),
		WITH(requests_and_durations),
		WITH(findings_patches_and_the_rest),
		WITH(a_lost_cluster_state_has_no_age),
		WITH(exemptions_are_replaced),
		WITH(hostile_values),
		WITH(floods_are_capped),
		WITH(a_full_table_counts_on),
		WITH(threads_lose_nothing),
		WITH(threads_agree_on_new_names),
		WITH(the_strict_reader_rejects_wrong_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
