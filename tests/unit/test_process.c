/* SPDX-License-Identifier: Apache-2.0 */
/* The processors and the memory that the limits of a container allow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "webhook/observe/process.h"

static const struct {
	const char *max, *quota, *period; /* NULL: the file does not exist */
	unsigned limit;
} rows[] = {
	{"max 100000\n", NULL, NULL, 0},
	{"100000 100000\n", NULL, NULL, 1},
	{"100001 100000\n", NULL, NULL, 2},
	{"50000 100000\n", NULL, NULL, 1},
	{"1000 100000\n", NULL, NULL, 1},
	{"400000 100000\n", NULL, NULL, 4},
	{"400000\n", NULL, NULL, 0},
	{"400000 0\n", NULL, NULL, 0},
	{"-5 100000\n", NULL, NULL, 0},
	{"9223372036854775807 1\n", NULL, NULL, 65536},
	{"", NULL, NULL, 0},
	{"nonsense\n", NULL, NULL, 0},
	{NULL, "-1\n", "100000\n", 0},
	{NULL, "250000\n", "100000\n", 3},
	{NULL, "250000\n", NULL, 0},
	{NULL, NULL, NULL, 0},
};

static void put(const char *folder, const char *name, const char *text)
{
	char path[200];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	unlink(path);
	if (!text)
		return;
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void a_limit_is_rounded_up(void **state)
{
	char folder[] = "/tmp/gpugate-cgroup-XXXXXX", cpu[64];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(cpu, sizeof(cpu), "%s/cpu", folder);
	assert_int_equal(mkdir(cpu, 0700), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		put(folder, "cpu.max", rows[i].max);
		put(cpu, "cpu.cfs_quota_us", rows[i].quota);
		put(cpu, "cpu.cfs_period_us", rows[i].period);
		print_message("  row %zu\n", i);
		assert_int_equal(process_cpu_limit(folder), rows[i].limit);
	}
	put(cpu, "cpu.cfs_quota_us", NULL);
	put(cpu, "cpu.cfs_period_us", NULL);
	rmdir(cpu);
	rmdir(folder);
	assert_int_equal(process_cpu_limit(folder), 0);
}

static void the_memory_limit_is_a_number_or_none(void **state)
{
	static const struct {
		const char *text;
		size_t limit;
	} limits[] = {
		{"67108864\n", 67108864},
		{"max\n", 0},
		{"9223372036854771712\n", 0}, /* v1: no limit is set */
		{"-1\n", 0},
		{NULL, 0},
	};
	char folder[] = "/tmp/gpugate-cgroup-XXXXXX", memory[64];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(memory, sizeof(memory), "%s/memory", folder);
	assert_int_equal(mkdir(memory, 0700), 0);
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		print_message("  row %zu\n", i);
		put(folder, "memory.max", limits[i].text);
		assert_int_equal(process_memory_limit(folder), limits[i].limit);
		put(folder, "memory.max", NULL);
		put(memory, "memory.limit_in_bytes", limits[i].text);
		assert_int_equal(process_memory_limit(folder), limits[i].limit);
		put(memory, "memory.limit_in_bytes", NULL);
	}
	rmdir(memory);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_limit_is_rounded_up),
		cmocka_unit_test(the_memory_limit_is_a_number_or_none),
	};

	return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
