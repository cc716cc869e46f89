/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds sets of files. Two files with the same object (kind, namespace, name)
 * belong to two clusters if their paths differ in a folder:
 * clusters/a/quota.yaml and clusters/b/ml.yaml make clusters/a and clusters/b
 * separate sets, with all files below. Within one folder, or if one folder
 * contains the other, the object is a duplicate. Files in neither folder are a
 * third set, because their cluster is unknown. A Namespace in two folders does
 * not make them separate sets, because every application of a cluster may
 * define it.
 */
#include "lint.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

/* An object that exists only once in a cluster, and a file that contains it. */
struct sighting {
	uint64_t what;
	uint32_t file;
};

struct sightings {
	struct sighting *items;
	size_t n, size;
	/* number of the set that the policy names, by file */
	const uint32_t *named;
};

static void note_object(void *context, uint64_t what, uint32_t file)
{
	struct sightings *s = context;

	if (!s->named || !s->named[file])
		*ARRAY_PUSH(s->items, s->n, s->size) =
			(struct sighting){what, file};
}

static int by_what(const void *a, const void *b)
{
	const struct sighting *x = a, *y = b;

	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	return (x->file > y->file) - (x->file < y->file);
}

/* --- sets that the policy names ------------------------------------------- */

/* Returns the number of a name, counted from 1. */
static uint32_t number_of(struct file_sets *sets, const char ***names,
			  size_t *n, size_t *size, const char *name)
{
	for (size_t i = 0; i < *n; i++)
		if (!strcmp((*names)[i], name))
			return (uint32_t)i + 1;
	*VEC_PUSH(&sets->arena, *names, *n, *size) = name;
	return (uint32_t)*n;
}

static bool any_named(const struct policies *policies)
{
	for (size_t i = 0; i < policies->n; i++)
		if (policy_names_sets(policies->items[i].policy))
			return true;
	return false;
}

static uint32_t *named_sets(struct file_sets *sets, struct job *job)
{
	const char **names = NULL;
	size_t n = 0, size = 0;
	struct buf scratch;
	uint32_t *numbers;

	if (!any_named(job->policies))
		return NULL;
	numbers = ARENA_ARRAY(&sets->arena, uint32_t, job->files->n + 1);
	buf_init(&scratch);
	for (size_t i = 0; i < job->files->n; i++) {
		struct policy_path_rule rule = {0};

		job_policy(job, i, &scratch, &rule);
		if (rule.set)
			numbers[i] =
				number_of(sets, &names, &n, &size, rule.set);
	}
	buf_release(&scratch);
	sets->named = (uint32_t)n;
	return numbers;
}

/* --- sets with the same objects ------------------------------------------- */

/* Returns the path of the folder that follows len bytes of the path, or NULL if
 * the file itself follows. */
static const char *folder_at(struct arena *arena, const char *path, size_t len)
{
	const char *slash = strchr(path + len, '/');

	return slash ? arena_strndup(arena, path, (size_t)(slash - path))
		     : NULL;
}

static void part(struct file_sets *sets, const char *a, const char *b)
{
	const char *left, *right;
	size_t common = 0;

	for (size_t i = 0; a[i] && a[i] == b[i]; i++)
		if (a[i] == '/')
			common = i + 1;
	left = folder_at(&sets->arena, a, common);
	right = folder_at(&sets->arena, b, common);
	if (!left || !right)
		return;
	*VEC_PUSH(&sets->arena, sets->folders, sets->n, sets->size) = left;
	*VEC_PUSH(&sets->arena, sets->folders, sets->n, sets->size) = right;
}

static void part_all(struct file_sets *sets, const struct files *files,
		     const struct sightings *seen)
{
	struct buf a, b;

	buf_init(&a);
	buf_init(&b);
	for (size_t i = 1; i < seen->n; i++) {
		const struct sighting *x = &seen->items[i - 1];
		const struct sighting *y = &seen->items[i];

		if (x->what != y->what || x->file == y->file)
			continue;
		buf_reset(&a);
		buf_reset(&b);
		files_path(files, x->file, &a);
		files_path(files, y->file, &b);
		part(sets, a.data, b.data);
	}
	buf_release(&a);
	buf_release(&b);
}

/* Makes each rendered root that builds the same base as another one a separate
 * set. */
static void part_rendered(struct file_sets *sets, const struct files *files)
{
	for (size_t i = files->n - files->nrendered; i < files->n; i++) {
		const struct lint_file *f = &files->items[i];
		const char *folder = files->folders[f->folder].path;

		if (f->flags & FILE_OWN_SET && *folder)
			*VEC_PUSH(&sets->arena, sets->folders, sets->n,
				  sets->size) = folder;
	}
}

static void keep_once(struct file_sets *sets)
{
	size_t kept = 0;

	texts_sort(sets->folders, sets->n);
	for (size_t i = 0; i < sets->n; i++)
		if (!kept || strcmp(sets->folders[kept - 1], sets->folders[i]))
			sets->folders[kept++] = sets->folders[i];
	sets->n = kept;
}

/* Returns the number, from 1, of the innermost folder that contains the path; 0
 * if there is none. */
static uint32_t folder_of(const struct file_sets *sets, const char *path)
{
	uint32_t found = 0;

	/* The folders are sorted, so that inner folders follow outer ones. */
	for (size_t i = 0; i < sets->n; i++) {
		size_t len = strlen(sets->folders[i]);

		if (!strncmp(path, sets->folders[i], len) && path[len] == '/')
			found = (uint32_t)i + 1;
	}
	return found;
}

void file_sets_make(struct file_sets *sets, struct job *job,
		    const struct object_index *index)
{
	struct sightings seen = {.named = named_sets(sets, job)};
	struct buf path;

	sets->numbers = (uint32_t *)(uintptr_t)seen.named;
	object_index_each(index, note_object, &seen);
	if (seen.n)
		qsort(seen.items, seen.n, sizeof(*seen.items), by_what);
	part_all(sets, job->files, &seen);
	free(seen.items);
	part_rendered(sets, job->files);
	keep_once(sets);
	if (!sets->n)
		return;
	if (!sets->numbers)
		sets->numbers =
			ARENA_ARRAY(&sets->arena, uint32_t, job->files->n + 1);
	buf_init(&path);
	for (size_t i = 0; i < job->files->n; i++) {
		buf_reset(&path);
		files_path(job->files, i, &path);
		if (!sets->numbers[i] && folder_of(sets, path.data))
			sets->numbers[i] =
				sets->named + folder_of(sets, path.data);
	}
	buf_release(&path);
}

void file_sets_release(struct file_sets *sets)
{
	arena_release(&sets->arena);
}
