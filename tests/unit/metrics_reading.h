/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads values from the metrics page. Included once per program.
 */
#ifndef TESTS_METRICS_READING_H
#define TESTS_METRICS_READING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "webhook/observe/metrics.h"

/* Returns the value of the line that starts with name, or -1. */
static inline double metrics_figure(struct metrics *metrics, const char *name)
{
	struct buf page;
	const char *at;
	char want[120];
	double value = -1;

	buf_init(&page);
	metrics_write(metrics, &page);
	snprintf(want, sizeof(want), "\n%s ", name);
	at = strstr(page.data, want);
	if (at)
		value = strtod(at + strlen(want), NULL);
	buf_release(&page);
	return value;
}

#endif
