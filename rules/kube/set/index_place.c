/* SPDX-License-Identifier: Apache-2.0 */
/* Copies texts and identities into the set, and computes places. */
#include "index_internal.h"
#include "kube/identity.h"
#include "kube/runtime.h"

const char *index_text(struct arena *arena, const char *text)
{
	return text && *text ? arena_strdup(arena, text) : "";
}

struct object_id index_id(struct arena *arena, const struct object *o)
{
	return object_id_copy(arena, object_id_of(o));
}

const struct node *index_name_node(const struct object *object)
{
	const struct node *metadata = node_get(object->root, "metadata");
	const struct node *name = node_get(metadata, "name");

	if (!name)
		name = node_get(metadata, "generateName");
	return name ? name : object->root;
}

struct place place_later(const struct object *object, const struct node *node,
			 uint32_t file)
{
	if (file == NO_FILE)
		return (struct place){.file = NO_FILE, .pointer = ""};
	return (struct place){.file = file, .object = object, .node = node};
}

static bool is_inside(const struct node *node, const struct node *root)
{
	while (node && node != root)
		node = node->parent;
	return node != NULL;
}

void place_settle(struct arena *arena, struct place *place)
{
	const struct node *node = place->node;
	const struct doc *doc;
	struct position from, to;

	if (!node)
		return;
	if (place->object->runtime && !is_inside(node, place->object->root))
		node = place->object->runtime;
	doc = place->object->doc;
	place->named_path = node_named_path(node, place->object->root);
	while (doc->host) {
		node = doc->host_node;
		doc = doc->host;
	}
	node_anchor(node, &place->start, &place->end);
	from = source_position(doc->source, place->start);
	to = source_position(doc->source, place->end);
	place->document = doc->number;
	place->line = from.line;
	place->column = from.column;
	place->end_line = to.line;
	place->end_column = to.column;
	place->pointer = node_pointer_text(arena, node);
	place->object = NULL;
	place->node = NULL;
}

struct spec_place spec_place_of(const struct pod *pod)
{
	const struct object *object = pod->object;
	const struct node *base = pod->base ? pod->base : pod->spec;
	const struct runtime *from =
		object->uses ? object_runtime_around(object, base) : NULL;
	struct spec_place place = {pod->spec->start, NO_FILE, 0};

	/* The object is in a string of the file, so its offsets are not those
	 * of the file. */
	if (object->doc->host)
		place.start = UINT32_MAX;
	if (from) {
		place.base_file = from->file;
		place.base = base->start;
	}
	return place;
}

struct place place_of(struct arena *arena, const struct object *object,
		      const struct node *node, uint32_t file)
{
	struct place place = place_later(object, node, file);

	place_settle(arena, &place);
	return place;
}

uint32_t index_set_of(const struct object_index *set, const struct workload *w)
{
	return index_file_set(set, w->place.file);
}
