/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces files atomically. Symbolic links are followed first, so that the
 * target of the link is replaced and the link stays; the old file's permissions
 * are kept.
 */
#include "base/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/path.h"

/* Replacements whose temporary file exists and belongs to this process. */
static struct replace *opened;
static pthread_mutex_t opened_lock = PTHREAD_MUTEX_INITIALIZER;

static void enter(struct replace *r)
{
	pthread_mutex_lock(&opened_lock);
	r->next = opened;
	opened = r;
	bug_set_clean_up(replace_abandon);
	pthread_mutex_unlock(&opened_lock);
}

static void leave(const struct replace *r)
{
	struct replace **at = &opened;

	pthread_mutex_lock(&opened_lock);
	while (*at && *at != r)
		at = &(*at)->next;
	if (*at)
		*at = r->next;
	pthread_mutex_unlock(&opened_lock);
}

void replace_abandon(void)
{
	pthread_mutex_lock(&opened_lock);
	for (const struct replace *r = opened; r; r = r->next)
		unlink(r->temporary);
}

static char *temporary_name(const char *target, unsigned try)
{
	const char *slash = strrchr(target, '/');
	int folder = slash ? (int)(slash - target) + 1 : 0;
	char *name;

	/* A long name is truncated, because the whole name must fit into 255
	 * bytes. */
	if (asprintf(&name, "%.*s.%.200s.%ld-%u", folder, target,
		     target + folder, (long)getpid(), try) < 0)
		OUT_OF_MEMORY();
	return name;
}

static int open_temporary(struct replace *r, const struct stat *old)
{
	int fd = -1;

	for (unsigned try = 0; try < 100; try++) {
		r->temporary = temporary_name(r->target, try);
		/* The temporary file must be readable only by users who could
		 * read the old file. */
		fd = open(r->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			  old ? 0600 : 0666);
		if (fd >= 0 || errno != EEXIST)
			break;
		free(r->temporary);
		r->temporary = NULL;
	}
	/* Set the owner before the mode, because chown() clears setuid bits. If
	 * the file belongs to another user, the owner and permissions of a new
	 * file are accepted. */
	if (fd >= 0 && old &&
	    (fchown(fd, old->st_uid, old->st_gid) ||
	     fchmod(fd, old->st_mode & 07777)))
		fchmod(fd, old->st_mode & 0777);
	return fd;
}

static void release(struct replace *r)
{
	free(r->target);
	free(r->temporary);
	memset(r, 0, sizeof(*r));
}

int replace_open(struct replace *r, const char *path)
{
	struct stat st;
	bool exists = !stat(path, &st);
	int fd, error;

	memset(r, 0, sizeof(*r));
	r->target = exists ? path_real(path) : NULL;
	if (!r->target)
		r->target = strdup(path);
	if (!r->target)
		OUT_OF_MEMORY();
	if (exists && !S_ISREG(st.st_mode))
		fd = open(path, O_WRONLY | O_CLOEXEC);
	else
		fd = open_temporary(r, exists ? &st : NULL);
	if (fd >= 0)
		r->out = fdopen(fd, "w");
	if (r->out) {
		if (r->temporary)
			enter(r);
		return 0;
	}
	error = errno;
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && r->temporary)
		unlink(r->temporary);
	release(r);
	return error;
}

/* --- replacing a file that was read --------------------------------------- */

/* True for a network file system, which may reject a lease although no other
 * program has the file open. */
static bool is_remote(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return true;
	switch ((unsigned long)fs.f_type) {
	case NFS_SUPER_MAGIC:
	case CIFS_SUPER_MAGIC:
	case SMB2_SUPER_MAGIC:
		return true;
	default:
		return false;
	}
}

/*
 * Takes a lease on the file. Returns 0, or ETXTBSY if another program has the
 * file open. Without the right to take a lease, or if a network file system
 * rejects it, returns 0 and takes none. A forked process keeps its parent's
 * files open until exec(), so the function waits up to half a second.
 */
static int lease(int fd, bool *leased)
{
	/* The kernel reports conflicts by a signal, here one that is
	 * ignored. */
	fcntl(fd, F_SETSIG, SIGURG);
	for (long wait = 1; wait <= 256; wait *= 2) {
		struct timespec time = {.tv_nsec = wait * 1000000};

		*leased = !fcntl(fd, F_SETLEASE, F_RDLCK);
		if (*leased || errno != EAGAIN || is_remote(fd))
			return 0;
		nanosleep(&time, NULL);
	}
	return ETXTBSY;
}

static int exchange(const struct replace *r)
{
	return renameat2(AT_FDCWD, r->temporary, AT_FDCWD, r->target,
			 RENAME_EXCHANGE);
}

/*
 * Undoes an exchange after another program's file got the temporary name:
 * exchanges the names again. The file that then gets the temporary name should
 * be this process's new file, `ours`. If it is not, another program has
 * replaced that file in the meantime, and its newer file must keep the name, so
 * the names are exchanged again, and so on.
 */
static void change_back(struct replace *r, struct file_stamp ours)
{
	struct file_stamp expected = ours, put;
	struct stat st;

	while (!lstat(r->temporary, &st)) {
		file_stamp_take(&put, &st);
		if (exchange(r)) {
			/* The target was removed, and with it the old file. */
			if (errno == ENOENT)
				return;
			/* In the worst case, the other program's file keeps the
			 * temporary name. */
			free(r->temporary);
			r->temporary = NULL;
			return;
		}
		if (lstat(r->temporary, &st) ||
		    file_stamp_holds(&expected, &st))
			return;
		expected = put;
	}
}

/* Exchanges the new file with the target. fd is the file that has the target's
 * name. Returns 0 or an errno value. */
static int put_in_place(struct replace *r, int fd, const struct file_stamp *old,
			const struct file_stamp *ours)
{
	bool leased;
	int error = lease(fd, &leased);
	struct stat st;

	if (error)
		return error;
	if (fstat(fd, &st) || !file_stamp_holds(old, &st))
		return ESTALE;
	if (exchange(r)) {
		if (errno == ENOENT)
			return ESTALE;
		if (errno != EINVAL && errno != ENOSYS)
			return errno;
		return rename(r->temporary, r->target) ? errno : 0;
	}
	if (lstat(r->temporary, &st) || !file_stamp_holds(old, &st))
		error = ESTALE;
	else if (leased && fcntl(fd, F_GETLEASE) != F_RDLCK)
		error = ETXTBSY;
	if (error)
		change_back(r, *ours);
	else
		unlink(r->temporary);
	return error;
}

static int replace_old(struct replace *r, const struct file_stamp *old,
		       const struct file_stamp *ours)
{
	int fd = open(r->target, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY |
					 O_NOFOLLOW);
	int error;

	if (fd < 0)
		return errno == ENOENT || errno == ELOOP ? ESTALE : errno;
	error = put_in_place(r, fd, old, ours);
	close(fd);
	return error;
}

/* --- public functions ----------------------------------------------------- */

static int finish(struct replace *r, const struct file_stamp *old, int error)
{
	struct file_stamp ours = {0};
	struct stat st;

	if (!error && (fflush(r->out) || ferror(r->out)))
		error = errno ? errno : EIO;
	if (!error && fstat(fileno(r->out), &st))
		error = errno;
	if (!error)
		file_stamp_take(&ours, &st);
	if (fclose(r->out) && !error)
		error = errno;
	leave(r);
	if (r->temporary && !error && old)
		error = replace_old(r, old, &ours);
	else if (r->temporary && !error && rename(r->temporary, r->target))
		error = errno;
	if (r->temporary && error)
		unlink(r->temporary);
	release(r);
	return error;
}

int replace_finish(struct replace *r, int error)
{
	return finish(r, NULL, error);
}

int replace_write(const char *path, const struct buf *text,
		  const struct file_stamp *old)
{
	struct replace r;
	int error = replace_open(&r, path);

	if (error)
		return error;
	errno = 0;
	if (old && !r.temporary)
		error = ESTALE;
	else if (fwrite(text->data, 1, text->len, r.out) != text->len ||
		 fflush(r.out) || (r.temporary && fsync(fileno(r.out))))
		error = errno ? errno : EIO;
	return finish(&r, old, error);
}

const char *replace_strerror(int error)
{
	switch (error) {
	case ESTALE:
		return "it was changed after it was read";
	case ETXTBSY:
		return "another program has it open for writing";
	default:
		return strerror(error);
	}
}
