/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a tree of folders. All threads share one stack of folders to read, with
 * the next one in sorted order on top; the lock costs a hundredth of the time
 * to list a folder. A folder is opened by its path below the root. For 25,500
 * files in 29,800 folders, two threads save 14 % of the time of the whole run
 * (4.0 s in place of 4.6 s) if the folders are not in the page cache, and 4 %
 * if they are.
 */
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

enum {
	WORTH_A_CALL =
		/* number of waiting folders above which other threads are
		 * called */
	8
};

/* A folder that waits to be read, or is being read. */
struct tree_level {
	struct tree_entry *slot;
	const struct ignore_list *ignore; /* patterns for its entries */
	char path[]; /* path below the root; "" for the root itself */
};

struct tree_worker {
	struct tree *tree;
	struct listings listings;
	struct arena arena; /* nodes of the tree, and patterns */
	struct arena names; /* names of files */
	struct kustomize kustomize;
	struct buf shown, absolute; /* paths of the current entry */
	size_t nfiles, nfolders;
};

/* --- one folder ---------------------------------------------------------- */

static struct tree_level *new_level(const char *above, struct tree_entry *slot,
				    const struct ignore_list *ignore)
{
	size_t len = strlen(above) + 1 + strlen(slot->name);
	struct tree_level *level = array_zalloc(1, sizeof(*level) + len + 1);

	level->slot = slot;
	level->ignore = ignore;
	stpcpy(stpcpy(stpcpy(level->path, above), *above ? "/" : ""),
	       slot->name);
	return level;
}

static void set_path(struct buf *path, const char *root, const char *below)
{
	buf_reset(path);
	buf_adds(path, root);
	if (*below)
		path_enter(path, below);
}

/* Returns -1 and sets errno if the folder cannot be opened. */
static int open_folder(struct tree_worker *w, const struct tree_level *level)
{
	const struct tree *tree = w->tree;

	set_path(&w->shown, tree->shown, level->path);
	set_path(&w->absolute, tree->absolute, level->path);
	if (w->absolute.len < PATH_MAX)
		return *level->path ? listing_open(tree->fd, level->path)
				    : tree->fd;
	/* The path is so long that nothing in the folder could be opened by its
	 * path. */
	errno = ENAMETOOLONG;
	return -1;
}

static void read_rules(struct tree_worker *w, struct tree_level *level, int fd,
		       const struct listing *listing)
{
	const struct tree *tree = w->tree;
	const char *path = w->absolute.data;

	if (tree->ignore_vcs && listing->git)
		level->ignore = ignore_repository(&w->arena, path);
	if (tree->ignore_vcs && listing->gitignore && level->ignore)
		level->ignore = ignore_read(&w->arena, level->ignore, fd,
					    ".gitignore", path);
	if (listing->chart)
		kustomize_meet(&w->kustomize, path, listing->chart);
	if (!listing->kustomization)
		return;
	kustomize_meet(&w->kustomize, path, listing->kustomization);
	kustomize_read(&w->kustomize, fd, listing->kustomization, path);
}

/* Counts the manifests below fd, which is closed, and stops when it has
 * examined as many entries as the budget allows. Entries are examined in sorted
 * order, so that the result depends only on the budget. */
static void count_files_below(struct listings *listings, int fd,
			      uint32_t budget, struct ignored_count *count)
{
	struct listing listing;
	size_t end;

	if (fd < 0)
		return;
	if (listing_read(listings, fd, &listing))
		listing_drop(listings, &listing);
	end = listings->n;
	for (size_t i = listing.from; i < end && count->looked_at < budget;
	     i++) {
		count->looked_at++;
		if (listings->entries[i].folder)
			count_files_below(
				listings,
				listing_open(fd, listings_name(listings, i)),
				budget, count);
		else
			count->manifests++;
	}
	listing_drop(listings, &listing);
	close(fd);
}

static struct ignored_count count_ignored(struct tree_worker *w, int fd,
					  const char *name)
{
	struct ignored_count count = {0, 0};

	if (atomic_load(&w->tree->looked_at) >= IGNORED_BUDGET)
		return (struct ignored_count){0, IGNORED_UNKNOWN};
	count_files_below(&w->listings, listing_open(fd, name), IGNORED_BUDGET,
			  &count);
	atomic_fetch_add(&w->tree->looked_at, count.looked_at);
	return count;
}

static struct tree_entry *add_entry(struct tree_worker *w,
				    struct tree_folder *folder,
				    enum tree_kind kind, size_t i)
{
	struct tree_entry *entry = &folder->entries[folder->n++];

	entry->kind = kind;
	entry->name = arena_strdup(&w->names, listings_name(&w->listings, i));
	return entry;
}

static void leave_out(struct tree_worker *w, int fd, struct tree_folder *folder,
		      size_t i)
{
	struct ignored_count count;

	if (!w->listings.entries[i].folder) {
		folder->ignored++;
		return;
	}
	count = count_ignored(w, fd, listings_name(&w->listings, i));
	if (count.looked_at)
		add_entry(w, folder, TREE_IGNORED, i)->as.ignored = count;
}

enum verdict { KEEP, IGNORED, EXCLUDED };

static enum verdict filter_entry(struct tree_worker *w,
				 const struct ignore_list *ignore, size_t i)
{
	const struct excludes *excludes = w->tree->excludes;
	size_t shown = w->shown.len, absolute = w->absolute.len;
	enum verdict verdict = KEEP;

	if (!ignore && !excludes->n)
		return KEEP;
	path_enter(&w->shown, listings_name(&w->listings, i));
	path_enter(&w->absolute, listings_name(&w->listings, i));
	if (ignore && ignore_match(ignore, w->absolute.data,
				   w->listings.entries[i].folder))
		verdict = IGNORED;
	else if (excludes_match(excludes, w->shown.data, w->absolute.data))
		verdict = EXCLUDED;
	path_leave(&w->shown, shown);
	path_leave(&w->absolute, absolute);
	return verdict;
}

static void add_entries(struct tree_worker *w, int fd,
			const struct ignore_list *ignore,
			struct tree_folder *folder, size_t from)
{
	size_t end = w->listings.n, files = 0;

	folder->entries =
		arena_alloc(&w->arena, (end - from) * sizeof(*folder->entries));
	for (size_t i = from; i < end; i++) {
		const struct entry *entry = &w->listings.entries[i];
		enum verdict verdict = filter_entry(w, ignore, i);

		if (verdict == IGNORED)
			leave_out(w, fd, folder, i);
		else if (verdict == KEEP && entry->folder)
			add_entry(w, folder, TREE_FOLDER, i)->as.folder = NULL;
		else if (verdict == KEEP)
			add_entry(w, folder, TREE_FILE, i)->as.flags =
				entry->flags;
		files += verdict == KEEP && !entry->folder;
	}
	w->nfiles += files;
	w->nfolders += files > 0;
}

static void read_folder(struct tree_worker *w, struct tree_level *level, int fd,
			struct tree_folder *folder)
{
	struct listing listing;

	folder->error = (uint16_t)listing_read(&w->listings, fd, &listing);
	folder->policy = listing.policy;
	folder->misnamed = listing.misnamed && !listing.policy;
	read_rules(w, level, fd, &listing);
	if (w->listings.n > listing.from)
		add_entries(w, fd, level->ignore, folder, listing.from);
	listing_drop(&w->listings, &listing);
	if (fd != w->tree->fd)
		close(fd);
}

static void push(struct tree *tree, struct tree_level *level)
{
	*ARRAY_PUSH(tree->waiting, tree->nwaiting, tree->waiting_size) = level;
}

/* Pushes the subfolders so that the first one is read next. */
static void push_folders(struct tree *tree, const struct tree_level *level,
			 const struct tree_folder *folder)
{
	pthread_mutex_lock(&tree->lock);
	for (uint32_t i = folder->n; i-- > 0;)
		if (folder->entries[i].kind == TREE_FOLDER)
			push(tree, new_level(level->path, &folder->entries[i],
					     level->ignore));
	pthread_mutex_unlock(&tree->lock);
}

/* Stores the result. Most folders of a large tree contain no manifests and need
 * no memory. */
static void keep(struct tree_worker *w, struct tree_entry *slot,
		 const struct tree_folder *folder)
{
	if (!folder->n && !folder->ignored && !folder->error &&
	    !folder->policy && !folder->misnamed) {
		slot->kind = TREE_NOTHING;
		return;
	}
	slot->as.folder = arena_alloc(&w->arena, sizeof(*folder));
	*slot->as.folder = *folder;
}

static void look_at(struct tree_worker *w, struct tree_level *level)
{
	struct tree_folder folder = {0};
	int fd = open_folder(w, level);

	if (fd >= 0)
		read_folder(w, level, fd, &folder);
	else if (errno != ENOENT) /* deleted in the meantime */
		folder.error = (uint16_t)errno;
	keep(w, level->slot, &folder);
	push_folders(w->tree, level, &folder);
	free(level);
}

/* --- threads ------------------------------------------------------------- */

static void init_worker(struct tree *tree, struct tree_worker *w)
{
	if (w->tree)
		return;
	w->tree = tree;
	listings_init(&w->listings);
	kustomize_init(&w->kustomize, NULL);
	buf_init(&w->shown);
	buf_init(&w->absolute);
}

static void work(void *context, unsigned index);

/* Returns the next folder; NULL at the end. Wakes other threads if there is
 * enough work for them. Called with the lock held. */
static struct tree_level *next_folder(struct tree *tree)
{
	while (!tree->nwaiting && tree->busy)
		pthread_cond_wait(&tree->more, &tree->lock);
	if (!tree->nwaiting)
		return NULL;
	tree->busy++;
	if (!tree->called && tree->nwaiting > WORTH_A_CALL) {
		tree->called = true;
		pool_call(tree->thread_pool, tree->thread_pool->most, work,
			  tree);
	}
	return tree->waiting[--tree->nwaiting];
}

static void work(void *context, unsigned index)
{
	struct tree *tree = context;
	struct tree_worker *w = &tree->workers[index];
	struct tree_level *level;

	init_worker(tree, w);
	pthread_mutex_lock(&tree->lock);
	while ((level = next_folder(tree))) {
		pthread_mutex_unlock(&tree->lock);
		look_at(w, level);
		pthread_mutex_lock(&tree->lock);
		tree->busy--;
		if (tree->called && (tree->nwaiting || !tree->busy))
			pthread_cond_broadcast(&tree->more);
	}
	pthread_mutex_unlock(&tree->lock);
}

/* --- the whole tree ------------------------------------------------------- */

void tree_init(struct tree *tree, struct thread_pool *thread_pool)
{
	memset(tree, 0, sizeof(*tree));
	tree->thread_pool = thread_pool;
	pthread_mutex_init(&tree->lock, NULL);
	pthread_cond_init(&tree->more, NULL);
	tree->workers = array_zalloc(thread_pool->most, sizeof(*tree->workers));
	tree->nworkers = thread_pool->most;
}

const struct tree_entry *tree_read(struct tree *tree, int fd,
				   const struct ignore_list *ignore)
{
	tree->root = (struct tree_entry){.name = "", .kind = TREE_FOLDER};
	tree->fd = fd;
	push(tree, new_level("", &tree->root, ignore));
	tree->called = tree->thread_pool->most < 2;
	work(tree, 0);
	pool_wait(tree->thread_pool);
	close(fd);
	tree->nfiles = tree->nfolders = 0;
	for (unsigned i = 0; i < tree->nworkers; i++) {
		tree->nfiles += tree->workers[i].nfiles;
		tree->nfolders += tree->workers[i].nfolders;
	}
	return &tree->root;
}

void tree_reset(struct tree *tree)
{
	for (unsigned i = 0; i < tree->nworkers; i++) {
		struct tree_worker *w = &tree->workers[i];

		arena_reset(&w->arena);
		w->nfiles = w->nfolders = 0;
	}
}

void tree_keep(struct tree *tree, struct arena *names,
	       struct kustomize *kustomize)
{
	for (unsigned i = 0; i < tree->nworkers; i++) {
		struct tree_worker *w = &tree->workers[i];

		arena_adopt(names, &w->names);
		kustomize_join(kustomize, &w->kustomize);
	}
}

struct ignored_count tree_count(struct tree *tree, const char *path,
				uint32_t budget)
{
	struct ignored_count count = {0, 0};

	count_files_below(&tree->workers[0].listings,
			  listing_open(AT_FDCWD, path), budget, &count);
	return count;
}

void tree_release(struct tree *tree)
{
	for (unsigned i = 0; i < tree->nworkers; i++) {
		struct tree_worker *w = &tree->workers[i];

		if (!w->tree)
			continue;
		listings_release(&w->listings);
		kustomize_release(&w->kustomize);
		buf_release(&w->shown);
		buf_release(&w->absolute);
		arena_release(&w->arena);
		arena_release(&w->names);
	}
	free(tree->workers);
	free(tree->waiting);
	pthread_mutex_destroy(&tree->lock);
	pthread_cond_destroy(&tree->more);
}
