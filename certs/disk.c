/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads files, and writes sets of files in three steps. All files of a set are
 * written under temporary names in the same folder and synced. Then they are
 * renamed, or linked to their names if they must be new. Finally the folder is
 * synced. After a crash each file is complete, old or new. At worst a temporary
 * file remains, whose name begins with a dot.
 */
#include "disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "base/arena.h"
#include "base/file.h"

/* Allocates the memory at once: growing the buffer would leave copies of a key
 * in the heap. */
int disk_read(const char *path, struct buf *out, struct err *err)
{
	static const struct file_how how = {.limit = DISK_LIMIT};

	buf_grow(out, DISK_LIMIT + 1);
	if (file_load(path, &how, out, err))
		return err_wrap(err, "%s", path);
	return 0;
}

void disk_wipe(struct buf *buf)
{
	if (buf->size)
		OPENSSL_cleanse(buf->data, buf->size);
	buf_release(buf);
}

/* -- writing ------------------------------------------------------------- */

struct set {
	struct arena arena;
	const char *dir;
	int dirfd;
	const struct disk_file *files;
	size_t n;
	char **temps; /* NULL: not written, or already renamed */
};

static int set_fail(const struct set *set, const char *name, struct err *err)
{
	return err_set(err, errno, "%s/%s: %s", set->dir, name,
		       strerror(errno));
}

static int write_temp(struct set *set, size_t i, struct err *err)
{
	const struct disk_file *file = &set->files[i];
	char *temp = arena_printf(&set->arena, ".%s.%ld", file->name,
				  (long)getpid());
	int fd, error;

	unlinkat(set->dirfd, temp, 0); /* left by a process that was killed */
	fd = openat(set->dirfd, temp,
		    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return set_fail(set, temp, err);
	set->temps[i] = temp;
	error = file_write_fd(fd, file->data, file->len);
	if (!error && (fchmod(fd, file->mode) < 0 || fsync(fd) < 0))
		error = errno;
	if (error) {
		close(fd);
		errno = error;
		return set_fail(set, temp, err);
	}
	if (close(fd) < 0)
		return set_fail(set, temp, err);
	return 0;
}

static int put_in_place(struct set *set, size_t i, bool replace,
			struct err *err)
{
	const char *name = set->files[i].name;
	int failed;

	/* link() fails for existing names, on every file system that has
	 * links. */
	if (replace)
		failed = renameat(set->dirfd, set->temps[i], set->dirfd, name);
	else
		failed = linkat(set->dirfd, set->temps[i], set->dirfd, name, 0);
	if (failed)
		return set_fail(set, name, err);
	if (replace)
		set->temps[i] = NULL;
	return 0;
}

static int put_all(struct set *set, bool replace, struct err *err)
{
	for (size_t i = 0; i < set->n; i++) {
		if (put_in_place(set, i, replace, err) == 0)
			continue;
		/*
		 * Removes the files that were linked so far; they did not exist
		 * before.
		 */
		while (!replace && i > 0)
			unlinkat(set->dirfd, set->files[--i].name, 0);
		return -1;
	}
	if (fsync(set->dirfd) < 0)
		return err_set(err, errno, "%s: %s", set->dir, strerror(errno));
	return 0;
}

static int write_set(struct set *set, bool replace, struct err *err)
{
	int result = 0;

	for (size_t i = 0; i < set->n && result == 0; i++)
		result = write_temp(set, i, err);
	if (result == 0)
		result = put_all(set, replace, err);
	for (size_t i = 0; i < set->n; i++) {
		if (set->temps[i])
			unlinkat(set->dirfd, set->temps[i], 0);
	}
	return result;
}

static int open_folder(const char *dir, struct err *err)
{
	int fd;

	if (mkdir(dir, 0777) < 0 && errno != EEXIST)
		return err_set(err, errno, "%s: %s", dir, strerror(errno));
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, errno, "%s: %s", dir, strerror(errno));
	return fd;
}

int disk_write(const char *dir, const struct disk_file *files, size_t n,
	       bool replace, struct err *err)
{
	struct set set = {.dir = dir, .files = files, .n = n};
	struct stat st;
	int result = 0;

	set.dirfd = open_folder(dir, err);
	if (set.dirfd < 0)
		return -1;
	set.temps = ARENA_ARRAY(&set.arena, char *, n);
	/* Look for existing files first: a call that fails because of an
	 * existing file then usually has written nothing. */
	for (size_t i = 0; i < n && !replace && result == 0; i++) {
		if (fstatat(set.dirfd, files[i].name, &st,
			    AT_SYMLINK_NOFOLLOW) == 0) {
			errno = EEXIST;
			result = set_fail(&set, files[i].name, err);
		}
	}
	if (result == 0)
		result = write_set(&set, replace, err);
	close(set.dirfd);
	arena_release(&set.arena);
	return result;
}
