/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents in a string of a document: manifests, patches, a program's
 * configuration. The budget of the arena limits all of them together.
 */
#include <string.h>

#include "doc/budget.h"
#include "doc/load.h"

bool embedded_init(struct loader *loader, struct arena *arena, const char *name,
		   const char *text, size_t len)
{
	struct load_budget *budget = arena->budget;
	struct source *source;

	if (budget && budget->over)
		return false;
	source = ARENA_NEW(arena, struct source);
	source_init(source, arena, name, text, len);
	loader_init(loader, source, &load_limits_default, arena);
	return !budget || !budget->over;
}

/* Charges the lists of a document in a string to the budget. Returns root, or
 * NULL if the budget is exceeded. */
static const struct node *count_lists(struct arena *arena,
				      const struct node *root)
{
	struct load_budget *budget = arena->budget;
	struct load_cost cost = {0};

	if (!budget || !root)
		return root;
	cost.list_work = work_of(root);
	return load_budget_spend(budget, &cost) ? root : NULL;
}

bool embedded_next(struct loader *loader, struct doc *doc)
{
	const struct load_budget *budget = loader->arena->budget;

	if ((budget && budget->over) || loader_next(loader, doc) != 1)
		return false;
	doc->root = count_lists(loader->arena, doc->root);
	return !budget || !budget->over;
}

const struct node *yaml_in(struct arena *arena, const struct node *text)
{
	struct loader loader;

	if (!embedded_init(&loader, arena, "text", text->str, text->len))
		return NULL;
	return count_lists(arena, yaml_read(&loader, 0, (uint32_t)text->len));
}

/* True if the text may have no document, or several ones. */
static bool is_unusual(const char *text)
{
	const char *line = text + strspn(text, " \t\n");

	while (*line == '#') {
		line += strcspn(line, "\n");
		line += strspn(line, " \t\n");
	}
	return !*line || *line == '%' || !strncmp(line, "---", 3) ||
	       strstr(line, "\n---") || strstr(line, "\n...");
}

bool yaml_is_not_map(struct arena *arena, const struct node *text)
{
	const struct load_budget *budget = arena->budget;
	const struct node *root;

	if (!text || text->type != NODE_STRING || !text->str ||
	    node_is_unknown(text) || placeholder_in(text->str, text->len) ||
	    is_unusual(text->str))
		return false;
	root = yaml_in(arena, text);
	if (root)
		return !node_is_map(root) && !node_is_unset(root) &&
		       !node_is_unknown(root);
	return !budget || !budget->over;
}
