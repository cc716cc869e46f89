/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Concatenates lists. A list whose schema has the type `set` or `map` contains
 * each element once (apiserver pkg/cel/common/valuesunstructured.go): if both
 * lists have an element, it stays in its position with the value of the second
 * list.
 */
#include "rules/cel/value/value_internal.h"

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
