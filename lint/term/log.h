/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output to a terminal: messages on standard error, colors, and a progress
 * bar.
 */
#ifndef LINT_LOG_H
#define LINT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "engine/finding.h"

/*
 * Messages on standard error, one line each: "gpugate: text". Standard output
 * contains only the report.
 */

void log_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Reports a usage error with a hint at --help. Always returns 2, the exit
 * status. */
int log_usage(const char *command, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* True if output to the stream is colored. when is "auto", "always" or
 * "never". */
bool color_wanted(const char *when, int fd);
/* Returns the number of columns of the terminal at fd; 0 if it is not a
 * terminal. */
unsigned terminal_width(int fd);

enum color {
	COLOR_BOLD,
	COLOR_ERROR,
	COLOR_WARNING,
	COLOR_INFO,
	COLOR_GUTTER,
	COLOR_LABEL,
};
enum color severity_color(enum severity severity);
/* Starts colored text, which paint_end() ends. Does nothing unless `on` is
 * set. */
void paint_begin(struct buf *out, bool on, enum color color);
void paint_end(struct buf *out, bool on);

/*
 * A progress bar on standard error, for runs longer than a second on a
 * terminal. It is erased at the end.
 */

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
