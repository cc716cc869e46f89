/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts that stay in memory, because reports read files with findings again:
 * texts that can be read only once (standard input and named pipes, as in
 * `<(helm template x)`), and the unsaved texts of an editor.
 */
#ifndef LINT_STDIN_CACHE_H
#define LINT_STDIN_CACHE_H

#include "lint/files/files.h"
#include "lint/files/input.h"

struct kept_text {
	uint32_t file;
	struct buf text;
};

struct stdin_cache {
	struct kept_text *items;
	size_t n, size;
};

/* Reads all files with FILE_READ_ONCE. Errors are stored in the list of
 * files. */
void stdin_cache_read(struct stdin_cache *stdin_cache, struct files *files);
/* Stores a copy of the text, which is then read in place of the file. */
void stdin_cache_put(struct stdin_cache *stdin_cache, uint32_t file,
		     const char *text, size_t len);
/* Returns the text of the file; NULL if it is not stored. */
const struct buf *stdin_cache_find(const struct stdin_cache *stdin_cache,
				   size_t file);
void stdin_cache_release(struct stdin_cache *stdin_cache);

#endif
