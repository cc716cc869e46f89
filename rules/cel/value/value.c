/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creates values, reads lists and maps, and computes costs. Look-ups of keys
 * are in map.c.
 */
#include "cel/value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "cel/function.h"
#include "value_internal.h"

enum { DIGITS_OF_INT = 18 }; /* numbers of up to 18 digits fit into 64 bits */

struct cel_value cel_string(const char *text)
{
	return cel_stringn(text, strlen(text));
}

struct cel_value cel_list(struct arena *arena, const struct cel_value *items,
			  size_t n)
{
	struct cel_items *list = ARENA_NEW(arena, struct cel_items);

	list->values = items;
	list->n = n;
	return (struct cel_value){.kind = CEL_LIST, .list = list};
}

struct cel_value cel_optional(struct arena *arena, struct cel_value value)
{
	struct cel_value *copy =
		arena_take(arena, sizeof(*copy), alignof(struct cel_value));

	*copy = value;
	return (struct cel_value){
		.kind = CEL_OPTIONAL, .optional = copy, .node = value.node};
}

struct cel_value cel_optional_none(void)
{
	return (struct cel_value){.kind = CEL_OPTIONAL};
}

struct cel_value cel_error(struct arena *arena, const char *fmt, ...)
{
	struct cel_value value = {.kind = CEL_ERROR};
	va_list ap;

	va_start(ap, fmt);
	value.text.data = arena_vprintf(arena, fmt, ap);
	va_end(ap);
	value.text.len = strlen(value.text.data);
	return value;
}

/* --- from documents ------------------------------------------------------ */

static struct cel_value from_integer(const struct node *node)
{
	long long i;

	if (node->len < DIGITS_OF_INT) {
		const char *s = node->str + (node->str[0] == '-');

		for (i = 0; *s; s++)
			i = i * 10 + (*s - '0');
		return cel_int(node->str[0] == '-' ? -i : i);
	}
	errno = 0;
	i = strtoll(node->str, NULL, 10);
	if (errno == ERANGE)
		return cel_double(strtod(node->str, NULL));
	return cel_int(i);
}

struct cel_value cel_items_of_node(struct arena *arena, const struct node *node,
				   const struct node *schema)
{
	struct node_items {
		struct cel_items items;
		struct cel_cursor cursor;
	} *of = arena_alloc(arena, sizeof(*of));

	of->cursor = (struct cel_cursor){0};
	of->items = (struct cel_items){.node = node,
				       .schema = schema,
				       .n = node->len,
				       .cursor = &of->cursor};
	return (struct cel_value){.kind = node->type == NODE_SEQ ? CEL_LIST
								 : CEL_MAP,
				  .list = &of->items};
}

static struct cel_value from_json(struct arena *arena, const struct node *node)
{
	switch ((enum node_type)node->type) {
	case NODE_NULL:
		return cel_null();
	case NODE_BOOL:
		return cel_bool(node->str[0] == 't');
	case NODE_INT:
		return from_integer(node);
	case NODE_FLOAT:
		return cel_double(strtod(node->str, NULL));
	case NODE_STRING:
		return cel_stringn(node->str, node->len);
	case NODE_MAP:
	case NODE_SEQ:
		return cel_items_of_node(arena, node, NULL);
	}
	BUG("node of type %d", node->type);
}

struct cel_value cel_from_node(struct arena *arena, const struct node *node,
			       const struct node *schema)
{
	struct cel_value value;

	if (!node)
		return cel_null();
	if (node_is_unknown(node))
		return cel_unknown(node_is_perhaps(node) ? NULL : node);
	value = schema ? cel_from_schema(arena, node, schema)
		       : from_json(arena, node);
	value.node = node;
	return value;
}

/* --- lists and maps ------------------------------------------------------ */

/* Returns child i, counted from the child that was requested last if that does
 * not come after it. */
static const struct node *child_at(const struct node *parent,
				   struct cel_cursor *cursor, size_t i)
{
	if (!cursor->node || cursor->index > i)
		*cursor = (struct cel_cursor){parent->first, 0};
	for (; cursor->index < i; cursor->index++)
		cursor->node = cursor->node->next;
	return cursor->node;
}

struct cel_value cel_list_at(struct arena *arena, struct cel_value value,
			     size_t i)
{
	const struct cel_items *list = value.list;
	const struct node *item;

	if (!list->node)
		return list->values[i];
	item = child_at(list->node, list->cursor, i);
	return cel_from_node(arena, item, cel_schema_item(list->schema));
}

struct cel_entry cel_map_at(struct arena *arena, struct cel_value value,
			    size_t i)
{
	const struct cel_items *map = value.map;
	const struct node *item;
	struct cel_entry entry;

	if (!map->node)
		return map->entries[i];
	item = child_at(map->node, map->cursor, i);
	entry.key = cel_schema_key(arena, map->schema, item);
	entry.key.node = item;
	entry.value = cel_from_node(arena, item,
				    cel_schema_field(map->schema, item->key));
	return entry;
}

/* --- texts --------------------------------------------------------------- */

size_t cel_text_size(struct cel_text text)
{
	return utf8_count(text.data, text.len);
}

bool cel_text_eq(struct cel_text text, const char *other)
{
	return strlen(other) == text.len &&
	       memcmp(text.data, other, text.len) == 0;
}

const struct cel_type *cel_type_of(struct cel_value value)
{
	if (value.kind == CEL_OPAQUE)
		return &value.opaque.type->type;
	return cel_type_of_kind(value.kind == CEL_OBJECT ? CEL_MAP
							 : value.kind);
}

/* Costs that overloads share (cel-go interpreter/runtimecost.go). */

uint64_t cel_cost_size(struct cel_value value)
{
	switch (value.kind) {
	case CEL_STRING:
		return cel_text_size(value.text);
	case CEL_BYTES:
		return value.text.len;
	case CEL_LIST:
	case CEL_MAP:
		return cel_size(value);
	case CEL_OPTIONAL:
		return value.optional ? cel_cost_size(*value.optional) : 1;
	case CEL_OPAQUE:
		return value.opaque.type->size
			       ? value.opaque.type->size(value.opaque.data)
			       : 1;
	default:
		return 1;
	}
}

uint64_t cel_cost_share(uint64_t size, double factor)
{
	double cost = (double)size * factor;
	uint64_t whole = (uint64_t)cost;

	return whole + ((double)whole < cost);
}

uint64_t cel_cost_traverse(const struct cel_call *call, struct cel_value result)
{
	return cel_cost_share(cel_cost_size(call->args[0]), 0.1);
}

uint64_t cel_cost_traverse_argument(const struct cel_call *call,
				    struct cel_value result)
{
	return cel_cost_share(cel_cost_size(call->args[1]), 0.1);
}

uint64_t cel_cost_traverse_both(const struct cel_call *call,
				struct cel_value result)
{
	return cel_cost_share(cel_cost_size(call->args[0]) +
				      cel_cost_size(call->args[1]),
			      0.1);
}

uint64_t cel_cost_twice(const struct cel_call *call, struct cel_value result)
{
	return cel_cost_share(2 * cel_cost_size(call->args[0]), 0.1);
}

uint64_t cel_cost_shorter(const struct cel_call *call, struct cel_value result)
{
	uint64_t a = cel_cost_size(call->args[0]);
	uint64_t b = cel_cost_size(call->args[1]);

	return cel_cost_share(a < b ? a : b, 0.1);
}
