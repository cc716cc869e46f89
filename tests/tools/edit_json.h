/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edits written as JSON, for tests: a list of objects {"set": PATH, "value":
 * V}, {"ensure": PATH, "item": V, "keys": "name"} (without keys: whole items
 * are compared) and {"remove": PATH}. Each is a separate group, or, with "and":
 * true, belongs to the group before. A path is a list of keys, numbers (index)
 * and {"key": value} (match).
 */
#ifndef TESTS_EDIT_JSON_H
#define TESTS_EDIT_JSON_H

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "doc/edit.h"
#include "doc/load.h"

static inline void path_from_json(struct edit_path *path, struct arena *arena,
				  const struct node *json)
{
	edit_path_to(path, arena, NULL);
	FOR_EACH_CHILD(json, step) {
		if (step->type == NODE_STRING)
			edit_path_key(path, step->str);
		else if (step->type == NODE_INT)
			edit_path_index(path, (uint32_t)atoi(step->str));
		else if (step->type == NODE_MAP && node_str(step->first))
			edit_path_match(path, step->first->key,
					step->first->str);
	}
}

static inline void edits_from_json(struct edit_list *list,
				   const struct node *json)
{
	FOR_EACH_CHILD(json, item) {
		const struct node *set = node_get(item, "set");
		const struct node *ensure = node_get(item, "ensure");
		const struct node *gone = node_get(item, "remove");
		struct edit_path path;

		if (!node_is_true(node_get(item, "and")))
			edit_group(list);
		path_from_json(&path, list->arena,
			       set	? set
			       : ensure ? ensure
					: gone);
		if (set && node_get(item, "value"))
			edit_set(list, &path, node_get(item, "value"));
		else if (ensure && node_get(item, "item"))
			edit_ensure(list, &path, node_get(item, "item"),
				    node_str(node_get(item, "keys")));
		else if (gone)
			edit_remove(list, &path);
	}
}

/* Parses one JSON value of trusted text, which must stay in memory. */
static inline const struct node *json_text(struct arena *arena,
					   const char *text, size_t len)
{
	struct source *source = ARENA_NEW(arena, struct source);
	struct loader loader;
	const struct node *root;
	uint32_t used;

	source_init(source, arena, "json", text, len);
	loader_init(&loader, source, &load_limits_default, arena);
	root = json_read(&loader, 0, (uint32_t)source->len, &used);
	if (!root)
		BUG("no JSON: %.200s", text);
	return root;
}

static const char *const outcome_names[] = {
	[EDIT_DONE] = "done",
	[EDIT_NEEDLESS] = "needless",
	[EDIT_CONFLICT] = "conflict",
	[EDIT_REFUSED] = "refused",
};

#endif
