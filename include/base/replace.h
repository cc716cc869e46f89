/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces a file only after its new content is complete: everything is written
 * to a temporary file in the same folder, which then takes the name of the
 * target. A target that is not a regular file (/dev/stdout, a pipe) is written
 * directly.
 *
 * New content that was computed from the old file must not undo a change that
 * another program makes at the same time. The new file and the old one exchange
 * names in one step (RENAME_EXCHANGE), and only then is the old one checked: if
 * it is not the file that was read, they change back. Meanwhile a lease (fcntl
 * F_SETLEASE) reports programs that open the old file for writing.
 *
 * Three cases are not covered. A program may have resolved the name before the
 * exchange and open the old file after the last check. A write may come within
 * the clock tick of the previous one (4 ms at most) and keep the size. File
 * systems may have neither leases nor exchanges (NFS, SMB, some FUSE); there,
 * the last check comes right before the rename.
 */
#ifndef BASE_REPLACE_H
#define BASE_REPLACE_H

#include <stdio.h>

#include "base/file.h"

struct replace {
	FILE *out;
	char *target;
	char *temporary;      /* NULL: the target is written directly */
	struct replace *next; /* next open replacement of the process */
};

/* Opens replace->out, by which the new content of path is written. Returns 0 or
 * an errno value. The struct must not move until replace_finish(). */
int replace_open(struct replace *replace, const char *path);
/* Closes the file and renames it to the target. error is an earlier error, or
 * 0. Returns 0 or an errno value. */
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
