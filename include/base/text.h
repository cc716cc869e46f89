/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small functions on texts that several layers use. Only functions with an
 * arena parameter allocate.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"

/* Compares the first two bytes inline, because they nearly always differ. NULL
 * equals only NULL. */
static inline bool text_eq(const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	return *a == *b && (!*a || (a[1] == b[1] && strcmp(a, b) == 0));
}

/* memcmp() for short texts: comparing two words costs less than a call. */
static inline bool text_same_bytes(const char *a, const char *b, size_t len)
{
	uint64_t x, y;
	uint32_t u, v;

	if (len > 16 || !len)
		return memcmp(a, b, len) == 0;
	if (len < 4)
		return a[0] == b[0] && a[len / 2] == b[len / 2] &&
		       a[len - 1] == b[len - 1];
	if (len < 8) {
		memcpy(&u, a, 4);
		memcpy(&v, b, 4);
		if (u != v)
			return false;
		memcpy(&u, a + len - 4, 4);
		memcpy(&v, b + len - 4, 4);
		return u == v;
	}
	memcpy(&x, a, 8);
	memcpy(&y, b, 8);
	if (x != y)
		return false;
	memcpy(&x, a + len - 8, 8);
	memcpy(&y, b + len - 8, 8);
	return x == y;
}

/* True if no byte has the highest bit. */
static inline bool text_is_ascii(const char *text, size_t len)
{
	uint64_t bits = 0, word;

	for (; len >= 8; len -= 8, text += 8) {
		memcpy(&word, text, 8);
		bits |= word;
	}
	for (; len; len--, text++)
		bits |= (unsigned char)*text;
	return !(bits & UINT64_C(0x8080808080808080));
}

static inline const char *text_or_empty(const char *s)
{
	return s ? s : "";
}

static inline bool text_starts(const char *s, const char *prefix)
{
	return s && (!*prefix || (*s == *prefix &&
				  strncmp(s, prefix, strlen(prefix)) == 0));
}

/* True if s ends with the suffix; false for NULL. */
static inline bool text_ends(const char *s, const char *suffix)
{
	size_t n = strlen(suffix), len = s ? strlen(s) : 0;

	return s && len >= n && memcmp(s + len - n, suffix, n) == 0;
}

bool text_contains(const char *s, const char *part);	/* NULL s: false */
bool text_contains_ci(const char *s, const char *part); /* ASCII case folded */
/* True if fits(s, item), for example text_eq() or text_starts(), holds for
 * an item of the list, which ends with NULL. */
static inline bool text_any(const char *s, const char *const *items,
			    bool (*fits)(const char *s, const char *item))
{
	while (*items && !fits(s, *items))
		items++;
	return *items;
}
/*
 * True if word is an item of list, which is separated by blanks or commas. ""
 * is never an item.
 */
bool text_lists(const char *list, const char *word);
/* Returns the Levenshtein distance, or limit + 1 if it is larger than limit, or
 * if the different parts of the texts are too long to compare. */
unsigned text_distance(const char *a, const char *b, unsigned limit);
/*
 * True if the texts are equal or differ only in digits, as mlu270 and mlu370
 * do.
 */
bool text_is_series(const char *a, const char *b);
/* Largest number of names that text_nearest() compares, because the search is
 * slow. */
enum { TEXT_NEAREST_MAX = 500 };
/* Returns the nearest of n names within distance 3, or half the length of a
 * short word, for "did you mean"; NULL if there is none or there are more than
 * TEXT_NEAREST_MAX. */
const char *text_nearest(const char *word, const char *const *names, size_t n);
/* Reads the first n numbers of a version such as "1.37", "v1.4.0" or
 * "1.4.0-rc.1"; absent ones, and numbers of more than 9 digits, are -1. Returns
 * the text after the last one that was read. */
const char *text_version(const char *text, int *numbers, size_t n);
/* texts_sort() sorts texts in the order of strcmp(); texts_have() searches
 * sorted texts. */
void texts_sort(const char **texts, size_t n);
bool texts_have(const char *const *texts, size_t n, const char *text);

/*
 * True for a name by RFC 1123, as Kubernetes validates them
 * (k8s.io/apimachinery, validation.go), so that it can neither leave the path
 * of a URL nor begin with a dash. A label, such as the name of a namespace, has
 * at most 63 bytes. A subdomain, the name of most other objects and of API
 * groups, is labels joined by dots, at most 253 bytes.
 */
bool text_is_label(const char *s, size_t len);
bool text_is_subdomain(const char *s, size_t len);

/* True if path is in the folder. Both are absolute and without "." and "..". */
bool path_is_below(const char *folder, const char *path);

/* Replaces each ASCII control character by `?`. */
void text_mask_controls(char *text);
/*
 * Like memmem(), for needles whose first byte is rare: finds candidates by
 * memchr(), which is several times faster than libc's memmem() for short
 * needles.
 */
const char *text_find(const char *text, size_t len, const char *needle);

/* Returns the 64-bit FNV-1a hash of data. seed is 0, or an earlier result to
 * continue it. */
uint64_t text_hash(const void *data, size_t len, uint64_t seed);
/* Returns a hash that differs in every process, for tables whose keys the
 * author of a manifest chooses. */
uint64_t text_keyed_hash(const void *data, size_t len);
/* The key of a hash. The hash under text_key_of_process() is that of
 * text_keyed_hash(). */
struct text_key {
	uint64_t a, b;
};
struct text_key text_key_of_process(void);
uint64_t text_hash_under(struct text_key key, const void *data, size_t len);

/*
 * Returns the length in bytes of the UTF-8 sequence at s (at most n bytes), 0
 * if it is invalid (overlong, surrogate, above U+10FFFF, cut off).
 */
size_t utf8_length(const char *s, size_t n);
/* Returns the number of code points in n bytes of valid UTF-8. */
size_t utf8_count(const char *s, size_t n);
/* Returns the code point of a valid sequence of n bytes. */
uint32_t utf8_code_point(const char *s, size_t n);
/* True for control characters, and for characters that affect the text around
 * them or are invisible: direction overrides, separators, tags,
 * noncharacters. */
bool text_is_hidden(uint32_t c);
/*
 * Writes a code point, at most 4 bytes; returns the end of the written bytes.
 */
char *utf8_put(char *out, uint32_t c);

#endif
