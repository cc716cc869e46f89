/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hash of a line by which GitHub code scanning recognizes an alert when
 * lines above it change (partialFingerprints.primaryLocationLineHash). It must
 * equal the one GitHub's upload tool would compute, or alerts double.
 */
#ifndef LINT_LINE_HASH_H
#define LINT_LINE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "counter.h"
#include "doc/source.h"

enum { LINE_HASH_WINDOW = 100 };

struct line_hash {
	uint64_t hash;
	uint32_t count; /* of lines with this hash so far, from 1 */
};

/* Reads the source as far as the last line that is asked for, and twice: counts
 * are kept of those hashes alone that some wanted line has. */
struct line_hasher {
	const struct source *source;
	size_t at;	   /* the next byte */
	uint32_t trailing; /* a unit that comes before it, 0: none */
	bool at_start, after_cr;
	/* The last units, by their number modulo LINE_HASH_WINDOW. */
	struct line_unit {
		uint16_t unit;
		bool starts; /* a line */
	} window[LINE_HASH_WINDOW];
	size_t nunits;
	uint64_t hash; /* of the window */
	uint32_t line; /* the last one that was read, 0: none */
	uint64_t line_hash;
	struct counter wanted, counter; /* by hash */
	bool counts;
	struct line_hash found;
};

void line_hasher_init(struct line_hasher *hasher, const struct source *source);
/* Each line that will be asked for, from 1; then each may be asked for. Their
 * order is free, but where it is not theirs in the text this is read again. */
void line_hash_want(struct line_hasher *hasher, uint32_t line);
/* NULL: there is no such line. */
const struct line_hash *line_hash_at(struct line_hasher *hasher, uint32_t line);
void line_hasher_release(struct line_hasher *hasher);

#endif
