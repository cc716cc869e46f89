/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists files. Several threads read folders into a tree (tree.h); everything
 * that depends on the order (policies, messages, the count of ignored
 * manifests) is done here, in the order of the tree, so that the results are
 * the same for any number of threads.
 */
#include "walk.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/path.h"
#include "gitignore.h"
#include "lint/term/log.h"
#include "tree.h"

enum { LARGE_LIST = 20000 };

struct root {
	dev_t dev;
	ino_t ino;
};

/* A folder on the path from the root to the current one. */
struct level {
	const struct tree_folder *folder;
	uint32_t next; /* index of the next entry */
	uint32_t policy;
	long index;		/* index in files; -1 until a file is added */
	size_t shown, absolute; /* lengths of the folder's paths */
};

struct walk {
	const struct walk_input *in;
	struct walk_result *result;
	/* memory of .gitignore patterns of the folders above */
	struct arena arena;
	struct excludes excludes;
	struct tree tree;
	struct root *roots;
	size_t nroots, roots_size;
	struct level *levels; /* folders from the root to the current one */
	size_t nlevels, levels_size;
	struct buf absolute, shown; /* paths of the current entry */
	/* number of ignored entries that may still be examined */
	uint32_t budget;
};

static void fail(struct walk *walk, const char *path, int error)
{
	log_line("%s: %s", *path ? path : "(empty path)", strerror(error));
	walk->result->failed = true;
}

/* --- folders -------------------------------------------------------------- */

static uint32_t load_policy(struct walk *walk)
{
	struct buf path;
	uint32_t policy;

	buf_init(&path);
	path_join(walk->shown.data, ".gpugate.yaml", &path);
	policy = policies_load(walk->in->policies, path.data);
	buf_release(&path);
	return policy;
}

/* Enters a folder, whose paths are those of the walk: counts its ignored files,
 * reports its error, loads its policy, and pushes a level. */
static void begin_folder(struct walk *walk, const struct tree_folder *folder,
			 uint32_t policy)
{
	walk->result->ignored += folder->ignored;
	if (folder->error)
		fail(walk, walk->shown.len ? walk->shown.data : ".",
		     folder->error);
	if (folder->policy)
		policy = load_policy(walk);
	if (folder->misnamed)
		policies_note_misnamed(walk->in->policies, walk->absolute.data);
	*ARRAY_PUSH(walk->levels, walk->nlevels, walk->levels_size) =
		(struct level){.folder = folder,
			       .policy = policy,
			       .index = -1,
			       .shown = walk->shown.len,
			       .absolute = walk->absolute.len};
}

static void add_file(struct walk *walk, struct level *level,
		     const struct tree_entry *entry)
{
	struct files *files = walk->in->files;
	bool excluded;

	path_enter(&walk->absolute, entry->name);
	excluded = policies_exclude(walk->in->policies, level->policy,
				    walk->absolute.data);
	path_leave(&walk->absolute, level->absolute);
	if (excluded)
		return;
	if (level->index < 0)
		level->index = files_add_folder(files, walk->shown.data,
						walk->shown.len, level->policy);
	files_add_kept(files, (uint32_t)level->index, entry->name,
		       entry->as.flags);
}

/* Counts ignored manifests in the order of the tree, so that the same ones are
 * within the budget whichever thread reads first. */
static void add_ignored(struct walk *walk, const struct level *level,
			const struct tree_entry *entry)
{
	struct ignored_count count = entry->as.ignored;

	if (!walk->budget)
		return;
	if (count.looked_at > walk->budget) {
		path_enter(&walk->absolute, entry->name);
		count = tree_count(&walk->tree, walk->absolute.data,
				   walk->budget);
		path_leave(&walk->absolute, level->absolute);
	}
	walk->budget -= count.looked_at;
	walk->result->ignored += count.manifests;
}

static void take_entry(struct walk *walk, struct level *level,
		       const struct tree_entry *entry)
{
	switch (entry->kind) {
	case TREE_FILE:
		add_file(walk, level, entry);
		break;
	case TREE_IGNORED:
		add_ignored(walk, level, entry);
		break;
	case TREE_FOLDER:
		path_enter(&walk->absolute, entry->name);
		path_enter(&walk->shown, entry->name);
		begin_folder(walk, entry->as.folder, level->policy);
		break;
	case TREE_NOTHING:
		break;
	}
}

static void go_down(struct walk *walk, const struct tree_entry *root,
		    uint32_t policy)
{
	if (root->kind == TREE_NOTHING)
		return;
	begin_folder(walk, root->as.folder, policy);
	while (walk->nlevels) {
		struct level *level = &walk->levels[walk->nlevels - 1];

		path_leave(&walk->absolute, level->absolute);
		path_leave(&walk->shown, level->shown);
		if (level->next == level->folder->n)
			walk->nlevels--;
		else
			take_entry(walk, level,
				   &level->folder->entries[level->next++]);
	}
}

/* --- paths of the command line -------------------------------------------- */

static bool seen_root(struct walk *walk, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return false;
	for (size_t i = 0; i < walk->nroots; i++)
		if (walk->roots[i].dev == st.st_dev &&
		    walk->roots[i].ino == st.st_ino)
			return true;
	*ARRAY_PUSH(walk->roots, walk->nroots, walk->roots_size) =
		(struct root){st.st_dev, st.st_ino};
	return false;
}

/* Walks walk->absolute, a folder that the user named, unless it was walked
 * before. Closes fd. */
static void walk_root(struct walk *walk, int fd)
{
	struct tree *tree = &walk->tree;
	const struct ignore_list *ignore = NULL;
	const struct tree_entry *root;
	uint32_t policy;

	if (seen_root(walk, fd)) {
		close(fd);
		return;
	}
	policy = policies_find(walk->in->policies, walk->absolute.data);
	if (tree->ignore_vcs)
		ignore = ignore_above(&walk->arena, walk->absolute.data);
	kustomize_look_above(walk->in->kustomize, walk->absolute.data);
	tree->shown = walk->shown.data;
	tree->absolute = walk->absolute.data;
	root = tree_read(tree, fd, ignore);
	files_add_root(walk->in->files, walk->shown.data, walk->shown.len);
	files_reserve(walk->in->files, tree->nfiles, tree->nfolders);
	go_down(walk, root, policy);
	tree_reset(tree);
}

/* Adds a file that the user named, walk.shown. Files of the same folder are
 * often adjacent. */
static void add_named(struct walk *walk, unsigned flags)
{
	struct files *files = walk->in->files;
	const char *slash = strrchr(walk->shown.data, '/');
	size_t len = slash ? (size_t)(slash - walk->shown.data) : 0;
	size_t last = files->nfolders;
	const char *name = slash ? slash + 1 : walk->shown.data;

	if (slash && !len)
		len = 1; /* the folder is / */
	if (!last || strlen(files->folders[last - 1].path) != len ||
	    memcmp(files->folders[last - 1].path, walk->shown.data, len) != 0) {
		char *end = strrchr(walk->absolute.data, '/');
		uint32_t policy;

		*(end == walk->absolute.data ? end + 1 : end) = '\0';
		policy = policies_find(walk->in->policies, walk->absolute.data);
		kustomize_look_above(walk->in->kustomize, walk->absolute.data);
		files_add_root(files, walk->shown.data, len);
		last = files_add_folder(files, walk->shown.data, len, policy) +
		       1;
	}
	files_add(files, (uint32_t)(last - 1), name, flags | FILE_NAMED);
}

static bool is_left_out(struct walk *walk)
{
	return walk->in->options->force_exclude &&
	       (excludes_match_any(&walk->excludes, walk->shown.data,
				   walk->absolute.data) ||
		policies_exclude(
			walk->in->policies,
			policies_find(walk->in->policies, walk->absolute.data),
			walk->absolute.data));
}

/* Returns the flags of a path that is not a folder and that the user named.
 * Files of /proc are regular, but have size 0 and short reads before their
 * end. */
static unsigned named_flags(const char *path)
{
	unsigned link = 0;
	struct stat st;
	int gone = lstat(path, &st);

	if (!gone && S_ISLNK(st.st_mode)) {
		link = FILE_LINK;
		gone = stat(path, &st);
	}
	if (gone)
		return 0; /* reported when the file is read */
	if (!S_ISREG(st.st_mode))
		return FILE_READ_ONCE;
	return link | (st.st_size ? FILE_REGULAR : 0);
}

static void walk_path(struct walk *walk, const char *path)
{
	const char *name = walk->in->options->stdin_filename;
	bool standard_input = !strcmp(path, "-");
	int fd = -1;

	if (standard_input)
		path = name && *name ? name : path;
	buf_reset(&walk->absolute);
	buf_reset(&walk->shown);
	path_clean(path, &walk->shown);
	path_absolute(walk->in->cwd, path, &walk->absolute);
	if (!standard_input)
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!standard_input && fd < 0 && errno != ENOTDIR) {
		fail(walk, path, errno);
	} else if (is_left_out(walk)) {
		if (fd >= 0)
			close(fd);
	} else if (fd >= 0) {
		walk_root(walk, fd);
	} else {
		add_named(walk, standard_input ? FILE_STDIN | FILE_READ_ONCE
					       : named_flags(path));
	}
}

static void init(struct walk *walk)
{
	const struct options *o = walk->in->options;

	walk->budget = IGNORED_BUDGET;
	buf_init(&walk->absolute);
	buf_init(&walk->shown);
	tree_init(&walk->tree, walk->in->thread_pool);
	walk->tree.excludes = &walk->excludes;
	walk->tree.ignore_vcs = !o->no_ignore_vcs;
}

static void release(struct walk *walk)
{
	excludes_release(&walk->excludes);
	free(walk->roots);
	free(walk->levels);
	buf_release(&walk->absolute);
	buf_release(&walk->shown);
	tree_release(&walk->tree);
	arena_release(&walk->arena);
}

int walk_paths(const struct walk_input *input, struct walk_result *result,
	       struct err *err)
{
	const struct list *paths = &input->options->paths;
	struct walk walk = {.in = input, .result = result};
	int rc;

	init(&walk);
	rc = excludes_init(&walk.excludes, &input->options->exclude, err);
	for (size_t i = 0; i < paths->n && !rc; i++)
		walk_path(&walk, paths->items[i]);
	if (!paths->n && !rc)
		walk_path(&walk, ".");
	tree_keep(&walk.tree, &input->files->arena, input->kustomize);
	release(&walk);
	/* Return the memory of the tree to the system, because threads cannot
	 * reuse it. */
	if (input->files->n > LARGE_LIST)
		malloc_trim(0);
	if (rc)
		return rc;
	/* A single path was walked in order, so only several must be sorted. */
	if (paths->n > 1)
		files_sort(input->files);
	kustomize_mark(input->kustomize, input->files);
	files_drop_repeated(input->files);
	return 0;
}
