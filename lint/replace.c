/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomic replacement. Symbolic links are followed first, so that the file
 * behind the link is replaced and the link stays; the old file's permissions
 * are kept.
 */
#include "replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

static char *temporary_name(const char *target, unsigned try)
{
	const char *slash = strrchr(target, '/');
	int folder = slash ? (int)(slash - target) + 1 : 0;
	char *name;

	/* Of a long name the beginning: all of it has to fit into 255 bytes. */
	if (asprintf(&name, "%.*s.%.200s.%ld-%u", folder, target,
		     target + folder, (long)getpid(), try) < 0)
		BUG("out of memory");
	return name;
}

static int open_temporary(struct replace *r, const struct stat *old)
{
	int fd = -1;

	for (unsigned try = 0; try < 100; try++) {
		r->temporary = temporary_name(r->target, try);
		/* Nobody reads along who might not read the old one. */
		fd = open(r->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			  old ? 0600 : 0666);
		if (fd >= 0 || errno != EEXIST)
			break;
		free(r->temporary);
		r->temporary = NULL;
	}
	/* Owner before mode: chown() takes setuid bits off. Not our file:
	 * the owner and permissions of a new one will do. */
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
	r->target = exists ? realpath(path, NULL) : NULL;
	if (!r->target)
		r->target = strdup(path);
	if (!r->target)
		BUG("out of memory");
	if (exists && !S_ISREG(st.st_mode))
		fd = open(path, O_WRONLY | O_CLOEXEC);
	else
		fd = open_temporary(r, exists ? &st : NULL);
	if (fd >= 0)
		r->out = fdopen(fd, "w");
	if (r->out)
		return 0;
	error = errno;
	if (fd >= 0)
		close(fd);
	release(r);
	return error;
}

int replace_finish(struct replace *r, int error)
{
	if (!error && (fflush(r->out) || ferror(r->out)))
		error = errno ? errno : EIO;
	if (fclose(r->out) && !error)
		error = errno;
	if (r->temporary && !error && rename(r->temporary, r->target))
		error = errno;
	if (r->temporary && error)
		unlink(r->temporary);
	release(r);
	return error;
}

int replace_write(const char *path, const struct buf *text)
{
	struct replace r;
	int error = replace_open(&r, path);

	if (error)
		return error;
	errno = 0;
	if (fwrite(text->data, 1, text->len, r.out) != text->len ||
	    fflush(r.out) || (r.temporary && fsync(fileno(r.out))))
		error = errno ? errno : EIO;
	return replace_finish(&r, error);
}
