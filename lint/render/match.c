/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows a path of a rendered object in another version of the object. List
 * items are matched by their keys, because patches insert and remove items; the
 * keys are those of the strategic merge (kubernetes/api, patchMergeKey).
 */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "render.h"

static const char *const item_keys[] = {
	"name",	       "mountPath", "devicePath", "containerPort", "port", "ip",
	"topologyKey", "key",	    "ip",	  "uid",	   "type",
};

/* True if both have the same value for the first key that identifies items and
 * that both have. Without such a key, true for equal nodes. */
bool render_same_item(const struct node *a, const struct node *b)
{
	if (!node_is_map(a) || !node_is_map(b))
		return node_same(a, b);
	for (size_t i = 0; i < ARRAY_SIZE(item_keys); i++) {
		const struct node *x = node_get(a, item_keys[i]);
		const struct node *y = node_get(b, item_keys[i]);

		if (x && y)
			return node_same(x, y);
	}
	return node_same(a, b);
}

/* Returns the node in a map or list that corresponds to the child `want`. */
static const struct node *child_for(const struct node *want,
				    const struct node *at)
{
	const struct node *other;

	if (node_is_map(at) && want->key)
		return node_getn(at, want->key, want->key_len);
	if (!node_is_seq(at) || want->key)
		return NULL;
	FOR_EACH_CHILD(at, item)
		if (render_same_item(want, item))
			return item;
	/* The name was changed, or is unknown. */
	other = node_at(at, want->index);
	if (other && render_is_marked(node_str(other)))
		return other;
	if (node_is_map(want) && node_is_map(other) &&
	    (node_count(at) == node_count(want->parent) ||
	     render_is_marked(node_str(node_get(other, "name")))))
		return other;
	return NULL;
}

struct render_match render_match(const struct node *want,
				 const struct node *from, const struct node *at)
{
	const struct node *steps[RENDER_DEPTH];
	struct render_match match = {at, 0, false};
	unsigned n = 0;

	for (; want && want != from && n < RENDER_DEPTH; want = want->parent)
		steps[n++] = want;
	while (n) {
		const struct node *next = child_for(steps[n - 1], match.node);

		if (!next)
			return match;
		match.node = next;
		match.depth++;
		n--;
	}
	match.whole = true;
	return match;
}

static bool same_group(const struct node *a, const struct node *b)
{
	const char *x = text_or_empty(node_str(node_get(a, "apiVersion")));
	const char *y = text_or_empty(node_str(node_get(b, "apiVersion")));
	size_t n = strcspn(x, "/"), m = strcspn(y, "/");

	if (render_is_marked(y))
		return true;
	if (!x[n] || !y[m])
		return x[n] == y[m];
	return n == m && !memcmp(x, y, n);
}

/* Compares objects, whose names may have got prefixes and suffixes. */
bool render_same_object(const struct node *rendered, const struct node *source)
{
	const char *kind = node_str(node_get(rendered, "kind"));
	const char *name = node_str(node_path(rendered, "metadata.name"));
	const char *former = node_str(node_path(source, "metadata.name"));

	return kind && node_eq(node_get(source, "kind"), kind) &&
	       same_group(rendered, source) &&
	       (!name || !former || render_is_marked(former) ||
		strstr(name, former));
}
