/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of Linux and glibc that the linter uses, implemented for macOS. Builds
 * for macOS (deploy/release/cross.sh) include this header before every file,
 * other builds do not. Each part behaves as on Linux in all ways that matter to
 * the linter.
 */
#ifndef PLATFORM_PLATFORM_H
#define PLATFORM_PLATFORM_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define st_mtim st_mtimespec

/* With this value, open() fails for a folder, which cannot be opened for
 * writing, so that callers use mkostemp(). */
#define O_TMPFILE 0
/* Reading from the descriptor of a folder fails as it does with O_PATH. */
#define O_PATH O_RDONLY

/* With these commands, fcntl() fails with EINVAL, as on a Linux without leases,
 * because macOS does not offer leases to programs. */
#undef F_SETLEASE
#undef F_GETLEASE
#define F_SETSIG   1000
#define F_SETLEASE 1001
#define F_GETLEASE 1002

static inline void *memrchr(const void *data, int c, size_t n)
{
	const unsigned char *s = data;

	while (n--)
		if (s[n] == (unsigned char)c)
			return (void *)(uintptr_t)(s + n);
	return NULL;
}

/* macOS 15.4 and later have strchrnul() as well. */
static inline char *platform_strchrnul(const char *s, int c)
{
	const char *at = strchr(s, c);

	return (char *)(uintptr_t)(at ? at : s + strlen(s));
}
#define strchrnul platform_strchrnul

static inline void *reallocarray(void *items, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(items, n * size);
}

/* --- sorting: qsort_r() takes its arguments in another order -------------- */

struct platform_order {
	int (*compare)(const void *a, const void *b, void *context);
	void *context;
};

static inline int platform_compare(void *order, const void *a, const void *b)
{
	const struct platform_order *o = order;

	return o->compare(a, b, o->context);
}

static inline void
platform_sort(void *items, size_t n, size_t size,
	      int (*compare)(const void *, const void *, void *), void *context)
{
	struct platform_order order = {compare, context};

	qsort_r(items, n, size, &order, platform_compare);
}
#define qsort_r platform_sort

/* --- files ---------------------------------------------------------------- */

/* The function that implements readdir(). The system's libraries export it, but
 * its headers do not declare it. */
ssize_t __getdirentries64(int fd, void *entries, size_t size, off_t *position);
#define dirent64 dirent

static inline ssize_t getdents64(int fd, void *entries, size_t size)
{
	off_t position;

	return __getdirentries64(fd, entries, size, &position);
}

#define RENAME_EXCHANGE RENAME_SWAP

static inline int renameat2(int from, const char *old, int to, const char *new,
			    unsigned flags)
{
	int rc = renameatx_np(from, old, to, new, flags);

	if (rc && errno == ENOTSUP)
		errno = ENOSYS;
	return rc;
}

/* A child process that another thread starts between the calls inherits the
 * descriptors. macOS 26 has pipe2(), older releases do not. */
static inline int platform_pipe(int fds[2], int flags)
{
	if (pipe(fds))
		return -1;
	if (flags & O_CLOEXEC) {
		fcntl(fds[0], F_SETFD, FD_CLOEXEC);
		fcntl(fds[1], F_SETFD, FD_CLOEXEC);
	}
	if (flags & O_NONBLOCK) {
		fcntl(fds[0], F_SETFL, O_NONBLOCK);
		fcntl(fds[1], F_SETFL, O_NONBLOCK);
	}
	return 0;
}

#define pipe2 platform_pipe

#define MFD_CLOEXEC 1U

static inline int memfd_create(const char *name, unsigned flags)
{
	char path[] = "/tmp/gpugate.XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);

	(void)name;
	(void)flags;
	if (fd >= 0)
		unlink(path);
	return fd;
}

#endif
