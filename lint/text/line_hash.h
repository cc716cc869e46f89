/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hash of a line by which GitHub code scanning recognises an alert when
 * lines above it change (partialFingerprints.primaryLocationLineHash). It must
 * equal the one GitHub's upload tool would compute, or alerts double.
 */
#ifndef LINT_LINE_HASH_H
#define LINT_LINE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "doc/source.h"

struct line_hash {
	uint64_t hash;
	uint32_t count; /* of lines with this hash so far, from 1 */
};

struct line_hashes {
	struct line_hash *items; /* line n is items[n - 1] */
	size_t n;
};

void line_hashes_make(struct line_hashes *hashes, const struct source *source);
void line_hashes_release(struct line_hashes *hashes);

#endif
