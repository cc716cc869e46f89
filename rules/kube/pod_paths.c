/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths of the pods of each kind, for exported policies. Only rows of the table
 * that consist of paths are used.
 */
#include "kube/pod_paths.h"

#include <string.h>

#include "kinds.h"

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
