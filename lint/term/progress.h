/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A progress bar on standard error, for runs longer than a second on a
 * terminal. It is erased at the end.
 */
#ifndef LINT_PROGRESS_H
#define LINT_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
	bool on, shown;
	int64_t start, last; /* in milliseconds */
	unsigned width;
	const char *unit; /* "files" */
};

/* Returns the time of a monotonic clock in milliseconds. */
int64_t progress_clock(void);
void progress_init(struct progress *progress, bool quiet);
void progress_show(struct progress *progress, size_t done, size_t total);
void progress_end(struct progress *progress);

#endif
