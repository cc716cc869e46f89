/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths as text: relative paths, absolute paths, joins. Only path_real()
 * follows links. Functions append to out.
 */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include "base/buf.h"

/* Cleans a path without the file system: "./a//b/" gives "a/b"; "." gives
 * "". */
void path_clean(const char *path, struct buf *out);
/* Joins a folder and a name: for folder "" "name", for "x" "x/name". */
void path_join(const char *folder, const char *name, struct buf *out);
/* Makes a path absolute, without "." and ".."; cwd is absolute. */
void path_absolute(const char *cwd, const char *path, struct buf *out);
/* Gives a path as seen from cwd, possibly "../x"; both are absolute and
 * lexically clean. */
void path_from(const char *cwd, const char *absolute, struct buf *out);

/* Returns realpath(), to be freed; or NULL and sets errno. Aborts if memory
 * runs out. */
char *path_real(const char *path);
/* Length of the part of an absolute folder that is its repository, or 0. */
size_t repository_length(const char *folder);

#endif
