/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a manifest into a buffer that is reused for the next one, without
 * fstat() and mmap(), which cost more than reading a small file.
 */
#ifndef LINT_INPUT_H
#define LINT_INPUT_H

#include "base/file.h"

/* Replaces the content of input by the file's. Returns 0, or an errno value
 * like file_read(). */
int input_read(struct buf *input, int dirfd, const char *path,
	       const struct file_how *how);
int input_read_stdin(struct buf *input);
/* True if standard input is a pipe that contains data. If wait is set, waits
 * for data for at most 0.2 seconds. */
bool input_waits(bool wait);
/* Returns a message for the error: that of strerror(), or a text of gpugate. */
const char *input_strerror(int error);

#endif
