/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks up a kind and follows the paths of its rows. data/kinds.awk fills the
 * slots with the same hash as below, so the hash uses only sums, products and
 * remainders of small numbers. Kinds are found by (group, kind), because a name
 * may occur in several groups.
 */
#include "kinds.h"

#include <stdlib.h>
#include <string.h>

static unsigned hash_add(unsigned hash, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash * 31 + (unsigned char)text[i]) % kind_nslots;
	return hash;
}

const struct kind *kind_find(const char *group, size_t group_len,
			     const char *kind)
{
	unsigned at = hash_add(0, kind, strlen(kind));

	at = hash_add(at, "/", 1);
	at = hash_add(at, group, group_len);
	for (; kind_slots[at]; at = (at + 1) % kind_nslots) {
		const struct kind *row = &kind_table[kind_slots[at] - 1];

		if (!strcmp(row->kind, kind) &&
		    strlen(row->group) == group_len &&
		    !memcmp(row->group, group, group_len))
			return row;
	}
	return NULL;
}

const struct node *path_get(const struct node *node, const char *const *path)
{
	for (; node && path && *path; path++)
		node = node_get(node, *path);
	return node;
}

/* Continues with every child of a list or map, which becomes the element.
 * Children of a map are read in the order in which the API server sends them
 * for admission. */
static void path_children(struct path_walk *walk, const struct node *node,
			  const char *const *path)
{
	const struct node **sorted;

	if (!strcmp(path[0], "[]")) {
		if (node_is_seq(node))
			FOR_EACH_CHILD(node, child)
				path_each(walk, child, path + 1, child);
		return;
	}
	sorted = node_by_key(node);
	for (size_t i = 0; sorted && i < node->len; i++)
		path_each(walk, sorted[i], path + 1, sorted[i]);
	free(sorted);
}

void path_each(struct path_walk *walk, const struct node *node,
	       const char *const *path, const struct node *element)
{
	for (; node && path && *path; path++) {
		/* An unknown value may contain anything. */
		if (node_is_unknown(node))
			break;
		if (!strcmp(*path, "[]") || !strcmp(*path, "*")) {
			path_children(walk, node, path);
			return;
		}
		node = node_get(node, *path);
	}
	if (!node_is_unset(node))
		walk->found(walk, node, element);
}

bool kind_makes_pods(const struct kube_config *config, const char *api_version,
		     const char *name)
{
	const char *slash = strchr(api_version, '/');
	const struct kind *kind;

	for (size_t i = 0; i < config->nkinds; i++)
		if (!strcmp(config->kinds[i].api_version, api_version) &&
		    !strcmp(config->kinds[i].kind, name))
			return true;
	kind = kind_find(api_version, slash ? (size_t)(slash - api_version) : 0,
			 name);
	return kind && (kind->pods || kind->embeds);
}
