/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of files to lint, in byte order of their paths; findings refer to
 * files by their index. A path is stored as folder and name, because 100,000 of
 * them must fit into a few megabytes.
 *
 * Paths that were given relative to the current folder are shown in this form,
 * without "./" and repeated slashes.
 */
#ifndef LINT_FILES_H
#define LINT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

enum file_flags {
	FILE_STDIN = 1,
	FILE_FRAGMENT = 2, /* listed as a patch in a kustomization */
	FILE_TEMPLATE = 4, /* skipped: a template */
	FILE_LINTED = 8,
	FILE_DANGLING = 16, /* skipped: a symbolic link without a target */
	FILE_FIXED = 32,    /* changed by --fix, or in --diff */
	FILE_FIX_FAILED = 64,
	FILE_REGULAR = 128,   /* not a pipe or device, and not empty */
	FILE_READ_ONCE = 256, /* a pipe or standard input: see input.h */
	FILE_LINK = 512,      /* a symbolic link */
	/* named on the command line: may link to any place */
	FILE_NAMED = 1024,
	/* another path of a file in the list, see same_file.c */
	FILE_SECOND_NAME = 2048,
	FILE_SECRETS = 4096,	    /* contains secret values */
	FILE_NOT_KUBERNETES = 8192, /* skipped: contains no Kubernetes object */
	FILE_PATCHED = 16384,	    /* in a base that a kustomization patches */
	FILE_SUPERSEDED = 32768,    /* checked as part of a rendered text */
	FILE_RENDERED = 65536, /* the text of a rendered source, not a file */
	FILE_OWN_SET = 131072, /* a rendered text that forms a set by itself */
	/* every chart that its HelmReleases and Applications install was
	 * built */
	FILE_INSTALLS = 262144,
};

struct lint_file {
	const char *name;
	uint32_t folder;
	uint32_t flags;
	/* errno of open() or read(), or EFBIG for a file above the limit */
	uint16_t error;
	uint32_t size; /* number of bytes that were linted */
};

struct lint_folder {
	const char *path; /* path as shown ("" for the current folder) */
	uint32_t policy;  /* index in struct policies */
	uint32_t root;	  /* index in files.roots */
	bool fragments;	  /* a kustomize component, whose files are fragments */
};

/* A folder that the user named, or the folder of a file that the user named. */
struct lint_root {
	const char *real; /* absolute, without symbolic links (NULL: unknown) */
	size_t shown;	  /* length of its path as shown */
};

struct files {
	struct arena arena;
	struct lint_file *items;
	size_t n, size;
	/* number of rendered files, which are at the end of the list and are
	 * sorted separately */
	size_t nrendered;
	struct lint_folder *folders;
	size_t nfolders, folders_size;
	struct lint_root *roots;
	size_t nroots, roots_size;
};

void files_release(struct files *files);
/* Reserves memory for this many more files and folders, so that a large list is
 * not copied while it grows. */
void files_reserve(struct files *files, size_t items, size_t folders);
/* Adds a root: the folder whose path is the first len bytes of path. All
 * folders that are added later belong to it. */
void files_add_root(struct files *files, const char *path, size_t len);
/*
 * Returns the folder inside of which the target of the file must be: the root
 * in which a walk found the file, without symbolic links. Returns NULL if the
 * user named the file itself. If the root's real path is unknown, no target is
 * inside of the result.
 */
const char *files_bound(const struct files *files, size_t file);
/* Removes all but one of several paths to the same file. The list must be
 * sorted. */
void files_drop_repeated(struct files *files);
/* Adds the folder whose path is the first len bytes of path. Returns its
 * index. */
uint32_t files_add_folder(struct files *files, const char *path, size_t len,
			  uint32_t policy);
void files_add(struct files *files, uint32_t folder, const char *name,
	       unsigned flags);
/* Like files_add(), but does not copy the name, which must live as long as the
 * list. */
void files_add_kept(struct files *files, uint32_t folder, const char *name,
		    unsigned flags);
/* Appends the path as shown to out. */
void files_path(const struct files *files, size_t file, struct buf *out);
/* Replaces the content of out by the absolute path. */
void files_absolute(const struct files *files, size_t file, const char *cwd,
		    struct buf *out);
/* Sorts by path and removes files that were added twice. */
void files_sort(struct files *files);
/* Returns the index of the file with this path as shown, or -1. The list must
 * be sorted; rendered files are not found. */
long files_find(const struct files *files, const char *path);

/* path_enter() appends a name to a path; path_leave() cuts it to len bytes. */
void path_enter(struct buf *path, const char *name);
void path_leave(struct buf *path, size_t len);

#endif
