/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creates lists and maps, and finds keys. Numbers of different kinds are the
 * same key if they are exactly equal (cel-go common/types/map.go). Larger maps
 * have a hash table with open addressing, whose slots contain 1 + index of the
 * entry, or 0.
 */
#include "cel/value.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "value_internal.h"

/*
 * Concatenates lists. A list whose schema has the type `set` or `map` contains
 * each element once (apiserver pkg/cel/common/valuesunstructured.go): if both
 * lists have an element, it stays in its position with the value of the second
 * list.
 */

/* Largest number of items in a list. Each sum costs 1 and may double the
 * length. */
enum { LIST_MAX = 1 << 20 };

static size_t place(struct arena *arena, const struct cel_value *items,
		    size_t n, struct cel_value item, const struct node *keys)
{
	size_t i = 0;

	for (; i < n; i++) {
		if (keys ? cel_same_keys(arena, items[i], item, keys)
			 : cel_is_true(cel_equal(arena, items[i], item)))
			break;
	}
	return i;
}

struct cel_value cel_list_add(struct arena *arena, struct cel_value a,
			      struct cel_value b)
{
	size_t n = cel_size(a), more = cel_size(b);
	struct cel_items *list = ARENA_NEW(arena, struct cel_items);
	struct cel_value *items;
	const struct node *keys;
	bool once = cel_schema_unordered(a.list->schema, &keys);

	if (n + more > LIST_MAX)
		return cel_error(arena, "the list is too long");
	items = arena_alloc(arena, (n + more) * sizeof(*items));
	for (size_t i = 0; i < n; i++)
		items[i] = cel_list_at(arena, a, i);
	for (size_t i = 0; i < more; i++) {
		struct cel_value item = cel_list_at(arena, b, i);
		size_t at = once ? place(arena, items, n, item, keys) : n;

		items[at] = item;
		n += at == n;
	}
	list->values = items;
	list->n = n;
	list->schema = once ? a.list->schema : NULL;
	return (struct cel_value){.kind = CEL_LIST, .list = list};
}

enum { INDEX_FROM = 8, INDEX_LOAD = 2 };

__extension__ bool cel_whole(struct cel_value key, __int128 *out)
{
	if (key.kind != CEL_DOUBLE)
		*out = key.kind == CEL_INT ? key.integer
					   : (__int128)key.uinteger;
	else if (key.real >= -9223372036854775808.0 &&
		 key.real < 18446744073709551616.0)
		*out = (__int128)key.real;
	else
		return false;
	return key.kind != CEL_DOUBLE || (double)*out == key.real;
}

/* True for equal keys. Numbers must be exactly equal, as 1, 1u and 1.0 are. */
static bool is_same(struct cel_value a, struct cel_value b)
{
	__extension__ __int128 x, y;

	if (a.kind == CEL_STRING)
		return b.kind == CEL_STRING && a.text.len == b.text.len &&
		       memcmp(a.text.data, b.text.data, a.text.len) == 0;
	if (a.kind == CEL_BOOL)
		return b.kind == CEL_BOOL && a.boolean == b.boolean;
	if (!cel_is_number(a) || !cel_is_number(b))
		return false;
	if (cel_whole(a, &x) && cel_whole(b, &y))
		return x == y;
	return a.kind == CEL_DOUBLE && b.kind == CEL_DOUBLE && a.real == b.real;
}

static uint64_t hash_of(struct cel_value key)
{
	__extension__ __int128 integer;
	uint64_t bits = key.kind;

	if (key.kind == CEL_STRING)
		return text_keyed_hash(key.text.data, key.text.len);
	if (key.kind == CEL_BOOL)
		bits = key.boolean;
	else if (cel_is_number(key) && cel_whole(key, &integer))
		bits = (uint64_t)integer;
	else if (key.kind == CEL_DOUBLE)
		memcpy(&bits, &key.real, sizeof(bits));
	return text_keyed_hash(&bits, sizeof(bits));
}

/* Returns the slot of an index that contains the key, or the empty one for it.
 * same_kind means that 1u and 1 are different. */
static size_t place_of(const uint32_t *index, size_t size,
		       const struct cel_entry *entries, struct cel_value key,
		       bool same_kind)
{
	size_t at = hash_of(key) & (size - 1);

	for (; index[at]; at = (at + 1) & (size - 1)) {
		const struct cel_value *other = &entries[index[at] - 1].key;

		if ((!same_kind || other->kind == key.kind) &&
		    is_same(*other, key))
			break;
	}
	return at;
}

/* Builds an index of all entries. index[0] is the size of the table that
 * follows. */
static uint32_t *index_all(struct arena *arena, const struct cel_entry *entries,
			   size_t n)
{
	uint32_t *index;
	size_t size = INDEX_FROM * 2;

	while (size < n * INDEX_LOAD * 2)
		size *= 2;
	index = ARENA_ARRAY(arena, uint32_t, size + 1);
	index[0] = (uint32_t)size;
	for (size_t i = 0; i < n; i++)
		index[1 + place_of(index + 1, size, entries, entries[i].key,
				   true)] = (uint32_t)i + 1;
	return index;
}

static size_t find_entry(const struct cel_entry *entries, size_t n,
			 const uint32_t *index, struct cel_value key,
			 bool same_kind)
{
	if (index) {
		size_t at =
			place_of(index + 1, index[0], entries, key, same_kind);

		return index[1 + at] ? index[1 + at] - 1 : n;
	}
	for (size_t i = 0; i < n; i++) {
		if ((!same_kind || entries[i].key.kind == key.kind) &&
		    is_same(entries[i].key, key))
			return i;
	}
	return n;
}

bool cel_map_put(struct arena *arena, struct cel_map_builder *b,
		 struct cel_entry entry, bool replace)
{
	size_t i = find_entry(b->entries, b->n, b->index, entry.key, replace);

	if (i < b->n) {
		if (replace)
			b->entries[i] = entry;
		return false;
	}
	*VEC_PUSH(arena, b->entries, b->n, b->size) = entry;
	if (b->n < INDEX_FROM)
		return true;
	if (!b->index || b->n * INDEX_LOAD > b->index[0])
		b->index = index_all(arena, b->entries, b->n);
	else
		b->index[1 + place_of(b->index + 1, b->index[0], b->entries,
				      entry.key, true)] = (uint32_t)b->n;
	return true;
}

static struct cel_value map_of(struct arena *arena,
			       const struct cel_entry *entries, size_t n,
			       const uint32_t *index)
{
	struct cel_items *map = ARENA_NEW(arena, struct cel_items);

	map->entries = entries;
	map->n = n;
	map->index = index;
	return (struct cel_value){.kind = CEL_MAP, .map = map};
}

struct cel_value cel_map_built(struct arena *arena,
			       const struct cel_map_builder *b)
{
	return map_of(arena, b->entries, b->n, b->index);
}

struct cel_value cel_map(struct arena *arena, const struct cel_entry *entries,
			 size_t n)
{
	return map_of(arena, entries, n,
		      n < INDEX_FROM ? NULL : index_all(arena, entries, n));
}

bool cel_map_find(struct arena *arena, struct cel_value value,
		  struct cel_value key, struct cel_value *out)
{
	const struct cel_items *map = value.map;
	size_t i;

	if (map->node) {
		const struct node *found =
			key.kind == CEL_STRING
				? cel_schema_find(arena, map->schema, map->node,
						  key.text)
				: NULL;

		if (found)
			*out = cel_from_node(
				arena, found,
				cel_schema_field(map->schema, found->key));
		return found;
	}
	i = find_entry(map->entries, map->n, map->index, key, false);
	if (i < map->n)
		*out = map->entries[i].value;
	return i < map->n;
}
