/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running another program without a shell, and reading its output.
 */
#ifndef LINT_SUBPROCESS_H
#define LINT_SUBPROCESS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/* Limits of a program; 0 or NULL: no limit, our environment. */
struct program_limits {
	unsigned seconds;
	size_t output; /* bytes of standard output */
	char *const *environment;
};

/*
 * Run argv[0] (looked for in PATH); what it writes is added to out, and to
 * errors. Its exit status, or -1 and err when it cannot be run or was killed,
 * as it is, with all that it started, when it goes beyond a limit (NULL: none).
 */
int program_run(const char *const *argv, const struct program_limits *limits,
		struct buf *out, struct buf *errors, struct err *err);
/*
 * Between the two a signal that ends the process (SIGHUP, SIGINT, SIGTERM) ends
 * the programs first: those that run within limits are killed, no other one is
 * started, and program_guard_end() does not return. Meant for callers that have
 * files to remove. Ignored signals stay ignored.
 */
void program_guard_begin(void);
void program_guard_end(void);
/* The path of a program of PATH, appended. false: there is none. */
bool program_find(const char *name, struct buf *path);

#endif
