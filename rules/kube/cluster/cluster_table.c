/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables that map keyed hashes to blobs, divided into shards. A snapshot shares
 * the shards of the builder; the builder copies a shared shard before it
 * changes it. Equal keys count as equal names: 64-bit hashes under a random key
 * practically never collide. Shards are open-addressed; the key's low bits
 * choose the shard, the others the slot.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cluster_internal.h"

struct shard {
	atomic_uint refs;
	uint32_t n, size; /* size is a power of two */
	struct blob *slots[];
};

static struct blob *blob_get(struct blob *blob)
{
	atomic_fetch_add_explicit(&blob->refs, 1, memory_order_relaxed);
	return blob;
}

static void blob_put(struct blob *blob)
{
	if (atomic_fetch_sub_explicit(&blob->refs, 1, memory_order_acq_rel) ==
	    1)
		free(blob);
}

/* --- shards --------------------------------------------------------------- */

static struct shard *shard_new(uint32_t size)
{
	struct shard *shard =
		array_zalloc(1, sizeof(*shard) + size * sizeof(*shard->slots));

	atomic_init(&shard->refs, 1);
	shard->size = size;
	return shard;
}

static void shard_put(struct shard *shard)
{
	if (!shard || atomic_fetch_sub_explicit(&shard->refs, 1,
						memory_order_acq_rel) != 1)
		return;
	for (uint32_t i = 0; i < shard->size; i++)
		if (shard->slots[i])
			blob_put(shard->slots[i]);
	free(shard);
}

/* Returns the slot that contains the key, or the empty slot for it. */
static struct blob **slot_of(struct shard *shard, uint64_t key)
{
	uint32_t i = (uint32_t)(key / SHARDS);

	for (;; i++) {
		struct blob **slot = &shard->slots[i & (shard->size - 1)];

		if (!*slot || (*slot)->key == key)
			return slot;
	}
}

/* Returns an unshared copy with space for one more entry, without the entry
 * `except`. */
static struct shard *shard_copy(struct shard *old, uint64_t except)
{
	uint32_t size = 2;
	struct shard *copy;

	while (size * 3 / 4 < old->n + 1)
		size *= 2;
	copy = shard_new(size);
	for (uint32_t i = 0; i < old->size; i++) {
		struct blob *blob = old->slots[i];

		if (!blob || blob->key == except)
			continue;
		*slot_of(copy, blob->key) = blob_get(blob);
		copy->n++;
	}
	return copy;
}

static bool is_own(struct shard *shard)
{
	return atomic_load_explicit(&shard->refs, memory_order_acquire) == 1;
}

/* Returns the table's shard for this key, unshared. */
static struct shard *shard_write(struct hash_table *table, uint64_t key)
{
	struct shard **at = &table->shards[key % SHARDS];
	struct shard *old = *at;

	if (!old) {
		*at = shard_new(2);
	} else if (!is_own(old) || old->n + 1 > old->size * 3 / 4) {
		/* No blob has the key 0, so nothing is left out. */
		*at = shard_copy(old, 0);
		shard_put(old);
	}
	return *at;
}

/* --- tables --------------------------------------------------------------- */

const struct blob *table_find(const struct hash_table *table, uint64_t key)
{
	struct shard *shard = table->shards[key % SHARDS];

	return shard ? *slot_of(shard, key) : NULL;
}

void table_put(struct hash_table *table, uint64_t key, const void *data,
	       size_t len)
{
	struct shard *shard = shard_write(table, key);
	struct blob **slot = slot_of(shard, key);
	struct blob *blob = malloc(sizeof(*blob) + len);

	if (!blob || len > UINT32_MAX)
		OUT_OF_MEMORY();
	atomic_init(&blob->refs, 1);
	blob->len = (uint32_t)len;
	blob->key = key;
	memcpy(blob->data, data, len);
	if (*slot) {
		blob_put(*slot);
	} else {
		shard->n++;
		table->n++;
	}
	*slot = blob;
}

bool table_remove(struct hash_table *table, uint64_t key)
{
	struct shard *old = table->shards[key % SHARDS];

	if (!old || !*slot_of(old, key))
		return false;
	table->shards[key % SHARDS] = shard_copy(old, key);
	shard_put(old);
	table->n--;
	return true;
}

void table_share(struct hash_table *dst, const struct hash_table *src)
{
	*dst = *src;
	for (size_t i = 0; i < SHARDS; i++)
		if (dst->shards[i])
			atomic_fetch_add_explicit(&dst->shards[i]->refs, 1,
						  memory_order_relaxed);
}

void table_release(struct hash_table *table)
{
	for (size_t i = 0; i < SHARDS; i++)
		shard_put(table->shards[i]);
	memset(table, 0, sizeof(*table));
}

const struct blob *table_next(const struct hash_table *table, size_t *cursor)
{
	/* The cursor has the shard in its low bits and the slot above them. */
	while (*cursor % SHARDS < SHARDS) {
		size_t s = *cursor % SHARDS, i = *cursor / SHARDS;
		const struct shard *shard = table->shards[s];

		if (!shard || i >= shard->size) {
			if (s + 1 == SHARDS)
				return NULL;
			*cursor = s + 1;
			continue;
		}
		*cursor += SHARDS;
		if (shard->slots[i])
			return shard->slots[i];
	}
	return NULL;
}
