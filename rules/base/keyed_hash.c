/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SipHash-1-3 (Aumasson, Bernstein) with the 16 random bytes that the kernel
 * gives every process (AT_RANDOM), so that the author of a manifest cannot
 * choose keys that collide. Results may be used in tables in memory, but not in
 * output.
 */
#include <string.h>
#include <sys/auxv.h>

#include "base/text.h"

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
