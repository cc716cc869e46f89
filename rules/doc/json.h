/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the JSON reader: json.c has the grammar, json_scalar.c strings
 * and numbers. Nothing else includes this.
 */
#ifndef DOC_JSON_H
#define DOC_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "doc/load.h"

struct json {
	struct loader *loader;
	const char *text; /* the first byte that is read: spans count from it */
	bool own;	  /* and it may be written to */
	const char *at, *end;
	const char *last;   /* the byte in front of end */
	const char *wide;   /* in front of it, sixteen bytes can be read */
	struct node *open;  /* innermost map or seq not yet closed */
	struct node **link; /* where its next child belongs */
	uint32_t depth, nodes;
	uint64_t breadth;		/* of what is closed */
	uint64_t skip_lengths;		/* as the loader's, but 0: none */
	struct node *spare, *spare_end; /* taken from the arena in blocks */
};

/* NUL-terminated, escapes decoded. */
struct json_token {
	const char *str;
	uint32_t len;
};

/* Report that the bytes from start to end refuse the text; false. */
bool json_refuse(struct json *json, const char *start, const char *end,
		 const char *text);
/* The same for the one character at p, or for the end of the text. */
bool json_refuse_at(struct json *json, const char *p, const char *text);

/* The byte behind the character at p (behind the byte, if it is none). */
const char *json_behind(const struct json *json, const char *p);

#ifdef __SSE2__
/*
 * One bit for each of the sixteen bytes at p that is a quote, a backslash, a
 * control character or not ASCII: bytes above 0x7f are negative, and so below
 * a blank as controls are. What counts is the sign.
 */
static inline unsigned json_marks(const char *p)
{
	__m128i w = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i low = _mm_subs_epi8(w, _mm_set1_epi8(0x20));
	__m128i quote = _mm_cmpeq_epi8(w, _mm_set1_epi8('"'));
	__m128i slash = _mm_cmpeq_epi8(w, _mm_set1_epi8('\\'));

	return (unsigned)_mm_movemask_epi8(
		_mm_or_si128(low, _mm_or_si128(quote, slash)));
}

/* One bit for each of them that is a quote or a backslash. */
static inline unsigned json_quotes(const char *p)
{
	__m128i w = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i quote = _mm_cmpeq_epi8(w, _mm_set1_epi8('"'));
	__m128i slash = _mm_cmpeq_epi8(w, _mm_set1_epi8('\\'));

	return (unsigned)_mm_movemask_epi8(_mm_or_si128(quote, slash));
}
#endif

/* A string of the text, where the tree may keep it. */
static inline const char *json_keep(struct json *json, const char *start,
				    uint32_t len)
{
	if (!json->own)
		return arena_strndup(json->loader->arena, start, len);
	/* The text is our own: start may be written to. */
	((char *)(uintptr_t)start)[len] = '\0';
	return start;
}

/* The string whose opening quote is at json->at; moves behind it. */
bool scan_json_string(struct json *json, struct json_token *token);
/* The number at json->at into node: type, str, len; moves behind it. */
bool scan_json_number(struct json *json, struct node *node);

#endif
