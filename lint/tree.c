/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each thread has a stack of folders of its own, with the next one of the
 * sorted tree on top; when others are hungry it gives them the lower half,
 * which is nearest to the root and so the largest. A folder stays open until
 * all folders in it are, which is about one for each level.
 */
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heap.h"

enum { WORTH_A_CALL = 8 /* folders that wait */ };

struct tree_worker {
	struct tree *tree;
	struct listings listings;
	struct arena arena; /* folders, entries, patterns */
	struct arena names; /* of files */
	struct kustomize kustomize;
	struct buf shown, absolute; /* of what is looked at */
	struct tree_folder **own;
	size_t n, size;
	struct tree_folder *spare; /* linked by parent */
};

/* --- one folder ---------------------------------------------------------- */

/* The path of a folder, written from its end. */
static void set_path(struct buf *path, const char *root,
		     const struct tree_folder *folder)
{
	size_t start = strlen(root), len = start;
	const struct tree_folder *f;
	char *at;

	for (f = folder; f->parent; f = f->parent)
		len += 1 + strlen(f->slot->name);
	if (len > start && (!start || root[start - 1] == '/'))
		len--;
	buf_reset(path);
	buf_grow(path, len + 1);
	path->len = len;
	at = path->data + len;
	*at = '\0';
	for (f = folder; f->parent; f = f->parent) {
		size_t n = strlen(f->slot->name);

		at -= n;
		memcpy(at, f->slot->name, n);
		if (at > path->data)
			*--at = '/';
	}
	memcpy(path->data, root, start);
}

static void close_folder(struct tree_folder *folder)
{
	close(folder->fd);
	folder->fd = -1;
}

/* The folder's fd is there, or its error. */
static void open_in_parent(struct tree_folder *folder)
{
	struct tree_folder *parent = folder->parent;

	folder->fd = listing_open(parent->fd, folder->slot->name);
	/* It may be gone by now. */
	if (folder->fd < 0 && errno != ENOENT)
		folder->error = errno;
	if (atomic_fetch_sub(&parent->closed, 1) == 1)
		close_folder(parent);
}

static void read_rules(struct tree_worker *w, struct tree_folder *folder,
		       const struct listing *listing)
{
	const struct tree *tree = w->tree;
	const char *path = w->absolute.data;

	folder->policy = listing->policy;
	if (tree->ignore_vcs && listing->git)
		folder->ignore = ignore_repository(&w->arena, path);
	if (tree->ignore_vcs && listing->gitignore && folder->ignore)
		folder->ignore = ignore_read(&w->arena, folder->ignore,
					     folder->fd, ".gitignore", path);
	if (listing->kustomization)
		kustomize_read(&w->kustomize, folder->fd,
			       listing->kustomization, path);
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

static struct tree_folder *new_folder(struct tree_worker *w)
{
	struct tree_folder *folder = w->spare;

	if (!folder)
		return ARENA_NEW(&w->arena, struct tree_folder);
	w->spare = folder->parent;
	memset(folder, 0, sizeof(*folder));
	return folder;
}

static struct tree_entry *add_entry(struct tree_worker *w,
				    struct tree_folder *folder,
				    enum tree_kind kind, const char *name)
{
	struct tree_entry *entry = &folder->entries[folder->n++];

	entry->kind = kind;
	entry->name = arena_strdup(&w->names, name);
	return entry;
}

static void add_folder(struct tree_worker *w, struct tree_folder *parent,
		       const char *name)
{
	struct tree_folder *folder = new_folder(w);

	folder->parent = parent;
	folder->slot = add_entry(w, parent, TREE_FOLDER, name);
	folder->slot->as.folder = folder;
	folder->fd = -1;
	folder->ignore = parent->ignore;
	parent->closed++;
}

static void leave_out(struct tree_worker *w, struct tree_folder *folder,
		      size_t i)
{
	struct ignored_count count;

	if (!w->listings.entries[i].folder) {
		folder->ignored++;
		return;
	}
	count = count_ignored(w, folder->fd, listings_name(&w->listings, i));
	if (count.looked_at)
		add_entry(w, folder, TREE_IGNORED,
			  listings_name(&w->listings, i))
			->as.ignored = count;
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
			  const struct tree_folder *folder, size_t i)
{
	const struct excludes *excludes = w->tree->excludes;
	size_t shown = w->shown.len, absolute = w->absolute.len;
	enum verdict verdict = KEEP;

	if (!folder->ignore && !excludes->n)
		return KEEP;
	append(&w->shown, listings_name(&w->listings, i));
	append(&w->absolute, listings_name(&w->listings, i));
	if (folder->ignore && ignore_match(folder->ignore, w->absolute.data,
					   w->listings.entries[i].folder))
		verdict = IGNORED;
	else if (excludes_match(excludes, w->shown.data, w->absolute.data))
		verdict = EXCLUDED;
	cut(&w->shown, shown);
	cut(&w->absolute, absolute);
	return verdict;
}

static void add_entries(struct tree_worker *w, struct tree_folder *folder,
			size_t from)
{
	size_t end = w->listings.n;

	folder->entries =
		arena_alloc(&w->arena, (end - from) * sizeof(*folder->entries));
	for (size_t i = from; i < end; i++) {
		const struct entry *entry = &w->listings.entries[i];
		enum verdict verdict = judge(w, folder, i);

		if (verdict == IGNORED)
			leave_out(w, folder, i);
		else if (verdict == KEEP && entry->folder)
			add_folder(w, folder, listings_name(&w->listings, i));
		else if (verdict == KEEP)
			add_entry(w, folder, TREE_FILE,
				  listings_name(&w->listings, i))
				->as.flags = entry->flags;
	}
}

static void read_folder(struct tree_worker *w, struct tree_folder *folder)
{
	struct listing listing;

	set_path(&w->shown, w->tree->shown, folder);
	set_path(&w->absolute, w->tree->absolute, folder);
	/* Nothing in it could be opened by its path. */
	if (w->absolute.len >= PATH_MAX) {
		folder->error = ENAMETOOLONG;
		close_folder(folder);
		return;
	}
	folder->error = listing_read(&w->listings, folder->fd, &listing);
	read_rules(w, folder, &listing);
	if (w->listings.n > listing.from)
		add_entries(w, folder, listing.from);
	listing_drop(&w->listings, &listing);
	if (!folder->closed)
		close_folder(folder);
}

/* Give back what holds nothing: most folders of a large tree do. */
static bool drop_empty(struct tree_worker *w, struct tree_folder *folder)
{
	if (folder->n || folder->ignored || folder->error || folder->policy ||
	    !folder->parent)
		return false;
	folder->slot->kind = TREE_NOTHING;
	folder->parent = w->spare;
	w->spare = folder;
	return true;
}

static void push_folders(struct tree_worker *w, struct tree_folder *folder)
{
	for (uint32_t i = folder->n; i-- > 0;)
		if (folder->entries[i].kind == TREE_FOLDER)
			*HEAP_PUSH(w->own, w->n, w->size) =
				folder->entries[i].as.folder;
}

/* --- threads ------------------------------------------------------------- */

/* The lower half of one's own, for those who have nothing. */
static void share(struct tree_worker *w)
{
	struct tree *tree = w->tree;
	size_t n = w->n / 2;

	pthread_mutex_lock(&tree->lock);
	if (tree->nwaiting < atomic_load(&tree->hungry)) {
		for (size_t i = 0; i < n; i++)
			*HEAP_PUSH(tree->waiting, tree->nwaiting,
				   tree->waiting_size) = w->own[i];
		w->n -= n;
		memmove(w->own, w->own + n, w->n * sizeof(*w->own));
		pthread_cond_broadcast(&tree->more);
	}
	pthread_mutex_unlock(&tree->lock);
}

/* Some of what others gave; false when all are done. */
static bool await_folders(struct tree_worker *w)
{
	struct tree *tree = w->tree;
	size_t n;

	pthread_mutex_lock(&tree->lock);
	atomic_fetch_add(&tree->hungry, 1);
	while (!tree->nwaiting && atomic_load(&tree->hungry) < tree->working)
		pthread_cond_wait(&tree->more, &tree->lock);
	n = (tree->nwaiting + 1) / 2;
	if (n)
		atomic_fetch_sub(&tree->hungry, 1);
	else
		pthread_cond_broadcast(&tree->more);
	for (size_t i = 0; i < n; i++)
		*HEAP_PUSH(w->own, w->n, w->size) =
			tree->waiting[--tree->nwaiting];
	pthread_mutex_unlock(&tree->lock);
	return n;
}

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

/* The caller has found that there is work for others too. */
static void call_others(struct tree *tree)
{
	pthread_mutex_lock(&tree->lock);
	tree->working = crew_call(tree->crew, tree->crew->most, work, tree);
	pthread_mutex_unlock(&tree->lock);
}

static void work(void *context, unsigned index)
{
	struct tree *tree = context;
	struct tree_worker *w = &tree->workers[index];
	bool called = index > 0 || tree->crew->most < 2;

	init_worker(tree, w);
	while (w->n || await_folders(w)) {
		struct tree_folder *folder = w->own[--w->n];

		if (folder->parent)
			open_in_parent(folder);
		if (folder->fd >= 0)
			read_folder(w, folder);
		if (drop_empty(w, folder))
			continue;
		push_folders(w, folder);
		if (!called && w->n >= WORTH_A_CALL) {
			call_others(tree);
			called = true;
		}
		if (w->n > 1 && atomic_load(&tree->hungry))
			share(w);
	}
}

/* --- the whole ----------------------------------------------------------- */

void tree_init(struct tree *tree, struct crew *crew)
{
	memset(tree, 0, sizeof(*tree));
	tree->crew = crew;
	pthread_mutex_init(&tree->lock, NULL);
	pthread_cond_init(&tree->more, NULL);
	tree->workers = heap_zalloc(crew->most, sizeof(*tree->workers));
	tree->nworkers = crew->most;
}

struct tree_folder *tree_read(struct tree *tree, int fd,
			      const struct ignore_list *ignore)
{
	struct tree_worker *w = &tree->workers[0];
	struct tree_folder *root = ARENA_NEW(&w->arena, struct tree_folder);

	root->fd = fd;
	root->ignore = ignore;
	*HEAP_PUSH(w->own, w->n, w->size) = root;
	tree->working = 1;
	atomic_store(&tree->hungry, 0);
	work(tree, 0);
	crew_wait(tree->crew);
	return root;
}

void tree_reset(struct tree *tree)
{
	for (unsigned i = 0; i < tree->nworkers; i++) {
		arena_reset(&tree->workers[i].arena);
		tree->workers[i].spare = NULL;
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
		free(w->own);
	}
	free(tree->workers);
	free(tree->waiting);
	pthread_mutex_destroy(&tree->lock);
	pthread_cond_destroy(&tree->more);
}
