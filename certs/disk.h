/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small files that hold certificates and keys: read whole, written whole or
 * not at all. Errors name the path and carry errno.
 */
#ifndef CERTS_DISK_H
#define CERTS_DISK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

enum { DISK_LIMIT = 1 << 20 }; /* bytes; a chain has a few thousand */

/* Appends a regular file's bytes: not of a folder or a device, and at most
 * DISK_LIMIT. */
int disk_read(const char *path, struct buf *out, struct err *err);
/* Overwrites with zeros, then releases: for buffers with a private key. */
void disk_wipe(struct buf *buf);

struct disk_file {
	const char *name; /* within the folder */
	const char *data;
	size_t len;
	unsigned mode; /* whatever the umask says */
};

/*
 * Writes n files into a folder, which is created if it is missing. Each file
 * appears under its name complete and synced; the first is renamed only after
 * all are on the disk. Without `replace` no existing file is changed, and
 * either all n files appear or none.
 */
int disk_write(const char *dir, const struct disk_file *files, size_t n,
	       bool replace, struct err *err);

#endif
