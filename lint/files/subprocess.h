/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs another program without a shell, and reads its output.
 */
#ifndef LINT_SUBPROCESS_H
#define LINT_SUBPROCESS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/* Limits of a program and its environment. 0 means no limit, NULL the
 * environment of this process. */
struct program_limits {
	unsigned seconds;
	size_t output; /* bytes of standard output */
	char *const *environment;
};

/*
 * Runs argv[0] (searched in PATH); appends its standard output to out and its
 * standard error to errors. Returns its exit status, or -1 with err set if it
 * cannot be run or was killed. If it exceeds a limit (limits may be NULL), it
 * is killed together with all programs that it started.
 */
int program_run(const char *const *argv, const struct program_limits *limits,
		struct buf *out, struct buf *errors, struct err *err);
/*
 * Between these two calls, a signal that ends the process (SIGHUP, SIGINT,
 * SIGTERM) first kills running programs that have limits and prevents new ones.
 * program_guard_end() then does not return. It is meant for callers that must
 * remove temporary files. Ignored signals stay ignored.
 */
void program_guard_begin(void);
void program_guard_end(void);
/* Sets path to that of the program in PATH. Returns false if there is none. */
bool program_find(const char *name, struct buf *path);

#endif
