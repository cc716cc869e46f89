/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All threads share one stack of folders, with the next one of the sorted tree
 * on top: listing a folder takes a hundred times as long as the lock. A folder
 * stays open until all folders in it are, which is about one for each level.
 */
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

enum { WORTH_A_CALL = 8 /* folders that wait */ };

/* A folder while it, or one below it, is being looked at. */
struct tree_level {
	struct tree_level *above; /* NULL: the root */
	struct tree_entry *slot;
	const struct ignore_list *ignore; /* for what it holds */
	int fd;				  /* -1 when closed */
	atomic_uint closed; /* folders in it that are not opened yet */
	atomic_uint users;  /* itself, and folders in it that have users */
};

struct tree_worker {
	struct tree *tree;
	struct listings listings;
	struct arena arena; /* what the tree is made of, and patterns */
	struct arena names; /* of files */
	struct kustomize kustomize;
	struct buf shown, absolute; /* of what is looked at */
	struct tree_level *spare;   /* linked by above */
	size_t nfiles, nfolders;
};

/* --- one folder ---------------------------------------------------------- */

/* The path of a folder, written from its end. */
static void set_path(struct buf *path, const char *root,
		     const struct tree_level *level)
{
	size_t start = strlen(root), len = start;
	const struct tree_level *v;
	char *at;

	for (v = level; v->above; v = v->above)
		len += 1 + strlen(v->slot->name);
	if (len > start && (!start || root[start - 1] == '/'))
		len--;
	buf_reset(path);
	buf_grow(path, len + 1);
	path->len = len;
	at = path->data + len;
	*at = '\0';
	for (v = level; v->above; v = v->above) {
		size_t n = strlen(v->slot->name);

		at -= n;
		memcpy(at, v->slot->name, n);
		if (at > path->data)
			*--at = '/';
	}
	memcpy(path->data, root, start);
}

static struct tree_level *new_level(struct tree_worker *w)
{
	struct tree_level *level = w->spare;

	if (level)
		w->spare = level->above;
	else
		level = arena_alloc(&w->arena, sizeof(*level));
	memset(level, 0, sizeof(*level));
	level->fd = -1;
	atomic_init(&level->users, 1);
	return level;
}

static void leave(struct tree_worker *w, struct tree_level *level)
{
	while (level && atomic_fetch_sub(&level->users, 1) == 1) {
		struct tree_level *above = level->above;

		level->above = w->spare;
		w->spare = level;
		level = above;
	}
}

static void close_folder(struct tree_level *level)
{
	close(level->fd);
	level->fd = -1;
}

/* 0, or errno. */
static int open_folder(struct tree_level *level)
{
	struct tree_level *above = level->above;
	int error = 0;

	level->fd = listing_open(above->fd, level->slot->name);
	if (level->fd < 0)
		error = errno;
	if (atomic_fetch_sub(&above->closed, 1) == 1)
		close_folder(above);
	return error;
}

static void read_rules(struct tree_worker *w, struct tree_level *level,
		       const struct listing *listing)
{
	const struct tree *tree = w->tree;
	const char *path = w->absolute.data;

	if (tree->ignore_vcs && listing->git)
		level->ignore = ignore_repository(&w->arena, path);
	if (tree->ignore_vcs && listing->gitignore && level->ignore)
		level->ignore = ignore_read(&w->arena, level->ignore, level->fd,
					    ".gitignore", path);
	if (listing->chart)
		kustomize_meet(&w->kustomize, path, listing->chart);
	if (!listing->kustomization)
		return;
	kustomize_meet(&w->kustomize, path, listing->kustomization);
	kustomize_read(&w->kustomize, level->fd, listing->kustomization, path);
}

static struct ignored_count count_ignored(struct tree_worker *w, int fd,
					  const char *name)
{
	struct ignored_count count = {0, IGNORED_UNKNOWN};
	int child;

	if (atomic_load(&w->tree->looked_at) >= IGNORED_BUDGET)
		return count;
	child = listing_open(fd, name);
	if (child < 0)
		return (struct ignored_count){0, 0};
	count = ignored_count(&w->listings, child, IGNORED_BUDGET);
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

static void append(struct buf *path, const char *name)
{
	if (path->len && path->data[path->len - 1] != '/')
		buf_addc(path, '/');
	buf_adds(path, name);
}

static void cut(struct buf *path, size_t len)
{
	path->len = len;
	if (path->size)
		path->data[len] = '\0';
}

enum verdict { KEEP, IGNORED, EXCLUDED };

static enum verdict judge(struct tree_worker *w,
			  const struct ignore_list *ignore, size_t i)
{
	const struct excludes *excludes = w->tree->excludes;
	size_t shown = w->shown.len, absolute = w->absolute.len;
	enum verdict verdict = KEEP;

	if (!ignore && !excludes->n)
		return KEEP;
	append(&w->shown, listings_name(&w->listings, i));
	append(&w->absolute, listings_name(&w->listings, i));
	if (ignore && ignore_match(ignore, w->absolute.data,
				   w->listings.entries[i].folder))
		verdict = IGNORED;
	else if (excludes_match(excludes, w->shown.data, w->absolute.data))
		verdict = EXCLUDED;
	cut(&w->shown, shown);
	cut(&w->absolute, absolute);
	return verdict;
}

static void add_entries(struct tree_worker *w, const struct tree_level *level,
			struct tree_folder *folder, size_t from)
{
	size_t end = w->listings.n, files = 0;

	folder->entries =
		arena_alloc(&w->arena, (end - from) * sizeof(*folder->entries));
	for (size_t i = from; i < end; i++) {
		const struct entry *entry = &w->listings.entries[i];
		enum verdict verdict = judge(w, level->ignore, i);

		if (verdict == IGNORED)
			leave_out(w, level->fd, folder, i);
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

static void read_folder(struct tree_worker *w, struct tree_level *level,
			struct tree_folder *folder)
{
	struct listing listing;

	set_path(&w->shown, w->tree->shown, level);
	set_path(&w->absolute, w->tree->absolute, level);
	/* Nothing in it could be opened by its path. */
	if (w->absolute.len >= PATH_MAX) {
		folder->error = ENAMETOOLONG;
		return;
	}
	folder->error =
		(uint16_t)listing_read(&w->listings, level->fd, &listing);
	folder->policy = listing.policy;
	read_rules(w, level, &listing);
	if (w->listings.n > listing.from)
		add_entries(w, level, folder, listing.from);
	listing_drop(&w->listings, &listing);
}

static void push(struct tree *tree, struct tree_level *level)
{
	*ARRAY_PUSH(tree->waiting, tree->nwaiting, tree->waiting_size) = level;
}

/* The first folder is to be the next one. */
static void push_folders(struct tree_worker *w, struct tree_level *level,
			 const struct tree_folder *folder)
{
	unsigned pushed = 0;

	pthread_mutex_lock(&w->tree->lock);
	for (uint32_t i = folder->n; i-- > 0;) {
		struct tree_level *below;

		if (folder->entries[i].kind != TREE_FOLDER)
			continue;
		below = new_level(w);
		below->above = level;
		below->slot = &folder->entries[i];
		below->ignore = level->ignore;
		push(w->tree, below);
		pushed++;
	}
	atomic_fetch_add(&level->users, pushed);
	atomic_store(&level->closed, pushed);
	pthread_mutex_unlock(&w->tree->lock);
	if (!pushed && level->fd >= 0)
		close_folder(level);
}

/* Most folders of a large tree hold nothing, and cost nothing. */
static void keep(struct tree_worker *w, struct tree_entry *slot,
		 const struct tree_folder *folder)
{
	if (!folder->n && !folder->ignored && !folder->error &&
	    !folder->policy) {
		slot->kind = TREE_NOTHING;
		return;
	}
	slot->as.folder = arena_alloc(&w->arena, sizeof(*folder));
	*slot->as.folder = *folder;
}

static void look_at(struct tree_worker *w, struct tree_level *level)
{
	struct tree_folder folder = {0};
	int error = level->above ? open_folder(level) : 0;

	if (level->fd >= 0)
		read_folder(w, level, &folder);
	else if (error != ENOENT) /* gone by now */
		folder.error = (uint16_t)error;
	keep(w, level->slot, &folder);
	push_folders(w, level, &folder);
	leave(w, level);
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

/* The next folder; NULL when all are done. Others are called when there is
 * work for them too. Under the lock. */
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

/* --- the whole ----------------------------------------------------------- */

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
	struct tree_worker *w = &tree->workers[0];
	struct tree_level *root = new_level(w);

	tree->root = (struct tree_entry){.name = "", .kind = TREE_FOLDER};
	root->slot = &tree->root;
	root->fd = fd;
	root->ignore = ignore;
	push(tree, root);
	tree->called = tree->thread_pool->most < 2;
	work(tree, 0);
	pool_wait(tree->thread_pool);
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
		w->spare = NULL;
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
	int fd = listing_open(AT_FDCWD, path);

	if (fd < 0)
		return (struct ignored_count){0, 0};
	return ignored_count(&tree->workers[0].listings, fd, budget);
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
