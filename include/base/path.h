/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths as text: what they mean relative to one another. Links are not
 * followed but by path_real(). Functions append to out.
 */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include "base/buf.h"

/* Lexical: "./a//b/" gives "a/b"; "." gives "". */
void path_clean(const char *path, struct buf *out);
/* Folder "" or "x", name: "name" or "x/name". */
void path_join(const char *folder, const char *name, struct buf *out);
/* Absolute and without "." and ".."; cwd is absolute. */
void path_absolute(const char *cwd, const char *path, struct buf *out);
/* As seen from cwd, "../x" included; both are absolute and lexically clean. */
void path_from(const char *cwd, const char *absolute, struct buf *out);

/* realpath(), to be freed; NULL and errno, but never for lack of memory. */
char *path_real(const char *path);
/* Length of the part of an absolute folder that is its repository, 0 when it is
 * in none. */
size_t repository_length(const char *folder);

#endif
