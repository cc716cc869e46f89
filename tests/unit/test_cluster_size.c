/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States of large clusters: bytes per namespace, time to read, time for an
 * answer, and a cost of publishing that depends only on the changes. Prints its
 * measurements, and fails if they exceed a multiple of the budget, which allows
 * for slow machines.
 */
#include "cluster_fixture.h"

#include <malloc.h>
#include <time.h>

#include "base/file.h"

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static size_t heap(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static void add_namespace(struct buf *out, int i)
{
	buf_addf(out,
		 "%s{\"apiVersion\":\"v1\",\"kind\":\"Namespace\","
		 "\"metadata\":{\"name\":\"team-%05d\",\"labels\":{"
		 "\"kubernetes.io/metadata.name\":\"team-%05d\"}}},\n"
		 "{\"apiVersion\":\"v1\",\"kind\":\"ResourceQuota\","
		 "\"metadata\":{\"namespace\":\"team-%05d\","
		 "\"name\":\"gpu-quota\"},\"spec\":{\"hard\":{"
		 "\"requests.nvidia.com/gpu\":\"%d\",\"pods\":\"50\"}},"
		 "\"status\":{\"used\":{\"requests.nvidia.com/gpu\":"
		 "\"%d\",\"pods\":\"7\"}}}",
		 i ? ",\n" : "", i, i, i, i % 64, i % 9);
}

static void write_file(struct buf *out, int n)
{
	buf_reset(out);
	buf_adds(out, HEAD ",\"items\":[\n");
	for (int i = 0; i < n; i++)
		add_namespace(out, i);
	buf_adds(out, "]}");
}

/* Returns the nanoseconds of a look-up of one namespace's quotas. */
static double look_up(const struct cluster *c, int n)
{
	enum { TIMES = 200000 };
	struct arena arena = ARENA_INIT;
	double best = 1e9;

	for (int round = 0; round < 3; round++) {
		double start = seconds();

		for (int i = 0; i < TIMES; i++) {
			char name[32];
			size_t found;

			snprintf(name, sizeof(name), "team-%05d",
				 (int)((unsigned)i * 7919u % (unsigned)n));
			cluster_objects(c, CLUSTER_QUOTA, name, &arena, &found);
			assert_int_equal(found, 1);
			arena_reset(&arena);
		}
		if (seconds() - start < best)
			best = seconds() - start;
	}
	arena_release(&arena);
	return best / TIMES * 1e9;
}

static struct cluster *read_file(const struct buf *text, double *time)
{
	const struct cluster_text whole = {"x", text->data, text->len};
	struct err err = {0};
	double start = seconds();
	struct cluster *c = cluster_parse(&whole, NULL, NULL, &err);

	*time = seconds() - start;
	if (!c)
		fail_msg("%s", err.text);
	return c;
}

static void time_and_memory_grow_with_the_cluster(void **state)
{
	static const int sizes[] = {10, 10000, 100000};
	double first = 0;
	struct buf text;

	buf_init(&text);
	for (int i = 0; i < 3; i++) {
		struct cluster *c;
		size_t before, bytes;
		double time, answer;

		write_file(&text, sizes[i]);
		malloc_trim(0);
		before = heap();
		c = read_file(&text, &time);
		bytes = heap() - before;
		answer = look_up(c, sizes[i]);
		printf("%d namespaces: %.1f MB file read in %.0f ms, %zu bytes "
		       "each, %.0f ns an answer\n",
		       sizes[i], (double)text.len / 1e6, time * 1e3,
		       bytes / (size_t)sizes[i], answer);
		if (i)
			assert_true(bytes / (size_t)sizes[i] <= 200);
		if (!i)
			first = answer;
		/* Allows for effects of caches, but not for a linear search,
		 * which would take 10,000 times as long. */
		assert_true(answer < 100 * first + 10000);
		cluster_put(c);
	}
	buf_release(&text);
}

/*
 * The file of a state with 10,000 namespaces and 100,000 owners of pods has
 * less than an eighth of the largest size that is read.
 */
static void a_large_state_is_far_below_the_limit(void **state)
{
	struct err err = {0};
	struct cluster *c;
	struct buf text;

	buf_init(&text);
	write_file(&text, 10000);
	text.data[--text.len] = '\0';
	buf_adds(&text, ",\"usage\":[\n");
	for (int i = 0; i < 100000; i++)
		buf_addf(&text,
			 "%s{\"owner\":{\"apiVersion\":\"batch/v1\",\"kind\":"
			 "\"Job\",\"namespace\":\"team-%05d\",\"name\":"
			 "\"a-training-of-the-%06d\"},\"resources\":{"
			 "\"nvidia.com/gpu\":\"8\"},\"pods\":1}",
			 i ? ",\n" : "", i % 10000, i);
	buf_adds(&text, "]}");
	c = cluster_parse(&(struct cluster_text){"x", text.data, text.len},
			  NULL, NULL, &err);
	if (!c)
		fail_msg("%s", err.text);
	printf("100000 owners of pods: %.1f MB\n", (double)text.len / 1e6);
	assert_true(text.len < FILE_CLUSTER_MAX / 8);
	cluster_put(c);
	buf_release(&text);
}

/* Reads a state in JSON, which is faster than YAML. */
static int add_json(struct cluster_builder *b, const char *text)
{
	struct reading reading;
	int rc = add_root(b, read_text(&reading, text));

	reading_release(&reading);
	return rc;
}

/* Applies 1,000 changes and publishes five snapshots per second, in a cluster
 * of 50,000 pods. */
static void a_large_cluster_changes_quickly(void **state)
{
	enum { SIZE = 50000, CHANGES = 1000, SNAPSHOTS = 5 };
	struct cluster_builder *b = cluster_builder_new();
	struct cluster *last = NULL;
	double start = 0, time;
	char text[700];

	for (int i = 0; i < SIZE + CHANGES; i++) {
		if (i == SIZE) {
			last = cluster_builder_finish(b, 0);
			start = seconds();
		}
		snprintf(text, sizeof(text),
			 "{\"apiVersion\":\"v1\",\"kind\":\"ResourceQuota\","
			 "\"metadata\":{\"namespace\":\"team-%05d\",\"name\":"
			 "\"q\"},\"spec\":{\"hard\":{\"requests.nvidia.com/gpu"
			 "\":\"8\"}},\"status\":{\"used\":{"
			 "\"requests.nvidia.com/gpu\":\"%d\"}}}",
			 i * 7919 % SIZE, i >= SIZE ? 5 : 1);
		assert_int_equal(add_json(b, text), 1);
		if (i >= SIZE && i % (CHANGES / SNAPSHOTS) == 0) {
			cluster_put(last);
			last = cluster_builder_finish(b, 0);
		}
	}
	time = seconds() - start;
	printf("%d changes and %d snapshots of %d namespaces: %.1f ms\n",
	       CHANGES, SNAPSHOTS, SIZE, time * 1e3);
	cluster_put(last);
	cluster_builder_free(b);
}

/* Adds a WorkflowTemplate of about that many bytes. */
static int add_template(struct cluster_builder *b, unsigned number, size_t size)
{
	struct buf text;
	int rc;

	buf_init(&text);
	buf_addf(&text,
		 "{apiVersion: argoproj.io/v1alpha1, kind: WorkflowTemplate, "
		 "metadata: {namespace: ml, name: t%u}, spec: {x: ",
		 number);
	for (size_t i = 0; i < size; i++)
		buf_addc(&text, 'x');
	buf_adds(&text, "}}");
	rc = add_object(b, text.data);
	buf_release(&text);
	return rc;
}

static void runtimes_are_bounded(void **state)
{
	enum { SIZE = 60000, FIT = CLUSTER_RUNTIMES_MAX / (SIZE + 100) };
	const struct object_id first = {"argoproj.io/v1alpha1",
					"WorkflowTemplate", "ml", "t0"};
	struct cluster_builder *b = cluster_builder_new();
	struct cluster *c;
	uint64_t key;

	assert_int_equal(add_template(b, 0, CLUSTER_RUNTIME_MAX), -1);
	for (unsigned i = 0; i < FIT; i++)
		assert_int_equal(add_template(b, i, SIZE), 1);
	assert_int_equal(add_template(b, FIT, SIZE), -1);
	/* An existing template may change, and frees memory when it is
	 * removed. */
	assert_int_equal(add_template(b, 0, SIZE - 1), 1);
	assert_int_equal(add_template(b, FIT, SIZE), -1);
	assert_int_equal(cluster_builder_remove(b, &first), 1);
	assert_int_equal(add_template(b, FIT, SIZE), 1);
	/* A template that grows too large is not kept in its old form
	 * either. */
	assert_int_equal(add_template(b, 1, CLUSTER_RUNTIME_MAX), 1);
	c = cluster_builder_finish(b, 0);
	assert_int_equal(cluster_count(c, CLUSTER_WORKFLOW_TEMPLATE), FIT - 1);
	cluster_put(c);
	/* Lists the kind again with only the first template. */
	key = cluster_builder_key(b, CLUSTER_WORKFLOW_TEMPLATE, &first);
	assert_int_equal(
		cluster_builder_keep(b, CLUSTER_WORKFLOW_TEMPLATE, &key, 1),
		FIT - 1);
	for (unsigned i = 0; i < FIT; i++)
		assert_int_equal(add_template(b, i, SIZE), 1);
	cluster_builder_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runtimes_are_bounded),
		cmocka_unit_test(time_and_memory_grow_with_the_cluster),
		cmocka_unit_test(a_large_state_is_far_below_the_limit),
		cmocka_unit_test(a_large_cluster_changes_quickly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
