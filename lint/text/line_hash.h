/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hash of a line by which GitHub code scanning recognizes an alert after
 * lines above it change (partialFingerprints.primaryLocationLineHash). It must
 * be equal to the hash that GitHub's upload tool computes; otherwise alerts are
 * duplicated.
 */
#ifndef LINT_LINE_HASH_H
#define LINT_LINE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "doc/source.h"

/*
 * Counts how often a 64-bit key occurred. Memory grows with the number of
 * different keys, so formats count within one file, never over the run.
 */

/* A counter is initially zero; counter_release() frees its memory. */
struct counter {
	struct counter_slot {
		uint64_t key;
		uint32_t count; /* 0: the slot is empty */
	} * slots;
	size_t n, size; /* size is a power of two */
};

/* Increments the count of the key and returns it. */
uint32_t counter_next(struct counter *counter, uint64_t key);
bool counter_has(const struct counter *counter, uint64_t key);
void counter_reset(struct counter *counter);
void counter_release(struct counter *counter);

enum { LINE_HASH_WINDOW = 100 };

struct line_hash {
	uint64_t hash;
	/* how many lines have this hash so far, including this one */
	uint32_t count;
};

/* Reads the source up to the last requested line, and reads it twice, because
 * only hashes of requested lines are counted. */
struct line_hasher {
	const struct source *source;
	size_t at;	   /* offset of the next byte */
	uint32_t trailing; /* unit to read before that byte (0: none) */
	bool at_start, after_cr;
	/* The last units; the number of a unit modulo LINE_HASH_WINDOW is its
	 * index. */
	struct line_unit {
		uint16_t unit;
		bool starts; /* the unit begins a line */
	} window[LINE_HASH_WINDOW];
	size_t nunits;
	uint64_t hash; /* hash of the window */
	uint32_t line; /* last line that was read (0: none) */
	uint64_t line_hash;
	struct counter wanted, counter; /* counters by hash */
	bool counts;
	struct line_hash found;
};

void line_hasher_init(struct line_hasher *hasher, const struct source *source);
/* Announces a line, from 1, that will be requested; call this for all lines
 * before the first request. Lines may be requested in any order, but going back
 * reads the text again. */
void line_hash_want(struct line_hasher *hasher, uint32_t line);
/* Returns the hash of a line; NULL if the line does not exist. */
const struct line_hash *line_hash_at(struct line_hasher *hasher, uint32_t line);
void line_hasher_release(struct line_hasher *hasher);

#endif
