/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions on paths as text. Only the root of a repository and the real path
 * need the file system.
 */
#include "base/path.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

void path_join(const char *folder, const char *name, struct buf *out)
{
	size_t len = strlen(folder);

	buf_add(out, folder, len);
	if (len && folder[len - 1] != '/')
		buf_addc(out, '/');
	buf_adds(out, name);
}

/* Removes the last part of the path that begins at offset start of out. */
static void drop_last(struct buf *out, size_t start)
{
	while (out->len > start && out->data[out->len - 1] != '/')
		out->len--;
	if (out->len > start + 1)
		out->len--;
	out->data[out->len] = '\0';
}

/* Appends the parts of a path. If up is set, ".." removes the part before
 * it. */
static void add_parts(const char *path, struct buf *out, size_t start, bool up)
{
	while (*path) {
		size_t len = strcspn(path, "/");

		if (up && len == 2 && !memcmp(path, "..", 2)) {
			drop_last(out, start);
		} else if (len && !(len == 1 && *path == '.')) {
			if (out->len > start && out->data[out->len - 1] != '/')
				buf_addc(out, '/');
			buf_add(out, path, len);
		}
		path += len;
		path += strspn(path, "/");
	}
}

void path_clean(const char *path, struct buf *out)
{
	size_t start = out->len;

	if (*path == '/')
		buf_addc(out, '/');
	add_parts(path, out, start, false);
}

void path_absolute(const char *cwd, const char *path, struct buf *out)
{
	size_t start = out->len;

	buf_addc(out, '/');
	if (*path != '/')
		add_parts(cwd, out, start, true);
	add_parts(path, out, start, true);
}

void path_from(const char *cwd, const char *absolute, struct buf *out)
{
	size_t common = 0, i = 0;

	/* common is the end of the folders that both paths share, including the
	 * slash. */
	for (;; i++) {
		bool end_a = !cwd[i] || cwd[i] == '/';
		bool end_b = !absolute[i] || absolute[i] == '/';

		if (end_a && end_b)
			common = i;
		if (cwd[i] != absolute[i] || !cwd[i])
			break;
	}
	if (!strcmp(cwd, "/")) {
		buf_adds(out, absolute + 1);
		return;
	}
	for (const char *c = cwd + common; *c; c++)
		if (*c == '/')
			buf_adds(out, "../");
	absolute += common;
	buf_adds(out, *absolute == '/' ? absolute + 1 : absolute);
	if (out->len && out->data[out->len - 1] == '/')
		out->data[--out->len] = '\0';
}

size_t repository_length(const char *folder)
{
	size_t len = strlen(folder);
	struct buf path;

	buf_init(&path);
	while (len) {
		buf_reset(&path);
		buf_add(&path, folder, len);
		buf_adds(&path, "/.git");
		if (!access(path.data, F_OK))
			break;
		while (len && folder[--len] != '/')
			;
	}
	buf_release(&path);
	return len;
}

char *path_real(const char *path)
{
	char *real = realpath(path, NULL);

	if (!real && errno == ENOMEM)
		OUT_OF_MEMORY();
	return real;
}

bool path_is_manifest(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml") ||
		       !strcmp(dot, ".json"));
}
