/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hash of a line by which GitHub code scanning recognizes an alert after
 * lines above it change (partialFingerprints.primaryLocationLineHash). It must
 * equal the hash that GitHub's upload tool computes, or alerts are duplicated.
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
	uint32_t count; /* number of lines with this hash so far, from 1 */
};

/* Reads the source up to the last requested line, and twice: only hashes of
 * requested lines are counted. */
struct line_hasher {
	const struct source *source;
	size_t at;	   /* the next byte */
	uint32_t trailing; /* a unit that precedes it; 0: none */
	bool at_start, after_cr;
	/* The last units, by their number modulo LINE_HASH_WINDOW. */
	struct line_unit {
		uint16_t unit;
		bool starts; /* a line */
	} window[LINE_HASH_WINDOW];
	size_t nunits;
	uint64_t hash; /* of the window */
	uint32_t line; /* the last line that was read; 0: none */
	uint64_t line_hash;
	struct counter wanted, counter; /* by hash */
	bool counts;
	struct line_hash found;
};

void line_hasher_init(struct line_hasher *hasher, const struct source *source);
/* Announces a line that will be requested, from 1; once all are announced, each
 * may be requested. Any order is allowed, but going back reads the text
 * again. */
void line_hash_want(struct line_hasher *hasher, uint32_t line);
/* Returns NULL if there is no such line. */
const struct line_hash *line_hash_at(struct line_hasher *hasher, uint32_t line);
void line_hasher_release(struct line_hasher *hasher);

#endif
