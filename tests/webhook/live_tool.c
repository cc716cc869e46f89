/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the live cluster state for tests, with a webhook that uses it.
 *
 *	live_tool KUBECONFIG [NAME=MILLISECONDS...]
 *
 * NAME is one of struct live_times, or max_age. Lines on standard input are
 * commands, each answered by a line: `status`, `wait` (for the first state),
 * `write FILE` (as gpugate snapshot does), `forget` (the longest verdict),
 * `quit`.
 *
 * A second thread asks the webhook for one verdict after the other and counts
 * those that took more than 5 ms. On a busy machine the scheduler makes some
 * late. So a third thread does the same with a webhook whose state never
 * changes: if the second thread has more late verdicts than the third, changes
 * of the state cause them.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/registry.h"
#include "kube/cluster/cluster.h"
#include "webhook/admission/admission.h"
#include "webhook/api/api.h"
#include "webhook/cluster/live.h"

enum { LATE_US = 5000 };

/* A thread that queries a webhook. */
struct judging {
	struct admission *admission;
	pthread_t thread;
	atomic_bool stop;
	_Atomic uint64_t verdicts, late, longest; /* longest: microseconds */
	_Atomic unsigned status;
};

struct tool {
	struct live *live;
	pthread_mutex_t lock;
	const struct cluster *cluster;
	int64_t max_age; /* seconds */
	struct judging now, still;
};

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void take_over(void *context, const struct cluster *cluster)
{
	struct tool *tool = context;
	const struct cluster *old;

	pthread_mutex_lock(&tool->lock);
	old = tool->cluster;
	tool->cluster = cluster;
	pthread_mutex_unlock(&tool->lock);
	/* The webhook `still` keeps the first state. */
	if (!old)
		admission_set_cluster(tool->still.admission,
				      cluster_get(cluster));
	cluster_put(old);
	admission_set_cluster(tool->now.admission, cluster_get(cluster));
}

static const struct cluster *take(struct tool *tool)
{
	const struct cluster *cluster;

	pthread_mutex_lock(&tool->lock);
	cluster = cluster_get(tool->cluster);
	pthread_mutex_unlock(&tool->lock);
	return cluster;
}

#define REVIEW                                                                  \
	"{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\""  \
	",\"request\":{\"uid\":\"u\",\"kind\":{\"group\":\"\",\"version\":"     \
	"\"v1\",\"kind\":\"Pod\"},\"resource\":{\"group\":\"\",\"version\":"    \
	"\"v1\",\"resource\":\"pods\"},\"operation\":\"CREATE\",\"namespace\":" \
	"\"quota-7\",\"name\":\"p\",\"userInfo\":{\"username\":\"u\"},"         \
	"\"object\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{"     \
	"\"name\":\"p\",\"namespace\":\"quota-7\"},\"spec\":{\"containers\":[{" \
	"\"name\":\"c\",\"image\":\"nvcr.io/nvidia/pytorch:24.01-py3\","        \
	"\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"2\"}}}]}}}}"

static void *judge(void *context)
{
	struct judging *j = context;
	struct admission_worker *worker = admission_worker_new(j->admission);

	while (!atomic_load(&j->stop)) {
		uint64_t begin = now_us(), took;
		struct admission_reply reply;

		admission_review(worker, ADMISSION_VALIDATE, REVIEW,
				 strlen(REVIEW), &reply);
		took = now_us() - begin;
		if (took > atomic_load(&j->longest))
			atomic_store(&j->longest, took);
		if (took > LATE_US)
			atomic_fetch_add(&j->late, 1);
		atomic_store(&j->status, reply.status);
		atomic_fetch_add(&j->verdicts, 1);
		usleep(1000);
	}
	admission_worker_free(worker);
	return NULL;
}

static void judging_begin(struct judging *j)
{
	pthread_create(&j->thread, NULL, judge, j);
}

static void judging_end(struct judging *j)
{
	atomic_store(&j->stop, true);
	pthread_join(j->thread, NULL);
}

static void judging_forget(struct judging *j)
{
	atomic_store(&j->verdicts, 0);
	atomic_store(&j->late, 0);
	atomic_store(&j->longest, 0);
}

static void judging_tell(const char *name, struct judging *j)
{
	printf(", \"%s\": {\"verdicts\": %" PRIu64 ", \"late\": %" PRIu64
	       ", \"longest_us\": %" PRIu64 ", \"status\": %u}",
	       name, atomic_load(&j->verdicts), atomic_load(&j->late),
	       atomic_load(&j->longest), atomic_load(&j->status));
}

static long resident_kib(void)
{
	long pages = 0, all;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f && fscanf(f, "%ld %ld", &all, &pages) != 2)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void status(struct tool *tool)
{
	const struct cluster *cluster = take(tool);
	struct live_figures f;

	live_figures(tool->live, &f);
	printf("{\"first\": %s, \"age\": %" PRId64 ", \"relists\": %" PRIu64
	       ", \"events\": %" PRIu64 ", \"published\": %" PRIu64
	       ", \"failures\": %" PRIu64 ", \"rss\": %ld",
	       live_first_state(tool->live) ? "true" : "false", f.age,
	       f.relists, f.events, f.published, f.failures, resident_kib());
	judging_tell("now", &tool->now);
	judging_tell("still", &tool->still);
	printf(", \"taken_at\": %" PRId64,
	       cluster ? cluster_taken_at(cluster) : 0);
	printf(", \"counts\": {");
	for (int i = 0; cluster && i < CLUSTER_KINDS; i++)
		printf("%s\"%s.%s\": %zu", i ? ", " : "",
		       cluster_resource(i)->plural, cluster_resource(i)->group,
		       cluster_count(cluster, i));
	printf("}, \"unreadable\": {");
	for (int i = 0, n = 0; cluster && i < CLUSTER_KINDS; i++)
		if (cluster_unreadable(cluster, i))
			printf("%s\"%s.%s\": \"%.40s\"", n++ ? ", " : "",
			       cluster_resource(i)->plural,
			       cluster_resource(i)->group,
			       cluster_unreadable(cluster, i));
	printf("}}\n");
	cluster_put(cluster);
}

static void write_state(struct tool *tool, const char *path)
{
	const struct cluster *cluster = take(tool);
	FILE *out = cluster ? fopen(path, "w") : NULL;

	if (out) {
		cluster_write(cluster, out);
		fclose(out);
	}
	cluster_put(cluster);
	puts(out ? "written" : "there is no state");
}

static void commands(struct tool *tool)
{
	char line[512];

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strcmp(line, "quit"))
			return;
		if (!strcmp(line, "status")) {
			status(tool);
		} else if (!strcmp(line, "wait")) {
			while (!live_first_state(tool->live))
				usleep(10000);
			puts("first");
		} else if (!strcmp(line, "forget")) {
			judging_forget(&tool->now);
			judging_forget(&tool->still);
			puts("forgotten");
		} else if (!strncmp(line, "write ", 6)) {
			write_state(tool, line + 6);
		} else {
			puts("what?");
		}
		fflush(stdout);
	}
}

static void set_time(struct live_times *times, const char *arg)
{
	const struct {
		const char *name;
		unsigned *at;
	} names[] = {
		{"first=", &times->first},
		{"publish=", &times->publish},
		{"stall=", &times->stall},
		{"retry=", &times->retry},
		{"retry_max=", &times->retry_max},
		{"absent=", &times->absent},
		{"page=", &times->page},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(arg, names[i].name, strlen(names[i].name)))
			*names[i].at = (unsigned)strtoul(
				arg + strlen(names[i].name), NULL, 10);
}

/* Returns the seconds of max_age=MILLISECONDS; 0 without it. */
static int64_t max_age_of(char **args)
{
	for (; *args; args++)
		if (!strncmp(*args, "max_age=", 8))
			return strtol(*args + 8, NULL, 10) / 1000;
	return 0;
}

static struct admission *open_admission(struct metrics *metrics,
					struct log *log)
{
	static struct rule_set rules;
	struct admission_options options = {
		.rules = &rules, .metrics = metrics, .log = log};
	struct admission *admission;

	rules = (struct rule_set){.items = all_rules, .n = all_rules_count};
	admission = admission_new(&options);
	admission_set_policy(admission, policy_default(&rules, "recommended"));
	return admission;
}

/* Keeps the state until the commands end. Returns the exit status. */
static int run(struct tool *tool, const struct live_options *options)
{
	struct err err = {0};
	uint64_t begin;

	tool->live = live_start(options, &err);
	if (!tool->live) {
		fprintf(stderr, "%s\n", err.text);
		return 2;
	}
	live_set_max_age(tool->live, tool->max_age);
	judging_begin(&tool->now);
	judging_begin(&tool->still);
	commands(tool);
	judging_end(&tool->now);
	judging_end(&tool->still);
	begin = now_us();
	live_stop(tool->live);
	fprintf(stderr, "stopped in %" PRIu64 " ms\n",
		(now_us() - begin) / 1000);
	return 0;
}

int main(int argc, char **argv)
{
	struct tool tool = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct live_options options = {.publish = take_over,
				       .context = &tool,
				       .times = live_times_default};
	struct err err = {0};
	struct log *quiet;
	int rc;

	if (argc > 1)
		options.api = api_open(argv[1], &err);
	if (!options.api) {
		fprintf(stderr, "%s\n", argc > 1 ? err.text : "usage");
		return 2;
	}
	for (int i = 2; i < argc; i++)
		set_time(&options.times, argv[i]);
	tool.max_age = max_age_of(argv + 2);
	options.log = log_new(2, LOG_INFO, true);
	options.metrics = metrics_new();
	quiet = log_new(open("/dev/null", O_WRONLY), LOG_ERROR, true);
	tool.now.admission = open_admission(options.metrics, quiet);
	tool.still.admission = open_admission(options.metrics, quiet);
	rc = run(&tool, &options);
	api_close(options.api);
	admission_free(tool.now.admission);
	admission_free(tool.still.admission);
	cluster_put(tool.cluster);
	metrics_free(options.metrics);
	log_free(options.log);
	log_free(quiet);
	return rc;
}
