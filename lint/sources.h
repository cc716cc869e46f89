/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of linted files once more, for excerpts and for comments about
 * findings of set rules. A few are kept, the least recently used goes.
 */
#ifndef LINT_SOURCES_H
#define LINT_SOURCES_H

#include "doc/source.h"
#include "files.h"
#include "kept.h"

enum { SOURCES_KEPT = 4 };

struct sources {
	const struct files *files;
	const struct kept *kept;
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
		  const struct kept *kept);
void sources_release(struct sources *sources);
/* NULL when the file is gone or is not what was linted: places in it would be
 * wrong, and may lie behind its end. Valid for the next SOURCES_KEPT - 1 calls.
 */
struct source *sources_get(struct sources *sources, uint32_t file);

#endif
