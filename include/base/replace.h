/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a file so that its old content stays until the new content is
 * complete: a temporary file in the same folder takes its place after
 * everything was written. A target that is not a regular file (/dev/stdout, a
 * pipe) is written directly.
 *
 * A text derived from the old file must not undo a concurrent change. The new
 * file and the old one exchange names in one step (RENAME_EXCHANGE), and only
 * then is the old one checked: if it is not the file that was read, they change
 * back. Meanwhile a lease reports programs that open the old file for writing.
 *
 * Not covered: a program that resolved the name before the exchange and opens
 * the old file after the last check; a write within the clock tick of the
 * previous one (4 ms at most) that keeps the size; and file systems with
 * neither leases nor exchanges (NFS, SMB, some FUSE), where the last check
 * comes right before the rename.
 */
#ifndef BASE_REPLACE_H
#define BASE_REPLACE_H

#include <stdio.h>

#include "base/file.h"

struct replace {
	FILE *out;
	char *target, *temporary; /* temporary NULL: written directly */
	struct replace *next;	  /* the next open one */
};

/* Returns 0 or an errno value. The struct must not move until
 * replace_finish(). */
int replace_open(struct replace *replace, const char *path);
/* Closes and renames. error is an earlier error, or 0. Returns 0 or an errno
 * value. */
int replace_finish(struct replace *replace, int error);
/*
 * Replaces a file atomically: the new file is on the disk before the old one is
 * removed. old describes the file that was read, or is NULL if there was none.
 * Returns 0 or errno: ESTALE if the file has changed, ETXTBSY if another
 * program has it open for writing. After an error the file is unchanged.
 */
int replace_write(const char *path, const struct buf *text,
		  const struct file_stamp *old);
const char *replace_strerror(int error);
/* Removes the temporary files, before a program ends early. From then on a
 * thread that opens or finishes a replacement waits endlessly. */
void replace_abandon(void);

#endif
