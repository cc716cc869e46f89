/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the values that fields of a kustomization (images, labels, ...) set in
 * objects. Such fields do not name the path of a value, so an entry counts only
 * if its value equals the one in the object.
 */
#include <string.h>

#include "base/text.h"
#include "render.h"

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

const struct node *render_field_of(const struct node *root,
				   const struct node *object,
				   const struct node *want)
{
	const struct node *found = of_transformers(root, object, want);

	if (found || !want->key || node_is_map(want) || node_is_seq(want))
		return found;
	return of_replacements(node_get(root, "replacements"), object, want);
}
