/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the next byte at which a JSON string may end or needs decoding, several
 * bytes at a time. It calls no functions, so that the loop that reads the text
 * keeps its position in registers. In most strings, the first step finds the
 * end.
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
	/* Flipping this bit in each byte exchanges quotes and blanks. The bytes
	 * to find are then backslashes, non-ASCII bytes, and bytes less than
	 * '!'. */
	JSON_TURN = 2,
#ifdef __SSE2__
	JSON_STEP = 16, /* bytes per step */
#else
	JSON_STEP = 8,
#endif
};

#ifdef __SSE2__
/* Returns a bit for each byte to find. Only the sign of a byte counts: bytes
 * that are not ASCII are negative and so less than '!' as well. */
static inline unsigned json_mark_step(const char *p)
{
	__m128i w = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i turned = _mm_xor_si128(w, _mm_set1_epi8(JSON_TURN));
	__m128i low = _mm_subs_epi8(turned, _mm_set1_epi8('!'));
	__m128i slash = _mm_cmpeq_epi8(turned, _mm_set1_epi8('\\' ^ JSON_TURN));

	return (unsigned)_mm_movemask_epi8(_mm_or_si128(low, slash));
}
#else
#define JSON_EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Returns a bit for each byte to find. Sums of seven bits do not overflow into
 * the next byte; a plain byte has all bits set. */
static inline unsigned json_mark_step(const char *p)
{
	uint64_t w, low, plain;

	memcpy(&w, p, sizeof(w));
	w = le64toh(w);
	low = (w & JSON_EACH(0x7f)) ^ JSON_EACH(JSON_TURN);
	plain = ~w & (low + JSON_EACH(0x80 - '!')) &
		((low ^ JSON_EACH('\\' ^ JSON_TURN)) + JSON_EACH(0x7f));
	/* Collects the highest bits of all bytes in one byte. */
	return (unsigned)(((~plain & JSON_EACH(0x80)) >> 7) *
				  UINT64_C(0x0102040810204080) >>
			  56);
}
#endif

/* Returns the first byte from p on that is a quote, a backslash, a control
 * character or not ASCII; or the end, which is a NUL. JSON_STEP NULs follow
 * it. */
static inline char *json_mark(char *p)
{
	unsigned bits;

	while (!(bits = json_mark_step(p)))
		p += JSON_STEP;
	return p + (unsigned)__builtin_ctz(bits);
}

#endif
