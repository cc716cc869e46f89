/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts that can be read only once: standard input, and pipes that were named
 * (`<(helm template x)`). They are read before anything else and stay in
 * memory, since a report reads files with findings again.
 */
#ifndef LINT_KEPT_H
#define LINT_KEPT_H

#include "files.h"
#include "input.h"

struct kept_text {
	uint32_t file;
	struct buf text;
};

struct kept {
	struct kept_text *items;
	size_t n, size;
};

/* Read all files with FILE_KEPT; what fails is noted in the file. */
void kept_read(struct kept *kept, struct files *files);
/* NULL: it is none of these files. */
const struct buf *kept_find(const struct kept *kept, size_t file);
void kept_release(struct kept *kept);

#endif
