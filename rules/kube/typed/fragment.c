/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fragment of a native object, such as a patch: its quantities are canonical,
 * everything else about the result is unknown.
 */
#include "typed.h"

static void canonical(struct arena *arena, unsigned type, struct node *map);

static void canonical_value(struct arena *arena,
			    const struct native_field *field, struct node *node)
{
	struct native_field one = {NULL, field->form, 0, field->type, 0, 0, 0};
	bool many = node->type == NODE_SEQ || node->type == NODE_MAP;

	if (many && field->flags & (NATIVE_LIST | NATIVE_MAP)) {
		for (node = node->first; node; node = node->next)
			canonical_value(arena, &one, node);
	} else if (many && field->form == 'T') {
		canonical(arena, field->type, node);
	} else if (!many && field->form == 'q') {
		const struct node *new = native_quantity(arena, node);

		node->type = new->type;
		node->str = new->str;
		node->len = new->len;
	}
}

static void canonical(struct arena *arena, unsigned type, struct node *map)
{
	struct node *child = map->type == NODE_MAP ? map->first : NULL;

	for (; child; child = child->next) {
		const struct native_field *field =
			native_find(&native_types[type], child->key);

		if (field)
			canonical_value(arena, field, child);
	}
}

struct node *native_fragment(struct arena *arena,
			     const struct native_kind *kind,
			     const struct node *from)
{
	struct node *root = typed_copy(arena, from);

	canonical(arena, kind->type, root);
	return root;
}
