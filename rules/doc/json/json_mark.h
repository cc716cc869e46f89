/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a string of JSON can end or is not plain: each byte of the text has a
 * bit, made when the text is copied. The loop that reads the text then calls
 * nothing, and keeps in registers where it is.
 */
#ifndef RULES_DOC_JSON_MARK_H
#define RULES_DOC_JSON_MARK_H

#include <endian.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
	JSON_BLOCK = 64, /* bytes: a bit of marks for each */
	/* With this bit turned, a quote is a blank, and a blank is none: what
	 * is to be marked is a backslash, not ASCII, or less than '!'. */
	JSON_TURN = 2,
};

#ifdef __SSE2__
/* The sign of each byte is what counts: what is not ASCII is negative, and so
 * less than '!' too. */
static inline uint64_t json_mark_16(const char *p)
{
	__m128i w = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i turned = _mm_xor_si128(w, _mm_set1_epi8(JSON_TURN));
	__m128i low = _mm_subs_epi8(turned, _mm_set1_epi8('!'));
	__m128i slash = _mm_cmpeq_epi8(turned, _mm_set1_epi8('\\' ^ JSON_TURN));

	return (unsigned)_mm_movemask_epi8(_mm_or_si128(low, slash));
}
#else
#define JSON_EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Sums of seven bits stay within their byte. What is plain has all signs. */
static inline uint64_t json_mark_8(const char *p)
{
	uint64_t w, low, plain;

	memcpy(&w, p, sizeof(w));
	w = le64toh(w);
	low = (w & JSON_EACH(0x7f)) ^ JSON_EACH(JSON_TURN);
	plain = ~w & (low + JSON_EACH(0x80 - '!')) &
		((low ^ JSON_EACH('\\' ^ JSON_TURN)) + JSON_EACH(0x7f));
	/* The signs, gathered in the highest byte. */
	return ((~plain & JSON_EACH(0x80)) >> 7) *
		       UINT64_C(0x0102040810204080) >>
	       56;
}

static inline uint64_t json_mark_16(const char *p)
{
	return json_mark_8(p) | json_mark_8(p + 8) << 8;
}
#endif

/* Of the block at p. */
static inline uint64_t json_mark_block(const char *p)
{
	if (!p) /* for the analyzer: a text has an address */
		return 0;
	return json_mark_16(p) | json_mark_16(p + 16) << 16 |
	       json_mark_16(p + 32) << 32 | json_mark_16(p + 48) << 48;
}

/* The first byte from at on that is a quote, a backslash, a control character
 * or not ASCII; or the end, which is a NUL. */
static inline size_t json_mark(const uint64_t *marks, size_t at)
{
	uint64_t bits = marks[at / JSON_BLOCK] >> at % JSON_BLOCK;

	if (bits)
		return at + (size_t)__builtin_ctzll(bits);
	at /= JSON_BLOCK;
	while (!(bits = marks[++at]))
		continue;
	return at * JSON_BLOCK + (size_t)__builtin_ctzll(bits);
}

#endif
