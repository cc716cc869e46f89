/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walking. Entries of a folder are read with getdents64() into one buffer for
 * the whole walk, sorted as if folders ended in '/' (byte order of whole
 * paths), and entered with openat(). Names wait on a stack of bytes, since
 * readers of deep trees would otherwise hold one allocation per level.
 *
 * Manifests inside an ignored folder are counted, up to a budget: the number
 * tells that something was left out, not how large node_modules is.
 */
#include "walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/glob.h"
#include "base/text.h"
#include "gitignore.h"
#include "heap.h"
#include "log.h"

enum { DIRENTS = 32 * 1024, COUNT_BUDGET = 20000 };

struct entry {
	size_t name; /* offset in walk.names */
	bool folder;
	uint16_t flags; /* enum file_flags of a file */
};

struct exclude {
	struct glob *glob;
	bool path; /* holds a '/': matches paths, not names */
};

struct root {
	dev_t dev;
	ino_t ino;
};

struct walk {
	const struct walk_input *in;
	struct walk_result *result;
	struct arena arena; /* patterns of .gitignore */
	struct exclude *excludes;
	size_t nexcludes, excludes_size;
	struct root *roots;
	size_t nroots, roots_size;
	struct buf absolute, shown; /* path of what is being looked at */
	struct buf names;
	struct entry *entries;
	size_t nentries, entries_size;
	char *dirents;
	unsigned budget;
};

/* What a folder holds; its entries are [from, walk.nentries). */
struct listing {
	size_t from, names;
	const char *kustomization; /* one of the fixed names, or NULL */
	bool git, gitignore, policy;
};

static void fail(struct walk *walk, const char *path, int error)
{
	log_error("%s: %s", path, strerror(error));
	walk->result->failed = true;
}

/* --- paths being built --------------------------------------------------- */

struct mark {
	size_t absolute, shown;
};

static void append(struct buf *path, const char *name)
{
	if (path->len && path->data[path->len - 1] != '/')
		buf_addc(path, '/');
	buf_adds(path, name);
}

static struct mark enter(struct walk *walk, const char *name)
{
	struct mark mark = {walk->absolute.len, walk->shown.len};

	append(&walk->absolute, name);
	append(&walk->shown, name);
	return mark;
}

static void cut(struct buf *buf, size_t len)
{
	buf->len = len;
	if (buf->size)
		buf->data[len] = '\0';
}

static void leave(struct walk *walk, struct mark mark)
{
	cut(&walk->absolute, mark.absolute);
	cut(&walk->shown, mark.shown);
}

/* --- excludes ------------------------------------------------------------ */

static int add_excludes(struct walk *walk, struct err *err)
{
	const struct list *list = &walk->in->options->exclude;

	for (size_t i = 0; i < list->n; i++) {
		const char *text = list->items[i];
		size_t len;

		if (text_starts(text, "./"))
			text += 2;
		len = strlen(text);
		if (len > 1 && text[len - 1] == '/')
			len--;
		text = arena_strndup(&walk->arena, text, len);
		*HEAP_PUSH(walk->excludes, walk->nexcludes,
			   walk->excludes_size) = (struct exclude){
			glob_compile(text, 0, err), strchr(text, '/') != NULL};
		if (!walk->excludes[walk->nexcludes - 1].glob)
			return err_wrap(err, "--exclude %s", text);
	}
	return 0;
}

static bool is_excluded(const struct walk *walk, const char *shown,
			const char *absolute)
{
	const char *slash = strrchr(shown, '/');
	const char *name = slash ? slash + 1 : shown;

	for (size_t i = 0; i < walk->nexcludes; i++) {
		const struct exclude *e = &walk->excludes[i];

		if (glob_match(e->glob, e->path ? shown : name) ||
		    (e->path && glob_match(e->glob, absolute)))
			return true;
	}
	return false;
}

/* The same for a path that was named: any folder of it counts. */
static bool is_excluded_anywhere(const struct walk *walk, const char *shown,
				 const char *absolute)
{
	struct buf part;
	bool hit = false;

	buf_init(&part);
	for (const char *at = shown; *at && !hit;) {
		size_t len = strcspn(at + 1, "/") + 1;

		buf_add(&part, at, len);
		at += len;
		hit = is_excluded(walk, part.data, *at ? "" : absolute);
	}
	buf_release(&part);
	return hit;
}

/* --- one folder ---------------------------------------------------------- */

static bool is_manifest(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml") ||
		       !strcmp(dot, ".json"));
}

static void push(struct walk *walk, const char *name, bool folder,
		 unsigned flags)
{
	*HEAP_PUSH(walk->entries, walk->nentries, walk->entries_size) =
		(struct entry){walk->names.len, folder, (uint16_t)flags};
	buf_add(&walk->names, name, strlen(name) + 1);
}

/* A link, or a file system that does not tell types. */
static void push_unknown(struct walk *walk, int fd, const char *name,
			 unsigned char type)
{
	bool manifest = is_manifest(name);
	struct stat st;

	if (type == DT_LNK && !manifest)
		return;
	if (type == DT_UNKNOWN) {
		if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW))
			return;
		if (S_ISDIR(st.st_mode)) {
			push(walk, name, true, 0);
			return;
		}
	}
	if (!manifest)
		return;
	if (fstatat(fd, name, &st, 0))
		push(walk, name, false, FILE_DANGLING);
	else if (S_ISREG(st.st_mode))
		push(walk, name, false, 0);
}

static void look_at(struct walk *walk, int fd, const struct dirent64 *d,
		    struct listing *listing)
{
	const char *name = d->d_name;

	if (name[0] == '.') {
		if (!name[1] || (name[1] == '.' && !name[2]))
			return;
		if (!strcmp(name, ".git")) {
			listing->git = true;
			return;
		}
		if (!strcmp(name, ".gpugate.yaml")) {
			listing->policy = true;
			return;
		}
		listing->gitignore |= !strcmp(name, ".gitignore");
	}
	if (d->d_type == DT_DIR)
		push(walk, name, true, 0);
	else if (d->d_type == DT_REG && is_manifest(name))
		push(walk, name, false, FILE_REGULAR);
	else if (d->d_type == DT_LNK || d->d_type == DT_UNKNOWN)
		push_unknown(walk, fd, name, d->d_type);
	if (kustomize_name(name))
		listing->kustomization = kustomize_name(name);
}

static int by_name(const void *a, const void *b, void *context)
{
	const struct entry *x = a, *y = b;
	const char *names = ((const struct walk *)context)->names.data;
	const char *s = names + x->name, *t = names + y->name;

	while (*s && *s == *t) {
		s++;
		t++;
	}
	return (*s	    ? (unsigned char)*s
		: x->folder ? '/'
			    : 0) -
	       (*t	    ? (unsigned char)*t
		: y->folder ? '/'
			    : 0);
}

/* The entries of fd, sorted. 0, or errno. */
static int read_folder(struct walk *walk, int fd, struct listing *listing)
{
	*listing = (struct listing){.from = walk->nentries,
				    .names = walk->names.len};
	for (;;) {
		ssize_t n = getdents64(fd, walk->dirents, DIRENTS);

		if (n < 0)
			return errno;
		if (!n)
			break;
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *d =
				(const void *)(walk->dirents + at);

			look_at(walk, fd, d, listing);
			at += d->d_reclen;
		}
	}
	if (walk->nentries - listing->from > 1)
		qsort_r(walk->entries + listing->from,
			walk->nentries - listing->from, sizeof(struct entry),
			by_name, walk);
	return 0;
}

static void drop_listing(struct walk *walk, const struct listing *listing)
{
	walk->nentries = listing->from;
	cut(&walk->names, listing->names);
}

static int open_folder(int at, const char *name)
{
	return openat(at, name,
		      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* --- ignored folders ----------------------------------------------------- */

static void count_ignored(struct walk *walk, int fd)
{
	struct listing listing;
	bool read = !read_folder(walk, fd, &listing);

	for (size_t i = listing.from;
	     read && i < walk->nentries && walk->budget; i++) {
		int child;

		walk->budget--;
		if (!walk->entries[i].folder) {
			walk->result->ignored++;
			continue;
		}
		child = open_folder(fd,
				    walk->names.data + walk->entries[i].name);
		if (child >= 0)
			count_ignored(walk, child);
	}
	drop_listing(walk, &listing);
	close(fd);
}

static void leave_out(struct walk *walk, int fd, const char *name, bool folder)
{
	int child;

	if (!folder) {
		walk->result->ignored++;
		return;
	}
	child = walk->budget ? open_folder(fd, name) : -1;
	if (child >= 0)
		count_ignored(walk, child);
}

/* --- the walk ------------------------------------------------------------ */

/* What holds in the folder being walked. */
struct level {
	const struct ignore_list *ignore;
	uint32_t policy;
	long folder; /* index in files, -1 until it holds a file */
};

static void walk_folder(struct walk *walk, int fd, struct level level);

/* folder: bytes of walk.shown that name the file's folder. */
static void add_file(struct walk *walk, struct level *level,
		     const struct entry *entry, size_t folder)
{
	if (policies_exclude(walk->in->policies, level->policy,
			     walk->absolute.data))
		return;
	if (level->folder < 0)
		level->folder =
			files_add_folder(walk->in->files, walk->shown.data,
					 folder, level->policy);
	files_add(walk->in->files, (uint32_t)level->folder,
		  walk->names.data + entry->name, entry->flags);
}

static void visit(struct walk *walk, int fd, struct level *level, size_t i)
{
	struct entry entry = walk->entries[i];
	struct mark mark = enter(walk, walk->names.data + entry.name);
	const char *name = walk->names.data + entry.name;
	int child;

	if (level->ignore &&
	    ignore_match(level->ignore, walk->absolute.data, entry.folder)) {
		leave_out(walk, fd, name, entry.folder);
	} else if (is_excluded(walk, walk->shown.data, walk->absolute.data)) {
		/* The user asked for it: not counted. */
	} else if (entry.folder) {
		child = open_folder(fd, name);
		if (child >= 0)
			walk_folder(walk, child,
				    (struct level){level->ignore, level->policy,
						   -1});
		else if (errno != ENOENT)
			fail(walk, walk->shown.data, errno);
	} else {
		add_file(walk, level, &entry, mark.shown);
	}
	leave(walk, mark);
}

static void read_rules(struct walk *walk, int fd, const struct listing *listing,
		       struct level *level)
{
	const struct options *o = walk->in->options;
	const char *folder = walk->absolute.data;
	struct buf path;

	if (!o->no_ignore_vcs && listing->git)
		level->ignore = ignore_repository(&walk->arena, folder);
	if (!o->no_ignore_vcs && listing->gitignore && level->ignore)
		level->ignore = ignore_read(&walk->arena, level->ignore, fd,
					    ".gitignore", folder);
	if (listing->policy) {
		buf_init(&path);
		path_join(walk->shown.data, ".gpugate.yaml", &path);
		level->policy = policies_load(walk->in->policies, path.data);
		buf_release(&path);
	}
	if (listing->kustomization)
		kustomize_read(walk->in->kustomize, fd, listing->kustomization,
			       folder);
}

/* Takes fd. */
static void walk_folder(struct walk *walk, int fd, struct level level)
{
	struct listing listing;
	int error = read_folder(walk, fd, &listing);
	size_t end = walk->nentries;

	if (error)
		fail(walk, walk->shown.len ? walk->shown.data : ".", error);
	read_rules(walk, fd, &listing, &level);
	for (size_t i = listing.from; i < end; i++)
		visit(walk, fd, &level, i);
	drop_listing(walk, &listing);
	close(fd);
}

/* --- what was named ------------------------------------------------------ */

static bool seen_root(struct walk *walk, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return false;
	for (size_t i = 0; i < walk->nroots; i++)
		if (walk->roots[i].dev == st.st_dev &&
		    walk->roots[i].ino == st.st_ino)
			return true;
	*HEAP_PUSH(walk->roots, walk->nroots, walk->roots_size) =
		(struct root){st.st_dev, st.st_ino};
	return false;
}

/* walk.absolute is a folder that was named; takes fd. */
static void walk_root(struct walk *walk, int fd)
{
	struct level level = {.folder = -1};

	if (seen_root(walk, fd)) {
		close(fd);
		return;
	}
	level.policy = policies_find(walk->in->policies, walk->absolute.data);
	if (!walk->in->options->no_ignore_vcs)
		level.ignore = ignore_above(&walk->arena, walk->absolute.data);
	kustomize_look_above(walk->in->kustomize, walk->absolute.data);
	walk_folder(walk, fd, level);
}

/* walk.shown is a file. Files of one folder often follow each other. */
static void add_named(struct walk *walk, unsigned flags)
{
	struct files *files = walk->in->files;
	const char *slash = strrchr(walk->shown.data, '/');
	size_t len = slash ? (size_t)(slash - walk->shown.data) : 0;
	size_t last = files->nfolders;
	const char *name = slash ? slash + 1 : walk->shown.data;

	if (slash && !len)
		len = 1; /* the root folder */
	if (!last || strlen(files->folders[last - 1].path) != len ||
	    memcmp(files->folders[last - 1].path, walk->shown.data, len) != 0) {
		char *end = strrchr(walk->absolute.data, '/');
		uint32_t policy;

		*(end == walk->absolute.data ? end + 1 : end) = '\0';
		policy = policies_find(walk->in->policies, walk->absolute.data);
		kustomize_look_above(walk->in->kustomize, walk->absolute.data);
		last = files_add_folder(files, walk->shown.data, len, policy) +
		       1;
	}
	files_add(files, (uint32_t)(last - 1), name, flags);
}

static bool is_left_out(struct walk *walk)
{
	return walk->in->options->force_exclude &&
	       (is_excluded_anywhere(walk, walk->shown.data,
				     walk->absolute.data) ||
		policies_exclude(
			walk->in->policies,
			policies_find(walk->in->policies, walk->absolute.data),
			walk->absolute.data));
}

static void walk_path(struct walk *walk, const char *path)
{
	const char *name = walk->in->options->stdin_filename;
	bool standard_input = !strcmp(path, "-");
	int fd = -1;

	if (standard_input)
		path = name ? name : path;
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
		add_named(walk, standard_input ? FILE_STDIN : 0);
	}
}

static void release(struct walk *walk)
{
	for (size_t i = 0; i < walk->nexcludes; i++)
		glob_free(walk->excludes[i].glob);
	free(walk->excludes);
	free(walk->roots);
	free(walk->entries);
	free(walk->dirents);
	buf_release(&walk->absolute);
	buf_release(&walk->shown);
	buf_release(&walk->names);
	arena_release(&walk->arena);
}

int walk_paths(const struct walk_input *input, struct walk_result *result,
	       struct err *err)
{
	const struct list *paths = &input->options->paths;
	struct walk walk = {
		.in = input, .result = result, .budget = COUNT_BUDGET};
	int rc;

	buf_init(&walk.absolute);
	buf_init(&walk.shown);
	buf_init(&walk.names);
	walk.dirents = heap_zalloc(DIRENTS, 1);
	rc = add_excludes(&walk, err);
	for (size_t i = 0; i < paths->n && !rc; i++)
		walk_path(&walk, paths->items[i]);
	if (!paths->n && !rc)
		walk_path(&walk, ".");
	release(&walk);
	if (rc)
		return rc;
	files_sort(input->files);
	kustomize_mark(input->kustomize, input->files);
	return 0;
}
