/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rereads linted files, for excerpts and for comments about findings of set
 * rules. A few texts stay in memory; the one that was not used for the longest
 * time is dropped.
 */
#ifndef LINT_SOURCES_H
#define LINT_SOURCES_H

#include "doc/source.h"
#include "lint/files/files.h"
#include "lint/files/stdin_cache.h"

enum { SOURCES_KEPT = 4 };

struct sources {
	const struct files *files;
	const struct stdin_cache *stdin_cache;
	unsigned clock;
	struct source_slot {
		uint32_t file;
		unsigned used; /* 0: empty */
		struct buf input;
		struct arena arena;
		struct source source;
		struct buf path;
	} slots[SOURCES_KEPT];
};

void sources_init(struct sources *sources, const struct files *files,
		  const struct stdin_cache *stdin_cache);
void sources_release(struct sources *sources);
/* Returns NULL if the file is gone or has changed since it was linted: places
 * in it would be wrong, possibly past its end. Valid for the next SOURCES_KEPT
 * - 1 calls. */
struct source *sources_get(struct sources *sources, uint32_t file);

#endif
