/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live cluster state without a door, for tests:
 *
 *	live_tool KUBECONFIG [NAME=MILLISECONDS...]
 *
 * NAME is one of struct live_times. Lines on standard input are commands,
 * each answered by a line: `status`, `write FILE` (as gpugate snapshot does),
 * `unreadable KIND`, `wait` (for the first state), `quit`. A second thread
 * takes the state and looks something up, as verdicts do, and keeps the
 * longest time that took.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../webhook/api.h"
#include "kube/cluster.h"
#include "webhook/live.h"

struct tool {
	struct live *live;
	pthread_mutex_t lock;
	const struct cluster *cluster;
	atomic_bool stop;
	_Atomic uint64_t longest, looks; /* microseconds */
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
	cluster_put(old);
}

static const struct cluster *take(struct tool *tool)
{
	const struct cluster *cluster;

	pthread_mutex_lock(&tool->lock);
	cluster = cluster_get(tool->cluster);
	pthread_mutex_unlock(&tool->lock);
	return cluster;
}

/* What a verdict has to do with the state, timed in CPU time of this thread
 * and what it waits for: the machine may be busy otherwise. */
static void *look(void *context)
{
	struct tool *tool = context;
	struct arena arena = ARENA_INIT;

	while (!atomic_load(&tool->stop)) {
		uint64_t begin = now_us(), took;
		const struct cluster *cluster = take(tool);
		size_t n;

		if (cluster)
			cluster_objects(cluster, CLUSTER_QUOTA, "load-7",
					&arena, &n);
		cluster_put(cluster);
		took = now_us() - begin;
		if (took > atomic_load(&tool->longest))
			atomic_store(&tool->longest, took);
		atomic_fetch_add(&tool->looks, 1);
		arena_reset(&arena);
		usleep(500);
	}
	arena_release(&arena);
	return NULL;
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
	       ", \"failures\": %" PRIu64 ", \"rss\": %ld, \"longest_us\": "
	       "%" PRIu64 ", \"looks\": %" PRIu64,
	       live_first_state(tool->live) ? "true" : "false", f.age,
	       f.relists, f.events, f.published, f.failures, resident_kib(),
	       atomic_load(&tool->longest), atomic_load(&tool->looks));
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
			atomic_store(&tool->longest, 0);
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

int main(int argc, char **argv)
{
	struct tool tool = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct live_options options = {.publish = take_over, .context = &tool};
	struct err err = {0};
	struct log *log = log_new(2, LOG_DEBUG, true);
	struct metrics *metrics = metrics_new();
	pthread_t looker;
	uint64_t begin;

	options.api = api_open(
		argc > 1 && strcmp(argv[1], "in-cluster") ? argv[1] : NULL,
		&err);
	if (!options.api) {
		fprintf(stderr, "%s\n", err.text);
		return 2;
	}
	for (int i = 2; i < argc; i++)
		set_time(&options.times, argv[i]);
	options.log = log;
	options.metrics = metrics;
	tool.live = live_start(&options, &err);
	if (!tool.live)
		return 2;
	pthread_create(&looker, NULL, look, &tool);
	commands(&tool);
	atomic_store(&tool.stop, true);
	pthread_join(looker, NULL);
	begin = now_us();
	live_stop(tool.live);
	fprintf(stderr, "stopped in %" PRIu64 " ms\n",
		(now_us() - begin) / 1000);
	api_close(options.api);
	cluster_put(tool.cluster);
	metrics_free(metrics);
	log_free(log);
	return 0;
}
