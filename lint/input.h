/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a manifest into a buffer that is used again for the next one: no
 * fstat(), no mmap(), which cost more than the read of a small file.
 */
#ifndef LINT_INPUT_H
#define LINT_INPUT_H

#include "base/file.h"

/* In place of what input holds. 0, or an errno value as of file_read(). */
int input_read(struct buf *input, int dirfd, const char *path,
	       const struct file_how *how);
int input_read_stdin(struct buf *input);
/* What went wrong, in words: strerror(), or a text of our own. */
const char *input_strerror(int error);

#endif
