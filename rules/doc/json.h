/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the JSON reader: json.c has the grammar, json_scalar.c strings
 * and numbers. Nothing else includes this.
 */
#ifndef DOC_JSON_H
#define DOC_JSON_H

#include <endian.h>
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
	char *own;	  /* the same where it may be written to, else NULL */
	const char *at, *end;
	struct node *open; /* innermost map or seq not yet closed */
	bool fresh;	   /* nothing was read yet inside of open */
	uint32_t depth, nodes;
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

#define JSON_EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/*
 * The first byte from p on that is a quote, a backslash, a control character
 * or not ASCII; end when there is none. A borrow can only mark bytes above
 * one that is marked rightly, and the lowest mark is the first byte.
 */
static inline const char *json_plain(const char *p, const char *end)
{
#ifdef __SSE2__
	/* Bytes above 0x7f are negative, below a blank as controls are. */
	for (; end - p >= 16; p += 16) {
		__m128i w = _mm_loadu_si128((const __m128i *)(const void *)p);
		__m128i low = _mm_cmplt_epi8(w, _mm_set1_epi8(0x20));
		__m128i quote = _mm_cmpeq_epi8(w, _mm_set1_epi8('"'));
		__m128i slash = _mm_cmpeq_epi8(w, _mm_set1_epi8('\\'));
		int marks = _mm_movemask_epi8(
			_mm_or_si128(low, _mm_or_si128(quote, slash)));

		if (marks)
			return p + __builtin_ctz((unsigned)marks);
	}
#endif
	for (; end - p >= 8; p += 8) {
		uint64_t w, marks;

		memcpy(&w, p, sizeof(w));
		w = le64toh(w);
		marks = w | (w - JSON_EACH_BYTE(0x20)) |
			((w ^ JSON_EACH_BYTE('"')) - JSON_EACH_BYTE(1)) |
			((w ^ JSON_EACH_BYTE('\\')) - JSON_EACH_BYTE(1));
		marks &= JSON_EACH_BYTE(0x80);
		if (marks)
			return p + (__builtin_ctzll(marks) >> 3);
	}
	while (p < end && (unsigned char)*p >= 0x20 &&
	       (unsigned char)*p < 0x80 && *p != '"' && *p != '\\')
		p++;
	return p;
}

/* A string of the text, where the tree may keep it. */
static inline const char *json_keep(struct json *json, const char *start,
				    uint32_t len)
{
	char *text;

	if (!json->own)
		return arena_strndup(json->loader->arena, start, len);
	text = json->own + (start - json->text);
	text[len] = '\0';
	return text;
}

/* The string whose opening quote is at json->at; moves behind it. */
bool scan_json_string(struct json *json, struct json_token *token);
/* The number at json->at into node: type, str, len; moves behind it. */
bool scan_json_number(struct json *json, struct node *node);

#endif
