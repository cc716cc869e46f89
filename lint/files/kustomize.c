/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the files that are kustomize patches, and the bases that patches and
 * components change: values missing there may come from an overlay. A base is
 * everything in and below the listed folder. Fields after the kustomization
 * reference (kubectl.docs.kubernetes.io): patches[].path,
 * patchesJson6902[].path, patchesStrategicMerge[] and components[]. A file is
 * parsed only if it contains one of these words or `vars`, because most
 * kustomizations list only resources.
 */
#include "kustomize.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/path.h"
#include "base/text.h"
#include "doc/load.h"

enum { LEVELS_ABOVE = 4 };

static const char *const names[] = {"kustomization.yaml", "kustomization.yml",
				    "Kustomization"};

void kustomize_init(struct kustomize *k, const char *cwd)
{
	memset(k, 0, sizeof(*k));
	k->cwd = cwd;
}

void kustomize_release(struct kustomize *k)
{
	free(k->marks);
	free(k->bases);
	free(k->seen);
	free(k->met);
	buf_release(&k->input);
	arena_release(&k->arena);
}

const char *kustomize_name(const char *name)
{
	if (*name != 'k' && *name != 'K')
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return names[i];
	return NULL;
}

const char *chart_name(const char *name)
{
	static const char chart[] = "Chart.yaml";

	return *name == *chart && !strcmp(name, chart) ? chart : NULL;
}

void kustomize_meet(struct kustomize *k, const char *folder, const char *name)
{
	*ARRAY_PUSH(k->met, k->nmet, k->met_size) =
		(struct renderable){arena_strdup(&k->arena, folder), name};
}

static const char *listed(struct kustomize *k, const char *folder,
			  const char *path)
{
	struct buf absolute;
	const char *text;

	buf_init(&absolute);
	path_absolute(folder, path, &absolute);
	text = arena_strdup(&k->arena, absolute.data);
	buf_release(&absolute);
	return text;
}

static bool is_path(const char *path)
{
	return path && *path && !strchr(path, '\n');
}

static void add_mark(struct kustomize *k, const char *folder, const char *path)
{
	if (is_path(path))
		*ARRAY_PUSH(k->marks, k->n, k->size) = listed(k, folder, path);
}

static void add_bases(struct kustomize *k, const struct node *root,
		      const char *folder)
{
	static const char *const lists[] = {"resources", "bases"};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		FOR_EACH_CHILD(node_get(root, lists[i]), item)
			if (is_path(node_str(item)))
				*ARRAY_PUSH(k->bases, k->nbases,
					    k->bases_size) =
					listed(k, folder, node_str(item));
}

static void add_marks(struct kustomize *k, const struct node *root,
		      const char *folder)
{
	static const char *const lists[] = {"patches", "patchesJson6902",
					    "patchesStrategicMerge",
					    "components"};
	/* Vars replace references in the files that are listed. */
	bool patches = node_first(node_get(root, "vars")) != NULL;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		FOR_EACH_CHILD(node_get(root, lists[i]), item) {
			add_mark(k, folder, node_str(item));
			add_mark(k, folder, node_str(node_get(item, "path")));
			patches = true;
		}
	}
	if (patches)
		add_bases(k, root, folder);
	if (node_eq(node_get(root, "kind"), "Component"))
		add_mark(k, folder, ".");
}

static bool has_word(const struct buf *input, const char *word)
{
	return memmem(input->data, input->len, word, strlen(word)) != NULL;
}

void kustomize_read(struct kustomize *k, int dirfd, const char *name,
		    const char *folder)
{
	static const struct file_how how = {.limit = FILE_MANIFEST_MAX};
	struct arena arena = ARENA_INIT;
	struct source source;
	struct loader loader;
	struct doc doc;

	if (input_read(&k->input, dirfd, name, &how))
		return;
	if (!has_word(&k->input, "patches") && !has_word(&k->input, "vars") &&
	    !has_word(&k->input, "components") &&
	    !has_word(&k->input, "Component"))
		return;
	source_init(&source, &arena, name, k->input.data, k->input.len);
	loader_init(&loader, &source, &load_limits_default, &arena);
	/* Errors of the file are reported when it is linted. */
	while (loader_next(&loader, &doc) > 0)
		add_marks(k, doc.root, folder);
	arena_release(&arena);
}

/* Returns false if the folder was entered before. */
static bool enter_folder(struct kustomize *k, const char *folder)
{
	struct buf path;

	for (size_t i = k->nseen; i-- > 0;)
		if (!strcmp(k->seen[i], folder))
			return false;
	*ARRAY_PUSH(k->seen, k->nseen, k->seen_size) =
		arena_strdup(&k->arena, folder);
	buf_init(&path);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		buf_reset(&path);
		path_join(folder, names[i], &path);
		kustomize_read(k, AT_FDCWD, path.data, folder);
	}
	buf_release(&path);
	return true;
}

void kustomize_look_above(struct kustomize *k, const char *folder)
{
	struct buf path;

	buf_init(&path);
	buf_adds(&path, folder);
	for (int i = 0; i < LEVELS_ABOVE && path.len > 1; i++) {
		if (!enter_folder(k, path.data))
			break;
		/* Folders above the root of the repository are not read. */
		buf_adds(&path, "/.git");
		if (!access(path.data, F_OK))
			break;
		path.len -= strlen("/.git");
		while (path.len && path.data[--path.len] != '/')
			;
		path.data[path.len] = '\0';
	}
	buf_release(&path);
}

void kustomize_join(struct kustomize *dst, struct kustomize *src)
{
	for (size_t i = 0; i < src->n; i++)
		*ARRAY_PUSH(dst->marks, dst->n, dst->size) = src->marks[i];
	for (size_t i = 0; i < src->nbases; i++)
		*ARRAY_PUSH(dst->bases, dst->nbases, dst->bases_size) =
			src->bases[i];
	for (size_t i = 0; i < src->nmet; i++)
		*ARRAY_PUSH(dst->met, dst->nmet, dst->met_size) = src->met[i];
	src->n = src->nbases = src->nmet = 0;
	arena_adopt(&dst->arena, &src->arena);
}

static void mark_folders(struct kustomize *k, struct files *files)
{
	struct buf path;

	buf_init(&path);
	texts_sort(k->marks, k->n);
	for (size_t i = 0; i < files->nfolders; i++) {
		buf_reset(&path);
		path_absolute(k->cwd, files->folders[i].path, &path);
		files->folders[i].fragments =
			texts_have(k->marks, k->n, path.data);
	}
	buf_release(&path);
}

bool kustomize_patches(const struct kustomize *k, const char *path)
{
	for (size_t i = 0; i < k->nbases; i++)
		if (!strcmp(path, k->bases[i]) ||
		    path_is_below(k->bases[i], path))
			return true;
	return false;
}

static void mark_bases(struct kustomize *k, struct files *files)
{
	struct buf path;

	buf_init(&path);
	for (size_t i = 0; i < files->n && k->nbases; i++) {
		files_absolute(files, i, k->cwd, &path);
		if (kustomize_patches(k, path.data))
			files->items[i].flags |= FILE_PATCHED;
	}
	buf_release(&path);
}

void kustomize_mark(struct kustomize *k, struct files *files)
{
	struct buf path;

	mark_bases(k, files);
	if (!k->n)
		return;
	mark_folders(k, files);
	buf_init(&path);
	for (size_t i = 0; i < k->n; i++) {
		long file;

		buf_reset(&path);
		path_from(k->cwd, k->marks[i], &path);
		file = files_find(files, path.data);
		if (file < 0)
			file = files_find(files, k->marks[i]);
		if (file >= 0)
			files->items[file].flags |= FILE_FRAGMENT;
	}
	buf_release(&path);
}
