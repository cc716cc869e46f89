/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small files that hold certificates and keys: each is read as a whole, and
 * written as a whole or not at all. Errors contain the path and errno.
 */
#ifndef CERTS_DISK_H
#define CERTS_DISK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

enum { DISK_LIMIT = 1 << 20 }; /* bytes; a chain has a few thousand */

/* Appends the content of a regular file of at most DISK_LIMIT bytes; fails for
 * folders and devices. */
int disk_read(const char *path, struct buf *out, struct err *err);
/* Overwrites the buffer with zeros and releases it, because it held a private
 * key. */
void disk_wipe(struct buf *buf);

struct disk_file {
	const char *name; /* name in the folder */
	const char *data;
	size_t len;
	unsigned mode; /* mode, independent of the umask */
};

/*
 * Writes n files into a folder, which is created if it is missing. Each file
 * appears under its name complete and synced; the first is renamed only after
 * all are on the disk. Without `replace`, existing files are not changed, and
 * either all n files appear or none.
 */
int disk_write(const char *dir, const struct disk_file *files, size_t n,
	       bool replace, struct err *err);

#endif
