/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs another program without a shell, and reads its output.
 */
#ifndef LINT_SUBPROCESS_H
#define LINT_SUBPROCESS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/* Limits of a program; 0 or NULL: no limit, the caller's environment. */
struct program_limits {
	unsigned seconds;
	size_t output; /* bytes of standard output */
	char *const *environment;
};

/*
 * Runs argv[0] (searched in PATH); appends its output to out and errors.
 * Returns its exit status, or -1 and err if it cannot be run or was killed. If
 * it exceeds a limit (NULL: none), it is killed with all programs that it
 * started.
 */
int program_run(const char *const *argv, const struct program_limits *limits,
		struct buf *out, struct buf *errors, struct err *err);
/*
 * Between the two, a signal that ends the process (SIGHUP, SIGINT, SIGTERM)
 * first ends the programs: those with limits are killed, no other program is
 * started, and program_guard_end() does not return. Meant for callers that must
 * remove files. Ignored signals stay ignored.
 */
void program_guard_begin(void);
void program_guard_end(void);
/* Appends the path of a program in PATH. Returns false if there is none. */
bool program_find(const char *name, struct buf *path);

#endif
