/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions on paths: clean, join, make absolute or relative. They treat a path
 * as text; only path_real() and repository_length() look at the file system.
 * Functions with a parameter out append to it.
 */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Cleans a path as text: "./a//b/" gives "a/b", and "." gives "". */
void path_clean(const char *path, struct buf *out);
/* Joins a folder and a name: "x" and "name" give "x/name", "" and "name" give
 * "name". */
void path_join(const char *folder, const char *name, struct buf *out);
/* Makes a path absolute, without "." and ".."; cwd is absolute. */
void path_absolute(const char *cwd, const char *path, struct buf *out);
/* Appends an absolute path relative to cwd, possibly "../x". Both are absolute
 * and clean. */
void path_from(const char *cwd, const char *absolute, struct buf *out);

/* Returns the result of realpath(), which the caller frees; or NULL and sets
 * errno. Calls OUT_OF_MEMORY() (base/err.h) if memory runs out. */
char *path_real(const char *path);
/* Returns the length of the part of an absolute folder that is the root of its
 * repository, or 0. */
size_t repository_length(const char *folder);
/* True if the name ends in .yaml, .yml or .json. */
bool path_is_manifest(const char *name);

#endif
