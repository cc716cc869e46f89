/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads folders with getdents64() into one buffer. stat() is called only for
 * links, and on file systems without types in directory entries. Names are kept
 * in one buffer, because readers of deep trees would otherwise need one
 * allocation per level.
 */
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/path.h"
#include "files.h"
#include "kustomize.h"

enum { DIRENTS = 32 * 1024 };

void listings_init(struct listings *listings)
{
	memset(listings, 0, sizeof(*listings));
	buf_init(&listings->names);
	listings->dirents = array_zalloc(DIRENTS, 1);
}

void listings_release(struct listings *listings)
{
	buf_release(&listings->names);
	free(listings->entries);
	free(listings->dirents);
}

const char *listings_name(const struct listings *listings, size_t i)
{
	return listings->names.data + listings->entries[i].name;
}

static void push(struct listings *listings, const char *name, bool folder,
		 unsigned flags)
{
	*ARRAY_PUSH(listings->entries, listings->n, listings->size) =
		(struct entry){listings->names.len, folder, (uint16_t)flags};
	buf_add(&listings->names, name, strlen(name) + 1);
}

/* Adds an entry that is a link or whose type is unknown (DT_UNKNOWN), if it is
 * a folder or has the name of a manifest. */
static void push_unknown(struct listings *listings, int fd,
			 const struct dirent64 *d)
{
	bool manifest = path_is_manifest(d->d_name);
	bool link = d->d_type == DT_LNK;
	struct stat st;

	if (d->d_type == DT_LNK && !manifest)
		return;
	if (d->d_type == DT_UNKNOWN) {
		if (fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW))
			return;
		if (S_ISDIR(st.st_mode)) {
			push(listings, d->d_name, true, 0);
			return;
		}
		link = S_ISLNK(st.st_mode);
	}
	if (!manifest)
		return;
	if (fstatat(fd, d->d_name, &st, 0))
		push(listings, d->d_name, false, FILE_DANGLING);
	else if (S_ISREG(st.st_mode))
		push(listings, d->d_name, false, link ? FILE_LINK : 0);
}

/* True for a name that is not an entry of the listing: ".", "..", .git and
 * .gpugate.yaml. Records the latter two, .gpugate.yml and .gitignore in the
 * listing. */
static bool look_at_dots(const char *name, struct listing *listing)
{
	if (!name[1] || (name[1] == '.' && !name[2]))
		return true;
	if (!strcmp(name, ".git")) {
		listing->git = true;
		return true;
	}
	if (!strcmp(name, ".gpugate.yaml")) {
		listing->policy = true;
		return true;
	}
	listing->misnamed |= !strcmp(name, ".gpugate.yml");
	listing->gitignore |= !strcmp(name, ".gitignore");
	return false;
}

static void look_at(struct listings *listings, int fd, const struct dirent64 *d,
		    struct listing *listing)
{
	const char *name = d->d_name;

	if (name[0] == '.' && look_at_dots(name, listing))
		return;
	if (d->d_type == DT_DIR)
		push(listings, name, true, 0);
	else if (d->d_type == DT_REG && path_is_manifest(name))
		push(listings, name, false, FILE_REGULAR);
	else if (d->d_type == DT_LNK || d->d_type == DT_UNKNOWN)
		push_unknown(listings, fd, d);
	if (kustomize_name(name))
		listing->kustomization = kustomize_name(name);
	if (chart_name(name))
		listing->chart = chart_name(name);
}

static int by_name(const void *a, const void *b, void *context)
{
	const struct entry *x = a, *y = b;
	const char *names = ((const struct listings *)context)->names.data;
	const char *s = names + x->name, *t = names + y->name;

	while (*s && *s == *t) {
		s++;
		t++;
	}
	return (*s	    ? (unsigned char)*s
		: x->folder ? '/'
			    : 0) -
	       (*t	    ? (unsigned char)*t
		: y->folder ? '/'
			    : 0);
}

int listing_open(int at, const char *name)
{
	return openat(at, name,
		      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void look_at_all(struct listings *listings, int fd, size_t bytes,
			struct listing *listing)
{
	for (size_t at = 0; at < bytes;) {
		const struct dirent64 *d =
			(const void *)(listings->dirents + at);

		look_at(listings, fd, d, listing);
		at += d->d_reclen;
	}
}

int listing_read(struct listings *listings, int fd, struct listing *listing)
{
	ssize_t n;
	int error;

	*listing = (struct listing){.from = listings->n,
				    .names = listings->names.len};
	while ((n = getdents64(fd, (void *)listings->dirents, DIRENTS)) > 0)
		look_at_all(listings, fd, (size_t)n, listing);
	error = n ? errno : 0;
	if (listings->n - listing->from > 1)
		qsort_r(listings->entries + listing->from,
			listings->n - listing->from, sizeof(struct entry),
			by_name, listings);
	return error;
}

void listing_drop(struct listings *listings, const struct listing *listing)
{
	listings->n = listing->from;
	listings->names.len = listing->names;
	if (listings->names.size)
		listings->names.data[listing->names] = '\0';
}
