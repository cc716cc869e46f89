/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts that stay in memory: those that can be read only once (standard input,
 * and pipes that were named: `<(helm template x)`), since a report reads files
 * with findings again, and those that an editor has in place of the file's.
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

/* Read all files with FILE_READ_ONCE; what fails is noted in the file. */
void stdin_cache_read(struct stdin_cache *stdin_cache, struct files *files);
/* Stores a copy of the text to be read instead of the file. */
void stdin_cache_put(struct stdin_cache *stdin_cache, uint32_t file,
		     const char *text, size_t len);
/* NULL: it is none of these files. */
const struct buf *stdin_cache_find(const struct stdin_cache *stdin_cache,
				   size_t file);
void stdin_cache_release(struct stdin_cache *stdin_cache);

#endif
