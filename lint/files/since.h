/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --since: of the files that were found, those that git says changed.
 */
#ifndef LINT_SINCE_H
#define LINT_SINCE_H

#include "base/err.h"
#include "files.h"

/* Keep the files that changed since a git revision. 0, or -1. */
int since_filter(struct files *files, const char *cwd, const char *revision,
		 struct err *err);

#endif
