/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages on standard error, one line each: "gpugate: text". Standard output
 * contains only the report.
 */
#ifndef LINT_LOG_H
#define LINT_LOG_H

#include <stdbool.h>

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

#endif
