/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the JSON reader: json.c implements the grammar, json_scalar.c
 * strings, numbers and words. Only these two files include this header.
 */
#ifndef RULES_DOC_JSON_H
#define RULES_DOC_JSON_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "doc/load.h"

/*
 * The reader works on a copy of the text followed by a block of NULs, so that
 * the next bytes can be read without a check for the end. Strings stay in place
 * in the copy, and their closing quotes become NULs.
 */
struct json_reader {
	struct loader *loader;
	char *text; /* start of the text; all spans count from here */
	char *at, *end;
	struct node *open; /* innermost map or seq that is not closed yet */
	uint32_t depth, nodes, nodes_max;
	uint64_t keys; /* bytes of the keys of open maps and seqs */
	/* sum of the squared lengths of closed maps and seqs, and of the work
	 * for their keys */
	uint64_t breadth;
	uint32_t lengths;		/* of keys and texts, combined by | */
	uint64_t skip_tags;		/* as in the loader, 0 if none */
	struct node *spare, *spare_end; /* taken from the arena in blocks */
};

/* Reports that the bytes from start to end make the text invalid; returns
 * false. */
bool json_refuse(struct json_reader *json, const char *start, const char *end,
		 const char *text);
/* Like json_refuse(), for the single character at p or for the end of the
 * text. */
bool json_refuse_at(struct json_reader *json, const char *p, const char *text);

/* Returns the byte after the character at p, or after the byte at p if it is
 * not a character. */
const char *json_behind(const struct json_reader *json, const char *p);

/* Returns the copy of the loader's text up to end, in its source's arena. */
char *json_reader_text(struct loader *loader, uint32_t end);

/*
 * Reads the string whose opening quote is at json->at and whose first marked
 * byte is at p: decodes its escapes, terminates it by a NUL, and moves json->at
 * past it. Sets *len to the length of its text. Returns false if it is
 * rejected.
 */
bool scan_json_string(struct json_reader *json, char *p, uint32_t *len);
/* Reads the number or word at json->at as the node's value, and moves past it.
 * Returns false if it is rejected. */
bool scan_json_other(struct json_reader *json, struct node *node);
/* Returns the position after the value at p without parsing it, or the end of
 * the text. */
char *json_skip(const struct json_reader *json, char *p);

/* --- marks ----------------------------------------------------------------
 *
 * A mark is the next byte at which a string may end or needs decoding. The
 * search compares several bytes at a time and calls no functions, so that the
 * loop that reads the text keeps its position in registers. In most strings,
 * the first step finds the end.
 */

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
 * the next byte; the highest bit of plain is set for all other bytes. */
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
