/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the processor time of this thread and the memory of this process,
 * for tests that measure the cost of a review. */
#ifndef TESTS_COST_FIXTURE_H
#define TESTS_COST_FIXTURE_H

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static inline int64_t cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Returns the resident memory in MB. The memory of a review stays resident
 * until the next review. */
static inline long memory_mb(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long all, used = 0;

	if (!file || fscanf(file, "%ld %ld", &all, &used) != 2)
		fail_msg("no statm");
	fclose(file);
	return used * (sysconf(_SC_PAGESIZE) / 1024) / 1024;
}

/* Returns the largest resident memory in MB since the last reset. If reset is
 * set, resets it before, and returns the memory of now. */
static inline long memory_peak_mb(bool reset)
{
	FILE *file = fopen("/proc/self/clear_refs", "w");
	char line[200];
	long kb = 0;

	assert_non_null(file);
	if (reset) {
		malloc_trim(0);
		fputs("5", file);
	}
	fclose(file);
	file = fopen("/proc/self/status", "r");
	assert_non_null(file);
	while (!kb && fgets(line, sizeof(line), file))
		if (!strncmp(line, "VmHWM:", 6))
			kb = strtol(line + 6, NULL, 10);
	fclose(file);
	return kb / 1024;
}

#endif
