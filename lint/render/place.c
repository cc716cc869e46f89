/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the source position for a node of a rendered object. A scalar comes
 * from the last file that sets it: patches of the outer kustomizations, then
 * their fields, then the object's file. A map or list, at which missing values
 * are reported, belongs to the object's file if it contains it. If no source
 * contains the whole path, the deepest parent is used.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "render.h"

/*
 * Finds the values that fields of a kustomization (images, labels, ...) set in
 * objects. Such fields do not name the path of a value, so an entry counts only
 * if its value equals the one in the object.
 */

/* Returns the part of the image after this name, or NULL. */
static const char *after_name(const char *image, const char *name)
{
	size_t len = name ? strlen(name) : 0;

	if (!len || strncmp(image, name, len) != 0)
		return NULL;
	return !image[len] || image[len] == ':' || image[len] == '@'
		       ? image + len
		       : NULL;
}

static const struct node *of_images(const struct node *images,
				    const char *image)
{
	FOR_EACH_CHILD(images, entry) {
		const struct node *name = node_get(entry, "newName");
		const struct node *tag = node_get(entry, "newTag");
		const struct node *digest = node_get(entry, "digest");
		const char *rest = after_name(
			image, node_str(name ? name : node_get(entry, "name")));

		if (!rest)
			continue;
		if (digest && *rest == '@')
			return digest;
		if (tag && *rest == ':' &&
		    text_eq(tag->type == NODE_STRING ? node_str(tag) : tag->str,
			    rest + 1))
			return tag;
		if (name)
			return name;
	}
	return NULL;
}

static const struct node *of_replicas(const struct node *replicas,
				      const struct node *object,
				      const struct node *want)
{
	const char *name = node_str(node_path(object, "metadata.name"));

	FOR_EACH_CHILD(replicas, entry) {
		const struct node *count = node_get(entry, "count");
		const char *of = node_str(node_get(entry, "name"));

		if (name && of && strstr(name, of) && count &&
		    node_same(count, want))
			return count;
	}
	return NULL;
}

/* Returns the entry of pairs that has the key and the value of `want`, an entry
 * in a map of labels or annotations; or NULL. */
static const struct node *of_pairs(const struct node *pairs,
				   const struct node *want)
{
	const struct node *value = node_getn(pairs, want->key, want->key_len);

	return value && node_same(value, want) ? value : NULL;
}

static const struct node *of_labels(const struct node *root,
				    const struct node *want)
{
	const struct node *found =
		of_pairs(node_get(root, "commonLabels"), want);

	FOR_EACH_CHILD(node_get(root, "labels"), entry)
		if (!found)
			found = of_pairs(node_get(entry, "pairs"), want);
	return found;
}

static unsigned count_steps(const char *path)
{
	unsigned n = 1;

	for (; *path; path++)
		n += *path == '.';
	return n;
}

/* True if the path, such as `spec.template.spec.x`, may be that of the node:
 * the last step and the number of steps are compared. */
static bool is_path_of(const char *path, const struct node *want)
{
	const char *last = path ? strrchr(path, '.') : NULL;
	unsigned depth = 0;

	for (const struct node *n = want; n->parent; n = n->parent)
		depth++;
	return last && text_eq(last + 1, want->key) &&
	       count_steps(path) == depth;
}

static const struct node *of_replacements(const struct node *replacements,
					  const struct node *object,
					  const struct node *want)
{
	const char *kind = node_str(node_get(object, "kind"));

	FOR_EACH_CHILD(replacements, entry)
		FOR_EACH_CHILD(node_get(entry, "targets"), target) {
			const struct node *of =
				node_path(target, "select.kind");

			if (of && !node_eq(of, text_or_empty(kind)))
				continue;
			FOR_EACH_CHILD(node_get(target, "fieldPaths"), path)
				if (is_path_of(node_str(path), want))
					return path;
		}
	return NULL;
}

static const struct node *of_transformers(const struct node *root,
					  const struct node *object,
					  const struct node *want)
{
	const char *key = want->key, *parent;

	if (!key || !want->parent)
		return NULL;
	parent = text_or_empty(want->parent->key);
	if (text_eq(key, "image") && node_str(want))
		return of_images(node_get(root, "images"), want->str);
	if (text_eq(key, "replicas"))
		return of_replicas(node_get(root, "replicas"), object, want);
	if (text_eq(key, "namespace") && text_eq(parent, "metadata"))
		return node_get(root, "namespace");
	if (text_eq(parent, "labels") || text_eq(parent, "matchLabels"))
		return of_labels(root, want);
	if (text_eq(parent, "annotations"))
		return of_pairs(node_get(root, "commonAnnotations"), want);
	return NULL;
}

/* Returns the field of a kustomization that sets the value (images,
 * replicas, namespace, labels), or NULL. */
static const struct node *render_field_of(const struct node *root,
					  const struct node *object,
					  const struct node *want)
{
	const struct node *found = of_transformers(root, object, want);

	if (found || !want->key || node_is_map(want) || node_is_seq(want))
		return found;
	return of_replacements(node_get(root, "replacements"), object, want);
}

struct place_search {
	struct render *r;
	struct render_root *of;
	const struct render_object *object;
	const struct node *root, *want; /* in the rendered text */
	struct render_place own;	/* place in the object's own file */
	/* place in the outermost file that sets this value */
	struct render_place value;
	struct render_place patch; /* best place in a patch */
};

/*
 * True for a value that one file sets, except for names, which identify a whole
 * item.
 */
static bool is_single(const struct node *node)
{
	const struct node *parent = node->parent;

	if (node_is_map(node) || node_is_seq(node))
		return false;
	return !text_eq(node->key, "name") || !parent ||
	       !(node_is_seq(parent->parent) ||
		 text_eq(parent->key, "metadata"));
}

static bool is_deeper(const struct render_place *a,
		      const struct render_place *b)
{
	return !b->text || a->depth > b->depth;
}

/* For a text inside of another one, the place is the scalar that contains
 * it. */
void render_place_in(struct render_place *place, struct render_text *text,
		     const struct render_item *item, const struct node *node)
{
	place->text = text;
	place->item = item;
	place->node = node;
	if (!text->host)
		return;
	place->inner = node;
	place->node = text->host_node;
	place->item = text->host_item;
	place->text = text->host;
}

/* --- patches -------------------------------------------------------------- */

static void offer(struct place_search *s, struct render_text *text,
		  const struct render_item *item, struct render_match match,
		  unsigned depth)
{
	struct render_place place = {.depth = depth + match.depth,
				     .whole = match.whole};

	render_place_in(&place, text, item, match.node);
	if (match.whole && is_single(s->want) &&
	    node_same(match.node, s->want) && !s->value.text)
		s->value = place;
	if (place.depth && is_deeper(&place, &s->patch))
		s->patch = place;
}

/* Returns the rendered node at a JSON pointer. A last step "-" means an
 * appended item, which is found by its keys. */
static const struct node *node_for(const struct node *root, const char *path,
				   const struct node *value)
{
	struct buf key;

	buf_init(&key);
	while (root && *path == '/') {
		size_t len = strcspn(++path, "/");

		buf_reset(&key);
		for (size_t i = 0; i < len; i++)
			if (path[i] == '~' && i + 1 < len)
				buf_addc(&key, path[++i] == '1' ? '/' : '~');
			else
				buf_addc(&key, path[i]);
		path += len;
		if (!node_is_seq(root)) {
			root = node_getn(root, key.data, key.len);
		} else if (!strcmp(key.data, "-")) {
			const struct node *found = NULL;

			FOR_EACH_CHILD(root, item)
				if (render_same_item(item, value))
					found = item;
			root = found;
		} else {
			root = node_at(root, strtoul(key.data, NULL, 10));
		}
	}
	buf_release(&key);
	return root;
}

static bool is_above(const struct node *above, const struct node *node)
{
	while (node && node != above)
		node = node->parent;
	return node != NULL;
}

static unsigned depth_of(const struct node *node)
{
	unsigned depth = 0;

	while ((node = node->parent))
		depth++;
	return depth;
}

/* Finds the node in the operations of a JSON Patch (RFC 6902). */
static void try_operations(struct place_search *s, struct render_text *text,
			   const struct render_item *item)
{
	FOR_EACH_CHILD(item->root, operation) {
		const char *path = node_str(node_get(operation, "path"));
		const struct node *value = node_get(operation, "value");
		const struct node *at =
			path && value ? node_for(s->root, path, value) : NULL;

		if (at && is_above(at, s->want))
			offer(s, text, item, render_match(s->want, at, value),
			      depth_of(at));
	}
}

static bool is_target(const struct place_search *s, const struct node *target)
{
	const char *kind = node_str(node_get(target, "kind"));
	const char *name = node_str(node_get(target, "name"));
	const char *own = node_str(node_path(s->root, "metadata.name"));

	return (!kind || node_eq(node_get(s->root, "kind"), kind)) &&
	       (!name || strpbrk(name, ".*|[(^$") || text_contains(own, name));
}

static void try_patch(struct place_search *s, struct render_text *text,
		      const struct node *target)
{
	if (target && !is_target(s, target))
		return;
	for (size_t i = 0; text && i < text->n; i++) {
		const struct render_item *item = &text->items[i];

		if (node_is_seq(item->root))
			try_operations(s, text, item);
		else if (target || render_same_object(s->root, item->root))
			offer(s, text, item,
			      render_match(s->want, s->root, item->root), 0);
	}
}

static struct render_text *file_beside(struct place_search *s,
				       const char *layer, const char *path)
{
	const char *folder = arena_strndup(
		&s->r->arena, layer, (size_t)(strrchr(layer, '/') - layer));

	return render_text_of(s->r, render_path(s->r, folder, path));
}

static void try_entry(struct place_search *s, struct render_text *layer,
		      const struct node *entry)
{
	const struct node *inner = node_get(entry, "patch");
	const char *path = node_str(node_get(entry, "path"));

	if (node_str(entry) && strchr(entry->str, '\n'))
		inner = entry;
	else if (node_str(entry))
		path = entry->str;
	if (node_str(inner))
		try_patch(s,
			  render_text_within(s->r, layer, &layer->items[0],
					     inner),
			  node_get(entry, "target"));
	else if (path)
		try_patch(s, file_beside(s, layer->path, path),
			  node_get(entry, "target"));
}

static void try_layer(struct place_search *s, const char *path)
{
	static const char *const lists[] = {"patches", "patchesJson6902",
					    "patchesStrategicMerge"};
	struct render_text *layer = render_text_of(s->r, path);
	const struct node *root, *field;

	if (!layer || !layer->n)
		return;
	root = layer->items[0].root;
	field = render_field_of(root, s->root, s->want);
	if (field && !s->value.text)
		s->value = (struct render_place){.text = layer,
						 .item = &layer->items[0],
						 .node = field,
						 .whole = true};
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		FOR_EACH_CHILD(node_get(root, lists[i]), entry)
			try_entry(s, layer, entry);
}

/* --- the object's own file ------------------------------------------------ */

/* Returns the item for the object. If there are several candidates, returns the
 * one with the longest name. */
static const struct render_item *own_item(const struct place_search *s,
					  struct render_text *text)
{
	const struct render_item *best = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < text->n; i++) {
		const char *name = node_str(
			node_path(text->items[i].root, "metadata.name"));
		size_t len = name ? strlen(name) + 1 : 1;

		if (!render_same_object(s->root, text->items[i].root) ||
		    len <= longest)
			continue;
		best = &text->items[i];
		longest = len;
	}
	return best;
}

static const struct node *generator_of(const struct place_search *s,
				       const struct node *root)
{
	static const char *const lists[] = {"configMapGenerator",
					    "secretGenerator"};
	const char *name = node_str(node_path(s->root, "metadata.name"));

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		FOR_EACH_CHILD(node_get(root, lists[i]), entry)
			if (text_contains(name, text_or_empty(node_str(node_get(
							entry, "name")))))
				return entry;
	return root;
}

static struct render_text *own_text(const struct place_search *s)
{
	const char *path = s->object->origin;

	if (!path)
		return NULL;
	return s->of->chart ? render_template_of(s->r, path)
			    : render_text_of(s->r, path);
}

static void find_own(struct place_search *s)
{
	struct render_text *text = own_text(s);
	const struct render_item *item;
	struct render_match match;

	if (!text || !text->n)
		return;
	item = s->object->generated ? &text->items[0] : own_item(s, text);
	s->own.text = text;
	if (!item)
		return;
	if (s->object->generated)
		match = (struct render_match){generator_of(s, item->root), 1,
					      true};
	else
		match = render_match(s->want, s->root, item->root);
	s->own.depth = match.depth;
	s->own.whole = match.whole;
	render_place_in(&s->own, text, item, match.node);
}

/* --- selection of a place ------------------------------------------------- */

static struct render_place choose(const struct place_search *s)
{
	bool same = s->own.whole && is_single(s->want) &&
		    node_same(s->own.node, s->want);

	if (s->value.text)
		return s->value;
	if (s->own.whole && (!is_single(s->want) || same || !s->patch.whole))
		return s->own;
	if (s->patch.text && is_deeper(&s->patch, &s->own))
		return s->patch;
	return s->own;
}

/* Searches the values files for a value that the template does not contain. */
static void try_values(struct place_search *s)
{
	struct render_want want = {s->want, s->want, s->own.depth};
	unsigned depth = 0;

	if (!s->own.node || (s->own.whole && !is_single(s->want)))
		return;
	for (const struct node *n = s->want; n != s->root; n = n->parent)
		depth++;
	for (; depth > s->own.depth; depth--)
		want.below = want.below->parent;
	render_value_of(s->r, s->of, &s->own, &want, &s->value);
}

const struct render_object *render_object_at(const struct render_root *root,
					     uint32_t offset)
{
	size_t i = root->nobjects;

	while (i && root->objects[i - 1].start > offset)
		i--;
	return i ? &root->objects[i - 1] : NULL;
}

/* Returns the deepest node of the pointer that exists. */
static const struct node *node_at_pointer(const struct node *root,
					  const char *pointer)
{
	const struct node *found = root;
	struct buf part;

	buf_init(&part);
	while (*pointer && found) {
		size_t len = 1 + strcspn(pointer + 1, "/");
		const struct node *next;

		buf_reset(&part);
		buf_add(&part, pointer, len);
		next = node_for(found, part.data, NULL);
		if (!next)
			break;
		found = next;
		pointer += len;
	}
	buf_release(&part);
	return found;
}

struct render_text *render_built(struct render *r, struct render_root *root)
{
	if (!root->rendered)
		root->rendered = render_text_make(
			r,
			arena_printf(&r->arena, "%s#%zu", root->file,
				     (size_t)(root - r->roots)),
			root->text.data, root->text.len);
	return root->rendered;
}

struct render_place render_place_of(struct render *r, struct render_root *root,
				    const struct place *place)
{
	struct place_search s = {.r = r,
				 .of = root,
				 .object =
					 render_object_at(root, place->start)};
	struct render_place found;

	render_built(r, root);
	for (size_t i = 0; i < root->rendered->n && !s.root; i++)
		if (root->rendered->items[i].document == place->document)
			s.root = root->rendered->items[i].root;
	if (!s.object || !s.root)
		return (struct render_place){0};
	s.want = node_at_pointer(s.root, place->pointer);
	find_own(&s);
	for (size_t i = 0; i < s.object->layers.n; i++)
		try_layer(&s, s.object->layers.items[i]);
	if (root->chart)
		try_values(&s);
	found = choose(&s);
	found.key = s.want->key && place->start == s.want->key_start &&
		    place->start != s.want->start;
	return found;
}
