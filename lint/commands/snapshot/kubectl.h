/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls kubectl as --kubectl, --context and --kubeconfig select it.
 */
#ifndef LINT_KUBECTL_H
#define LINT_KUBECTL_H

#include "base/buf.h"
#include "base/err.h"
#include "lint/options/options.h"

/* Runs kubectl with these arguments (NULL-terminated). Appends its standard
 * output to out and its standard error to errors. Returns its exit status, or
 * -1 with err set. */
int kubectl_run(const struct options *options, const char *const *arguments,
		struct buf *out, struct buf *errors, struct err *err);
/* Rejects values that are empty or look like an option: the user forgot a
 * value, and kubectl would take the next option for it. Returns 0, or 2 after a
 * message. */
int kubectl_check(const struct options *options, const char *command);

#endif
