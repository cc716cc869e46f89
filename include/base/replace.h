/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a file so that its old content stays until the new one is whole:
 * a temporary file in the same folder, which takes its place when everything
 * was written. What is no regular file (/dev/stdout, a pipe) is written
 * directly.
 *
 * A text that was made from the old one must not undo what somebody else has
 * written meanwhile. The new file and the old one change names in one step,
 * and only then the old one is looked at: when it is not what was read, they
 * change back. While that lasts a lease tells of those who open the old one
 * for writing. What is left: a program that has looked the name up before the
 * step and opens the old file after the last look; a write within the clock
 * tick of the one before (4 ms at most) that leaves the size as it was; and
 * file systems that have neither leases nor this step (NFS, SMB, some FUSE),
 * where the last look comes right before the rename.
 */
#ifndef BASE_REPLACE_H
#define BASE_REPLACE_H

#include <stdio.h>

#include "base/file.h"

struct replace {
	FILE *out;
	char *target, *temporary; /* temporary NULL: written directly */
};

/* 0, or errno. */
int replace_open(struct replace *replace, const char *path);
/* Close and rename. error: what went wrong before, or 0. 0, or errno. */
int replace_finish(struct replace *replace, int error);
/*
 * All of it at once, on the disk before the old file is gone. old: the file
 * that the text was made from, as it was when it was read; NULL: none was.
 * 0, or errno: ESTALE: it is not that file any more, ETXTBSY: another program
 * has it open for writing. The file is as it was then.
 */
int replace_write(const char *path, const struct buf *text,
		  const struct file_stamp *old);
const char *replace_strerror(int error);

#endif
