/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations on sixteen bytes at once, for scans of whole texts. A comparison
 * returns a block with -1 (all bits set) for each byte that matches and 0 for
 * the others, so that results can be combined by & and |. The compiler uses
 * only instructions that every processor of the target has.
 */
#ifndef BASE_BLOCK_H
#define BASE_BLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { BLOCK = 16 };

struct block {
	signed char bytes __attribute__((vector_size(16)));
};

static inline struct block block_read(const char *p)
{
	struct block block;

	memcpy(&block, p, BLOCK);
	return block;
}

static inline struct block block_is(struct block block, char c)
{
	return (struct block){block.bytes == (signed char)c};
}

/* Matches bytes below c. Bytes from 0x80 on count as negative numbers. */
static inline struct block block_below(struct block block, char c)
{
	return (struct block){block.bytes < (signed char)c};
}

static inline struct block block_or(struct block a, struct block b)
{
	return (struct block){a.bytes | b.bytes};
}

static inline struct block block_and(struct block a, struct block b)
{
	return (struct block){a.bytes & b.bytes};
}

static inline struct block block_without(struct block a, struct block b)
{
	return (struct block){a.bytes & ~b.bytes};
}

/* True if any byte is not 0. */
static inline bool block_any(struct block block)
{
	uint64_t halves[2];

	memcpy(halves, &block, BLOCK);
	return (halves[0] | halves[1]) != 0;
}

/* Returns the index of the first byte that is not 0, or BLOCK if there is
 * none. */
static inline unsigned block_first(struct block block)
{
	uint64_t halves[2];

	memcpy(halves, &block, BLOCK);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	halves[0] = __builtin_bswap64(halves[0]);
	halves[1] = __builtin_bswap64(halves[1]);
#endif
	if (halves[0])
		return (unsigned)__builtin_ctzll(halves[0]) / 8;
	if (halves[1])
		return 8 + (unsigned)__builtin_ctzll(halves[1]) / 8;
	return BLOCK;
}

#endif
