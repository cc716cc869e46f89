/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All paths together have one signature, a hash over what stat() says. Times
 * of change (ctime) are part of it: they also move when a file is rewritten
 * with its old mtime, or made readable.
 *
 * inotify watches the folders that hold the paths, since a watch on a file
 * ends with the file. Watches are added again at each check: adding is
 * idempotent, and a folder that was replaced gets a new one.
 */
#include "watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"
#include "monotonic.h"

enum {
	LOOK_MS = 1000,
	SETTLE_MS = 50,
	/* What never settles is reported, too. */
	PATIENCE_MS = 2000,
	DEPTH_MAX = 8,
	FILES_MAX = 10000, /* of one look: links may lead in circles */
	EVENTS = IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE |
		 IN_DELETE | IN_ATTRIB,
};

struct watched_file {
	const char *path, *parent;
	int in_parent, in_self; /* inotify watches, -1 for none */
};

struct watch {
	struct arena arena;
	struct watched_file *items;
	size_t n;
	int fd;
	uint64_t reported; /* the signature that the caller knows */
	uint64_t pending;  /* another one, waiting until it is the same twice */
	bool is_pending;
	int64_t since; /* ms: pending was first seen */
	int64_t begun; /* ms: first seen to differ from reported */
};

/* -- signatures ------------------------------------------------------------ */

static uint64_t hash_number(uint64_t number, uint64_t seed)
{
	return text_hash(&number, sizeof(number), seed);
}

static uint64_t hash_time(const struct timespec *time, uint64_t seed)
{
	return hash_number(time->tv_nsec, hash_number(time->tv_sec, seed));
}

static uint64_t sign_stat(const struct stat *st, uint64_t seed)
{
	seed = hash_number(st->st_dev, seed);
	seed = hash_number(st->st_ino, seed);
	seed = hash_number(st->st_mode, seed);
	/* A folder's own times say nothing of the files that matter. */
	if (S_ISDIR(st->st_mode))
		return seed;
	seed = hash_number(st->st_size, seed);
	seed = hash_time(&st->st_mtim, seed);
	return hash_time(&st->st_ctim, seed);
}

static uint64_t sign_at(int dirfd, const char *path, int depth, size_t *budget);

/* readdir() has no order, so entries are summed up. "..data" and its like
 * are how the kubelet swaps; the files themselves are links through them. */
static uint64_t sign_folder(int dirfd, const char *path, int depth,
			    size_t *budget)
{
	int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	uint64_t sum = 0;
	struct dirent *entry;

	if (!dir) {
		sum = hash_number(errno, 0);
		if (fd >= 0)
			close(fd);
		return sum;
	}
	while (*budget && (entry = readdir(dir))) {
		if (text_eq(entry->d_name, ".") ||
		    text_starts(entry->d_name, ".."))
			continue;
		sum += text_hash(entry->d_name, strlen(entry->d_name),
				 sign_at(fd, entry->d_name, depth + 1, budget));
	}
	closedir(dir);
	return sum;
}

static uint64_t sign_at(int dirfd, const char *path, int depth, size_t *budget)
{
	struct stat st;
	uint64_t seed = 0;

	if (*budget)
		--*budget;
	if (fstatat(dirfd, path, &st, 0) < 0)
		return hash_number(errno, seed);
	seed = sign_stat(&st, seed);
	if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
		seed = hash_number(sign_folder(dirfd, path, depth, budget),
				   seed);
	return seed;
}

static uint64_t sign_all(const struct watch *watch)
{
	uint64_t seed = 0;

	for (size_t i = 0; i < watch->n; i++) {
		size_t budget = FILES_MAX;

		seed = hash_number(
			sign_at(AT_FDCWD, watch->items[i].path, 0, &budget),
			seed);
	}
	return seed;
}

/* -- inotify --------------------------------------------------------------- */

static bool is_used(const struct watch *watch, int wd)
{
	for (size_t i = 0; i < watch->n; i++) {
		if (watch->items[i].in_parent == wd ||
		    watch->items[i].in_self == wd)
			return true;
	}
	return false;
}

/* The previous folder may still exist elsewhere; it no longer matters. */
static void renew(struct watch *watch, int *wd, const char *path, uint32_t mask)
{
	int old = *wd;

	*wd = inotify_add_watch(watch->fd, path, mask);
	if (old >= 0 && !is_used(watch, old))
		inotify_rm_watch(watch->fd, old);
}

static void listen_all(struct watch *watch)
{
	if (watch->fd < 0)
		return;
	for (size_t i = 0; i < watch->n; i++) {
		struct watched_file *item = &watch->items[i];

		renew(watch, &item->in_parent, item->parent, EVENTS);
		renew(watch, &item->in_self, item->path, EVENTS | IN_ONLYDIR);
	}
}

static void drain(const struct watch *watch)
{
	char events[4096];

	while (watch->fd >= 0 && read(watch->fd, events, sizeof(events)) > 0)
		;
}

/* -- the watch ------------------------------------------------------------- */

static const char *parent_of(struct arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return ".";
	if (slash == path)
		return "/";
	return arena_strndup(arena, path, slash - path);
}

struct watch *watch_new(const char *const *paths)
{
	struct watch *watch = calloc(1, sizeof(*watch));
	size_t n = 0;

	if (!watch)
		OUT_OF_MEMORY();
	while (paths[n])
		n++;
	watch->items = ARENA_ARRAY(&watch->arena, struct watched_file, n + 1);
	for (size_t i = 0; i < n; i++) {
		struct watched_file *item = &watch->items[i];

		item->path = arena_strdup(&watch->arena, paths[i]);
		item->parent = parent_of(&watch->arena, paths[i]);
		item->in_parent = item->in_self = -1;
	}
	watch->n = n;
	watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	listen_all(watch);
	watch->reported = sign_all(watch);
	return watch;
}

void watch_free(struct watch *watch)
{
	if (!watch)
		return;
	if (watch->fd >= 0)
		close(watch->fd);
	arena_release(&watch->arena);
	free(watch);
}

int watch_fd(const struct watch *watch)
{
	return watch->fd;
}

int watch_wait(const struct watch *watch)
{
	return watch->is_pending ? SETTLE_MS : LOOK_MS;
}

static bool has_settled(struct watch *watch, uint64_t signature)
{
	int64_t now = monotonic_ms();

	if (!watch->is_pending)
		watch->begun = now;
	if (!watch->is_pending || signature != watch->pending) {
		watch->is_pending = true;
		watch->pending = signature;
		watch->since = now;
	}
	return now - watch->since >= SETTLE_MS ||
	       now - watch->begun >= PATIENCE_MS;
}

bool watch_changed(struct watch *watch)
{
	uint64_t signature;

	/* Listen first: what changes after the look raises the next event. */
	drain(watch);
	listen_all(watch);
	signature = sign_all(watch);
	if (signature == watch->reported) {
		watch->is_pending = false;
		return false;
	}
	if (!has_settled(watch, signature))
		return false;
	watch->reported = signature;
	watch->is_pending = false;
	return true;
}
