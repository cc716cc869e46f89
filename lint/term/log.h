/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages on standard error, one line each: "gpugate: text". Standard output
 * carries the report and nothing else.
 */
#ifndef LINT_LOG_H
#define LINT_LOG_H

#include <stdbool.h>

void log_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Also says how to get help; always returns 2, the exit status. */
int log_usage(const char *command, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* True if a stream is colored. when: auto, always, never. */
bool color_wanted(const char *when, int fd);
/* Number of columns of the terminal at fd; 0 if there is none. */
unsigned terminal_width(int fd);

#endif
