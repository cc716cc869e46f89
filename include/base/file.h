/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that read whole files up to a maximum size and write buffers.
 * Only regular files are read unless the caller allows pipes; reading then
 * waits up to three seconds for the writer of a pipe.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * The largest size of a file that is read, in bytes. The snapshot of a cluster
 * with 10,000 namespaces and 100,000 owners of GPU pods has about 20 MiB.
 */
#define FILE_MANIFEST_MAX ((size_t)64 << 20)
#define FILE_POLICY_MAX	  ((size_t)1 << 20)
#define FILE_BASELINE_MAX ((size_t)256 << 20)
#define FILE_CLUSTER_MAX  ((size_t)256 << 20)

/* Identifies a file and its state when it was read. */
struct file_stamp {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec mtime;
};

struct file_how {
	size_t limit;  /* bytes */
	bool may_pipe; /* named by the user: may be a pipe or device, and
			  reading waits for its writer */
	/* known to be regular and not empty, so that it need not be checked */
	bool known;
	size_t bytes;		  /* expected size, allocated at once, or 0 */
	struct file_stamp *stamp; /* receives the state of the file before it is
				     read; or NULL */
};

/*
 * Appends the file's bytes to out. Returns 0 or an errno value: EISDIR, EINVAL
 * if it is not a regular file, EFBIG if it is larger than the limit, EPIPE for
 * a pipe without a writer.
 */
int file_read(int dirfd, const char *path, const struct file_how *how,
	      struct buf *out);
/* Appends the unread bytes of an open file. If regular is set, a short read
 * ends it. Returns 0 or an errno value, EFBIG if the bytes exceed the limit. */
int file_read_fd(int fd, size_t limit, bool regular, struct buf *out);
/* Like file_read() from the current folder. Returns 0, or -1 and sets err,
 * which does not name the file. */
int file_load(const char *path, const struct file_how *how, struct buf *out,
	      struct err *err);
/* Writes all bytes. Returns 0 or an errno value. */
int file_write_fd(int fd, const void *data, size_t len);

void file_stamp_take(struct file_stamp *stamp, const struct stat *st);
bool file_stamp_holds(const struct file_stamp *stamp, const struct stat *st);

#endif
