/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts hashes of lines. Computes a rolling hash over the file, as UTF-16
 * units without blanks and tabs, with LF as line end, followed by 0xFFFF and a
 * window of zeros. The hash of a line is that of the window that begins at its
 * first unit: the sum of the units times falling powers of 37, modulo 2 to the
 * power of 64. Lines end at CR, LF and CRLF, as GitHub counts them, unlike
 * kubectl.
 */
#include "line_hash.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

/*
 * A hash table with open addressing that is at most half full. The keys are
 * hashes already, so that their low bits select the slot.
 */

enum { COUNTER_FIRST = 64 };

static struct counter_slot *find_slot(const struct counter *counter,
				      uint64_t key)
{
	size_t i = (size_t)(key ^ key >> 32);

	for (;; i++) {
		struct counter_slot *slot =
			&counter->slots[i & (counter->size - 1)];

		if (!slot->count || slot->key == key)
			return slot;
	}
}

static void grow(struct counter *counter)
{
	struct counter old = *counter;

	counter->size = old.size ? old.size * 2 : COUNTER_FIRST;
	counter->slots = array_zalloc(counter->size, sizeof(*counter->slots));
	for (size_t i = 0; i < old.size; i++) {
		if (old.slots[i].count)
			*find_slot(counter, old.slots[i].key) = old.slots[i];
	}
	free(old.slots);
}

bool counter_has(const struct counter *counter, uint64_t key)
{
	return counter->n && find_slot(counter, key)->count;
}

uint32_t counter_next(struct counter *counter, uint64_t key)
{
	struct counter_slot *slot;

	if (counter->n >= counter->size / 2)
		grow(counter);
	slot = find_slot(counter, key);
	if (!slot->count)
		counter->n++;
	slot->key = key;
	return ++slot->count;
}

void counter_reset(struct counter *counter)
{
	if (counter->n)
		memset(counter->slots, 0,
		       counter->size * sizeof(*counter->slots));
	counter->n = 0;
}

void counter_release(struct counter *counter)
{
	free(counter->slots);
	memset(counter, 0, sizeof(*counter));
}

enum { FACTOR = 37, CLOSED = 0xffff };

/* FACTOR to the power of the length of the window, modulo 2 to the power of
 * 64. */
#define POWER UINT64_C(0xe59cd09a331cdb71)

static void rewind_to_start(struct line_hasher *hasher)
{
	hasher->at = hasher->nunits = 0;
	hasher->trailing = hasher->source->bom ? 0xfeff : 0;
	hasher->at_start = true;
	hasher->after_cr = false;
	hasher->hash = 0;
	hasher->line = 0;
	memset(hasher->window, 0, sizeof(hasher->window));
}

void line_hasher_init(struct line_hasher *hasher, const struct source *source)
{
	*hasher = (struct line_hasher){.source = source};
	rewind_to_start(hasher);
}

/* Stores the hash of the line at whose start the window is. */
static void line_read(struct line_hasher *hasher)
{
	hasher->line++;
	hasher->line_hash = hasher->hash;
	if (hasher->counts && counter_has(&hasher->wanted, hasher->hash))
		hasher->found = (struct line_hash){
			hasher->hash,
			counter_next(&hasher->counter, hasher->hash)};
}

static void add_unit(struct line_hasher *hasher, uint16_t unit)
{
	size_t slot = hasher->nunits++ % LINE_HASH_WINDOW;
	struct line_unit *last = &hasher->window[slot];

	hasher->hash = hasher->hash * FACTOR + unit - POWER * last->unit;
	*last = (struct line_unit){unit, hasher->at_start};
	hasher->at_start = unit == '\n';
	slot = hasher->nunits % LINE_HASH_WINDOW;
	if (hasher->nunits >= LINE_HASH_WINDOW && hasher->window[slot].starts)
		line_read(hasher);
}

/* Reads a character of more than one byte, or a byte that is not UTF-8. Returns
 * its first UTF-16 code unit, and stores a second one in hasher->trailing. */
static uint16_t sequence_unit(struct line_hasher *hasher, const char *s,
			      size_t n)
{
	size_t len = utf8_length(s, n);
	uint32_t c = len ? utf8_code_point(s, len) : 0xfffd;

	hasher->at += len ? len : 1;
	if (c < 0x10000)
		return (uint16_t)c;
	c -= 0x10000;
	hasher->trailing = 0xdc00 + (c & 0x3ff);
	return (uint16_t)(0xd800 + (c >> 10));
}

/* Reads the next unit of the text. Returns false if its bytes have none, or at
 * the end. */
static bool next_unit(struct line_hasher *hasher, uint16_t *unit)
{
	const struct source *source = hasher->source;
	const char *s = source->text + hasher->at;
	bool after_cr = hasher->after_cr;

	if (hasher->trailing) {
		*unit = (uint16_t)hasher->trailing;
		hasher->trailing = 0;
		return true;
	}
	hasher->after_cr = *s == '\r';
	if ((unsigned char)*s >= 0x80) {
		*unit = sequence_unit(hasher, s, source->len - hasher->at);
		return true;
	}
	hasher->at++;
	*unit = *s == '\r' ? '\n' : (uint16_t)*s;
	return *s != ' ' && *s != '\t' && !(after_cr && *s == '\n');
}

/* Reads up to that line, from the start if it was passed already. Returns false
 * if the line does not exist. */
static bool reach(struct line_hasher *hasher, uint32_t line)
{
	const size_t end = hasher->source->len;
	uint16_t unit;

	if (line < hasher->line) {
		rewind_to_start(hasher);
		counter_reset(&hasher->counter);
	}
	while (hasher->line < line && (hasher->at < end || hasher->trailing))
		if (next_unit(hasher, &unit))
			add_unit(hasher, unit);
	if (hasher->line < line && hasher->at == end) {
		hasher->at++;
		add_unit(hasher, CLOSED);
	}
	for (; hasher->line < line && hasher->at <= end + LINE_HASH_WINDOW;
	     hasher->at++)
		add_unit(hasher, 0);
	return hasher->line == line;
}

void line_hash_want(struct line_hasher *hasher, uint32_t line)
{
	if (reach(hasher, line))
		counter_next(&hasher->wanted, hasher->line_hash);
}

const struct line_hash *line_hash_at(struct line_hasher *hasher, uint32_t line)
{
	if (!hasher->counts)
		rewind_to_start(hasher);
	hasher->counts = true;
	return reach(hasher, line) ? &hasher->found : NULL;
}

void line_hasher_release(struct line_hasher *hasher)
{
	counter_release(&hasher->wanted);
	counter_release(&hasher->counter);
}
