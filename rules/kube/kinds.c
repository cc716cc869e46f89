/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks up a kind, follows the paths of its rows, and exports those of its
 * pods. data/kinds.awk fills the slots with the same hash as below, so the
 * hash uses only sums, products and remainders of small numbers. Kinds are
 * found by (group, kind), because a name may occur in several groups.
 */
#include "kinds.h"

#include <stdlib.h>
#include <string.h>

#include "kube/typed.h"

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

/*
 * Paths of the pods of each kind, for exported policies. Only rows of the table
 * that consist of paths are used.
 */

/* Returns how many parts of a path match several items of lists or values of
 * maps. */
static size_t wildcards(const char *const *path)
{
	size_t n = 0;

	for (; path && *path; path++)
		n += !strcmp(*path, "[]") || !strcmp(*path, "*");
	return n;
}

/* Returns the reason why the pods of a row cannot be described by a path, or
 * NULL. */
static const char *obstacle(const struct pod_row *row)
{
	if (row->form == FORM_FLAT)
		return "its operator composes the pods";
	if (row->form == FORM_PATCH || row->inner || row->defaults)
		return "its operator merges templates into pods";
	if (row->some || row->counted)
		return "some of its templates create no pods";
	if (wildcards(row->group) + wildcards(row->pod) > 1)
		return "its templates are in lists of lists";
	return NULL;
}

static size_t path_length(const char *const *path)
{
	size_t n = 0;

	while (path && path[n])
		n++;
	return n;
}

/* Adds the row's path, unless the row of another version has the same path. */
static void add_path(struct arena *arena, const struct pod_row *row,
		     struct pod_path *paths, size_t *n)
{
	size_t group = path_length(row->group), pod = path_length(row->pod);
	const char **steps = ARENA_ARRAY(arena, const char *, group + pod + 1);
	bool same = false;

	for (size_t i = 0; i < group + pod; i++)
		steps[i] = i < group ? row->group[i] : row->pod[i - group];
	for (size_t i = 0; i < *n && !same; i++) {
		size_t k = 0;

		while (steps[k] && text_eq(steps[k], paths[i].steps[k]))
			k++;
		same = !steps[k] && !paths[i].steps[k];
	}
	if (!same)
		paths[(*n)++] =
			(struct pod_path){.steps = steps,
					  .is_spec = row->form == FORM_SPEC,
					  .boxes = row->boxes};
}

const struct pod_path *kind_pod_paths(struct arena *arena, const char *group,
				      const char *name, size_t *n,
				      const char **why)
{
	const struct kind *kind = kind_find(group, strlen(group), name);
	struct pod_path *paths;
	size_t rows = 0;

	*n = 0;
	*why = !kind	      ? "no table says where its pods are"
	       : kind->embeds ? "its pods are in objects that it embeds"
	       : !kind->pods  ? "it has no pods"
			      : NULL;
	if (*why)
		return NULL;
	while (kind->pods[rows])
		rows++;
	paths = ARENA_ARRAY(arena, struct pod_path, rows);
	for (size_t i = 0; i < rows; i++) {
		*why = obstacle(kind->pods[i]);
		if (*why) {
			*n = 0;
			return NULL;
		}
		add_path(arena, kind->pods[i], paths, n);
	}
	return paths;
}

const char *kind_group(const char *name, size_t i)
{
	for (const struct kind *kind = kind_table; kind->kind; kind++)
		/* Kubernetes has not served the group extensions since 1.22. */
		if (!strcmp(kind->kind, name) &&
		    strcmp(kind->group, "extensions") != 0 && !i--)
			return kind->group;
	return NULL;
}
