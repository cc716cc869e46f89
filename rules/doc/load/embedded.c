/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML that a string of a document holds: a program's configuration.
 */
#include "doc/load.h"

const struct node *yaml_in(struct arena *arena, const struct node *text)
{
	struct source *source = ARENA_NEW(arena, struct source);
	struct loader loader;

	source_init(source, arena, "text", text->str, text->len);
	loader_init(&loader, source, &load_limits_default, arena);
	return yaml_read(&loader, 0, (uint32_t)text->len);
}
