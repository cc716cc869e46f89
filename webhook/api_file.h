/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small files that others replace while we run: tokens, certificates. One is
 * read again at each use; what was read last stays in use while the file is
 * away or unreadable.
 */
#ifndef WEBHOOK_API_FILE_H
#define WEBHOOK_API_FILE_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* Appended; -1 also for more than max bytes. */
int api_file_read(const char *path, size_t max, struct buf *out,
		  struct err *err);
/* Make out what the file holds now. -1: it cannot be read, or has not `must`
 * in it; out stays as it is then. */
int api_file_refresh(const char *path, const char *must, struct buf *out,
		     struct err *err);

#endif
