/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads whole files into memory and writes to open files. fstat() is called for
 * the open file, not for its path, which may refer to another file a moment
 * later. O_NONBLOCK lets open() return for a pipe without a writer; it does not
 * affect regular files. If pipes are allowed, the read waits only a short time
 * for the writer: a program that never ends is worse than an error.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"

enum {
	STEP = 64 * 1024 - 1, /* leaves space for a NUL */
	LOOK = 100,	      /* milliseconds between checks for a writer */
	LOOKS = 30,	      /* number of these checks */
};

void file_stamp_take(struct file_stamp *stamp, const struct stat *st)
{
	*stamp = (struct file_stamp){st->st_dev, st->st_ino, st->st_size,
				     st->st_mtim};
}

bool file_stamp_holds(const struct file_stamp *stamp, const struct stat *st)
{
	return stamp->dev == st->st_dev && stamp->ino == st->st_ino &&
	       stamp->size == st->st_size &&
	       stamp->mtime.tv_sec == st->st_mtim.tv_sec &&
	       stamp->mtime.tv_nsec == st->st_mtim.tv_nsec;
}

int file_read_fd(int fd, size_t limit, bool regular, struct buf *out)
{
	size_t start = out->len;

	for (;;) {
		size_t used = out->len - start, room;
		ssize_t n;

		if (out->size < out->len + 2)
			buf_grow(out, out->size > STEP ? out->size : STEP);
		room = out->size - out->len - 1;
		if (room > limit - used)
			room = limit - used + 1;
		n = read(fd, out->data + out->len, room);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		out->len += (size_t)n;
		out->data[out->len] = '\0';
		if (out->len - start > limit)
			return EFBIG;
		if (!n || (regular && (size_t)n < room))
			return 0;
	}
}

/* True for a pipe with a name. The writer of an unnamed pipe exists already. */
static bool is_fifo(const struct stat *st)
{
	struct stat own;
	int fds[2], error;

	if (!S_ISFIFO(st->st_mode) || pipe2(fds, O_CLOEXEC))
		return false;
	error = fstat(fds[0], &own);
	close(fds[0]);
	close(fds[1]);
	return error || own.st_dev != st->st_dev;
}

/*
 * Waits for a named pipe's writer: without data, a pipe without a writer is at
 * its end, one with a writer is not. Returns 0, with the bytes that this check
 * read in out, or EPIPE.
 */
static int wait_for_writer(int fd, struct buf *out)
{
	for (int i = 0; i < LOOKS; i++) {
		char byte;
		ssize_t n;

		if (poll(&(struct pollfd){fd, POLLIN, 0}, 1, LOOK) > 0)
			return 0;
		n = read(fd, &byte, 1);
		if (n > 0)
			buf_add(out, &byte, 1);
		if (n)
			return 0;
	}
	return EPIPE;
}

static int begin_pipe(int fd, struct buf *out)
{
	struct stat st;
	int error = 0;

	if (fstat(fd, &st))
		return errno;
	if (is_fifo(&st))
		error = wait_for_writer(fd, out);
	if (fcntl(fd, F_SETFL, 0))
		return errno;
	return error;
}

/* Checks the type and the size of the open file. Returns 0 or an errno
 * value. */
static int look_at(int fd, const struct file_how *how)
{
	struct stat st;

	if (how->stamp || (!how->may_pipe && !how->known)) {
		if (fstat(fd, &st))
			return errno;
		if (how->stamp)
			file_stamp_take(how->stamp, &st);
		if (how->may_pipe || how->known)
			return 0;
		if (!S_ISREG(st.st_mode))
			return S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
	}
	return 0;
}

static void close_fd(void *fd)
{
	close(*(int *)fd);
}

int file_read(int dirfd, const char *path, const struct file_how *how,
	      struct buf *out)
{
	int fd = openat(dirfd, path,
			O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct escape_guard guard;
	int error;

	if (fd < 0)
		return errno;
	escape_guard(&guard, close_fd, &fd);
	error = look_at(fd, how);
	if (!error && how->may_pipe)
		error = begin_pipe(fd, out);
	if (!error && how->bytes)
		buf_grow(out, how->bytes + 2);
	if (!error)
		error = file_read_fd(fd, how->limit, how->known, out);
	escape_unguard(&guard);
	close(fd);
	return error;
}

int file_load(const char *path, const struct file_how *how, struct buf *out,
	      struct err *err)
{
	int error = file_read(AT_FDCWD, path, how, out);

	if (!error)
		return 0;
	if (error == EINVAL)
		return err_set(err, error, "not a regular file");
	if (error == EPIPE)
		return err_set(err, error, "a pipe that nothing writes to");
	if (error != EFBIG)
		return err_set(err, error, "%s", strerror(error));
	return err_set(err, error, "larger than %zu MiB", how->limit >> 20);
}

int file_write_fd(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}
