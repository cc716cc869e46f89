/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table with open addressing that is at most half full. The keys are
 * hashes already, so that their low bits select the slot.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "counter.h"

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
