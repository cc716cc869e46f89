/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running another program without a shell, and reading its output.
 */
#ifndef LINT_SUBPROCESS_H
#define LINT_SUBPROCESS_H

#include "base/buf.h"
#include "base/err.h"

/*
 * Run argv[0] (looked for in PATH); what it writes is added to out, and to
 * errors. Its exit status, or -1 and err when it cannot be run or was killed.
 */
int program_run(const char *const *argv, struct buf *out, struct buf *errors,
		struct err *err);

#endif
