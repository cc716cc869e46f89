/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a file so that its old content stays until the new one is whole:
 * a temporary file in the same folder, renamed when everything was written.
 * What is no regular file (/dev/stdout, a pipe) is written directly.
 */
#ifndef LINT_REPLACE_H
#define LINT_REPLACE_H

#include <stdio.h>

#include "base/buf.h"

struct replace {
	FILE *out;
	char *target, *temporary; /* temporary NULL: written directly */
};

/* 0, or errno. */
int replace_open(struct replace *replace, const char *path);
/* Close and rename. error: what went wrong before, or 0. 0, or errno. */
int replace_finish(struct replace *replace, int error);
/* All of it at once, on the disk before the old file is gone. 0, or errno. */
int replace_write(const char *path, const struct buf *text);

#endif
