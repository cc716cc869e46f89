/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions on bytes and UTF-8, and hashes under a random key. Only ASCII is
 * case-folded, because Kubernetes names, keys and enumerations are ASCII.
 */
#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/array.h"

enum {
	WORD_MAX = 127,	 /* longer differing parts are not compared */
	NEAR_ENOUGH = 3, /* largest distance at which words count as similar */
};

bool text_contains(const char *s, const char *part)
{
	return s && strstr(s, part);
}

static char lower_ascii(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

static bool starts_ci(const char *s, const char *part)
{
	while (*part && lower_ascii(*s) == lower_ascii(*part))
		s++, part++;
	return !*part;
}

/* Searches short texts faster than strcasestr(), whose set-up costs pay off for
 * long ones. */
bool text_contains_ci(const char *s, const char *part)
{
	char first = lower_ascii(*part);
	char capital = first >= 'a' && first <= 'z' ? first - 0x20 : first;

	for (; s && *s; s++)
		if ((*s == first || *s == capital) && starts_ci(s, part))
			return true;
	return s && !first;
}

bool text_lists(const char *list, const char *word)
{
	static const char between[] = " ,";
	size_t len = strlen(word);

	for (const char *p = list; *(p += strspn(p, between));
	     p += strcspn(p, between))
		if (strcspn(p, between) == len && memcmp(p, word, len) == 0)
			return true;
	return false;
}

static unsigned smallest(unsigned a, unsigned b, unsigned c)
{
	if (b < a)
		a = b;
	return c < a ? c : a;
}

/*
 * Returns the Levenshtein distance, or a larger number than limit if it is
 * larger. The matrix is computed row by row; row[j] is the distance to b[0..j).
 * Only cells near the diagonal, where the distance may be within the limit, are
 * computed. na and nb differ by at most limit.
 */
static unsigned edits(const char *a, size_t na, const char *b, size_t nb,
		      unsigned limit)
{
	unsigned row[WORD_MAX + 1], least = 0;

	for (size_t j = 0; j <= nb; j++)
		row[j] = j <= limit ? (unsigned)j : limit + 1;
	for (size_t i = 0; i < na && least <= limit; i++) {
		size_t j = i > limit ? i - limit : 0;
		size_t end = i + limit < nb ? i + limit + 1 : nb;
		unsigned diagonal = row[j];

		row[j] = least = j ? limit + 1 : (unsigned)i + 1;
		for (; j < end; j++) {
			unsigned above = row[j + 1];

			row[j + 1] = smallest(above + 1, row[j] + 1,
					      diagonal + (a[i] != b[j]));
			diagonal = above;
			if (row[j + 1] < least)
				least = row[j + 1];
		}
	}
	return least <= limit ? row[nb] : least;
}

unsigned text_distance(const char *a, const char *b, unsigned limit)
{
	size_t na = strlen(a), nb = strlen(b);
	unsigned distance;

	while (na && nb && *a == *b)
		a++, b++, na--, nb--;
	while (na && nb && a[na - 1] == b[nb - 1])
		na--, nb--;
	if ((na > nb ? na - nb : nb - na) > limit)
		return limit + 1;
	if (na > WORD_MAX || nb > WORD_MAX)
		return limit + 1;
	distance = edits(a, na, b, nb, limit);
	return distance > limit ? limit + 1 : distance;
}

bool text_is_series(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if (*a != *b &&
		    !(isdigit((unsigned char)*a) && isdigit((unsigned char)*b)))
			return false;
	return *a == *b;
}

const char *text_version(const char *text, int *numbers, size_t n)
{
	const char *end = text, *from = text + (*text == 'v');

	for (size_t i = 0; i < n; i++) {
		size_t digits = from ? strspn(from, "0123456789") : 0;

		numbers[i] = -1;
		if (!digits || digits > 9) {
			from = NULL;
			continue;
		}
		numbers[i] = (int)strtol(from, NULL, 10);
		end = from + digits;
		from = *end == '.' ? end + 1 : NULL;
	}
	return end;
}

const char *text_nearest(const char *word, const char *const *names, size_t n)
{
	const char *nearest = NULL;
	unsigned best = NEAR_ENOUGH + 1;
	size_t len = word ? strlen(word) : 0;

	if (n > TEXT_NEAREST_MAX)
		return NULL;
	/* If half of a word differs, it is another word. */
	if (len / 2 < NEAR_ENOUGH)
		best = (unsigned)(len / 2) + 1;
	for (size_t i = 0; word && best && i < n; i++) {
		unsigned distance = text_distance(word, names[i], best - 1);

		if (distance < best) {
			best = distance;
			nearest = names[i];
		}
	}
	return nearest;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void texts_sort(const char **texts, size_t n)
{
	if (n)
		qsort(texts, n, sizeof(*texts), by_text);
}

bool texts_have(const char *const *texts, size_t n, const char *text)
{
	return n && bsearch(&text, texts, n, sizeof(*texts), by_text);
}

static bool is_alphanumeric(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* True for the characters of a label. The length is not limited here, because
 * labels in a subdomain may be longer. */
static bool is_part(const char *s, size_t len)
{
	if (!len || !is_alphanumeric(s[0]) || !is_alphanumeric(s[len - 1]))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!is_alphanumeric(s[i]) && s[i] != '-')
			return false;
	return true;
}

bool text_is_label(const char *s, size_t len)
{
	return len <= 63 && is_part(s, len);
}

bool text_is_subdomain(const char *s, size_t len)
{
	size_t start = 0;

	for (size_t i = 0; i < len; i++) {
		if (s[i] != '.')
			continue;
		if (!is_part(s + start, i - start))
			return false;
		start = i + 1;
	}
	return len <= 253 && is_part(s + start, len - start);
}

bool path_is_below(const char *folder, const char *path)
{
	size_t len = strlen(folder);

	if (len == 1)
		len = 0; /* "/" */
	return !strncmp(path, folder, len) && path[len] == '/';
}

void text_mask_controls(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

const char *text_find(const char *text, size_t len, const char *needle)
{
	size_t n = strlen(needle);
	const char *end = text + len, *at = text;

	while ((size_t)(end - at) >= n &&
	       (at = memchr(at, needle[0], (size_t)(end - at) - n + 1))) {
		if (!memcmp(at, needle, n))
			return at;
		at++;
	}
	return NULL;
}

uint64_t text_hash(const void *data, size_t len, uint64_t seed)
{
	const unsigned char *bytes = data;
	uint64_t hash = seed ? seed : 0xcbf29ce484222325u;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3u;
	return hash;
}

static bool continues(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

size_t utf8_length(const char *s, size_t n)
{
	const unsigned char *u = (const unsigned char *)s;

	if (n == 0)
		return 0;
	if (u[0] < 0x80)
		return 1;
	if (u[0] < 0xc2 || u[0] > 0xf4)
		return 0; /* continuation, overlong, above U+10FFFF */
	if (n < 2 || !continues(u[1]))
		return 0;
	if (u[0] < 0xe0)
		return 2;
	if (n < 3 || !continues(u[2]))
		return 0;
	if (u[0] == 0xe0 && u[1] < 0xa0)
		return 0; /* overlong */
	if (u[0] == 0xed && u[1] > 0x9f)
		return 0; /* surrogate */
	if (u[0] < 0xf0)
		return 3;
	if (n < 4 || !continues(u[3]))
		return 0;
	if (u[0] == 0xf0 && u[1] < 0x90)
		return 0; /* overlong */
	return u[0] == 0xf4 && u[1] > 0x8f ? 0 : 4;
}

uint32_t utf8_code_point(const char *s, size_t n)
{
	static const unsigned char first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t c = (unsigned char)s[0] & first[n];

	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((unsigned char)s[i] & 0x3f);
	return c;
}

bool text_is_hidden(uint32_t c)
{
	static const uint32_t ranges[][2] = {
		{0, 0x1f},	    {0x7f, 0x9f}, /* C1: U+009B starts an escape
						     sequence */
		{0x61c, 0x61c},	    {0x200b, 0x200b}, {0x200e, 0x200f},
		{0x2028, 0x202e}, /* line separators, direction overrides */
		{0x2060, 0x206f},   {0xfeff, 0xfeff}, {0xfff9, 0xfffb},
		{0xe0000, 0xe0fff}, /* tags */
	};

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++)
		if (c >= ranges[i][0] && c <= ranges[i][1])
			return true;
	/* noncharacters at the end of each plane */
	return (c & 0xfffe) == 0xfffe;
}

char *utf8_put(char *out, uint32_t c)
{
	if (c < 0x80) {
		*out++ = (char)c;
		return out;
	}
	if (c < 0x800) {
		*out++ = (char)(0xc0 | c >> 6);
	} else if (c < 0x10000) {
		*out++ = (char)(0xe0 | c >> 12);
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
	} else {
		*out++ = (char)(0xf0 | c >> 18);
		*out++ = (char)(0x80 | (c >> 12 & 0x3f));
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
	}
	*out++ = (char)(0x80 | (c & 0x3f));
	return out;
}

size_t utf8_count(const char *s, size_t n)
{
	const uint64_t ones = 0x0101010101010101u;
	size_t count = 0;

	/* Eight bytes at a time: a continuation byte has bit 7 set and bit 6
	 * clear. */
	while (n >= 8) {
		uint64_t word;

		memcpy(&word, s, 8);
		word = (word >> 7) & ~(word >> 6) & ones;
		count += 8 - ((word * ones) >> 56);
		s += 8;
		n -= 8;
	}
	for (size_t i = 0; i < n; i++)
		count += !continues((unsigned char)s[i]);
	return count;
}

/*
 * SipHash-1-3 (Aumasson, Bernstein) with the 16 random bytes that the kernel
 * gives every process (AT_RANDOM), so that the author of a manifest cannot
 * choose keys that collide. Results may be used in tables in memory, but not in
 * output.
 */

struct sip {
	uint64_t v0, v1, v2, v3;
};

static inline uint64_t rotate(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static inline void sip_round(struct sip *s)
{
	s->v0 += s->v1;
	s->v1 = rotate(s->v1, 13) ^ s->v0;
	s->v0 = rotate(s->v0, 32);
	s->v2 += s->v3;
	s->v3 = rotate(s->v3, 16) ^ s->v2;
	s->v0 += s->v3;
	s->v3 = rotate(s->v3, 21) ^ s->v0;
	s->v2 += s->v1;
	s->v1 = rotate(s->v1, 17) ^ s->v2;
	s->v2 = rotate(s->v2, 32);
}

static void sip_word(struct sip *s, uint64_t word)
{
	s->v3 ^= word;
	sip_round(s);
	s->v0 ^= word;
}

static struct text_key process_key;

/* Runs before main(), so that no second thread exists yet. */
static __attribute__((constructor)) void read_process_key(void)
{
	const void *random = (const void *)getauxval(AT_RANDOM);

	if (random)
		memcpy(&process_key, random, sizeof(process_key));
}

struct text_key text_key_of_process(void)
{
	return process_key;
}

uint64_t text_keyed_hash(const void *data, size_t len)
{
	return text_hash_under(text_key_of_process(), data, len);
}

uint64_t text_hash_under(struct text_key key, const void *data, size_t len)
{
	const char *at = data;
	uint64_t word = 0;
	struct sip s = {
		key.a ^ 0x736f6d6570736575ULL, key.b ^ 0x646f72616e646f6dULL,
		key.a ^ 0x6c7967656e657261ULL, key.b ^ 0x7465646279746573ULL};
	size_t rest = len;

	for (; rest >= 8; rest -= 8, at += 8) {
		memcpy(&word, at, 8);
		sip_word(&s, word);
	}
	word = 0;
	memcpy(&word, at, rest);
	sip_word(&s, word | (uint64_t)len << 56);
	s.v2 ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(&s);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
