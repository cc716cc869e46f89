/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects changes of files by their stat(). All paths together have one
 * signature, a hash over the results of stat(). ctime is part of it, because
 * ctime also changes when a file is rewritten with its old mtime, or made
 * readable.
 */
#include "watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/escape.h"
#include "base/text.h"
#include "monotonic.h"

enum {
	LOOK_MS = 1000,
	SETTLE_MS = 50,
	/* Milliseconds after which a change is reported even if the files keep
	 * changing. */
	PATIENCE_MS = 2000,
	DEPTH_MAX = 8,
	/* per path and check, because links may form circles */
	FILES_MAX = 10000,
};

struct watch {
	struct arena arena;
	const char **paths;
	size_t n;
	uint64_t reported; /* signature that was reported last */
	uint64_t pending;  /* a different signature that was seen once */
	bool is_pending;
	int64_t since; /* ms when pending was first seen */
	int64_t begun; /* ms when the files first differed from reported */
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
	/* Times of a folder itself say nothing about the files in it. */
	if (S_ISDIR(st->st_mode))
		return seed;
	seed = hash_number(st->st_size, seed);
	seed = hash_time(&st->st_mtim, seed);
	return hash_time(&st->st_ctim, seed);
}

static uint64_t sign_at(int dirfd, const char *path, int depth, size_t *budget);

/* Adds up the signatures of all entries, because readdir() has no order. Skips
 * names that begin with "..": the kubelet replaces the link "..data", and the
 * other files are links through it, so they show the change. */
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
			sign_at(AT_FDCWD, watch->paths[i], 0, &budget), seed);
	}
	return seed;
}

/* -- the watch ------------------------------------------------------------- */

static void drop_watch(void *watch)
{
	watch_free(watch);
}

struct watch *watch_new(const char *const *paths)
{
	struct watch *watch = calloc(1, sizeof(*watch));
	struct escape_guard guard;
	size_t n = 0;

	if (!watch)
		OUT_OF_MEMORY();
	while (paths[n])
		n++;
	escape_guard(&guard, drop_watch, watch);
	watch->paths = ARENA_ARRAY(&watch->arena, const char *, n + 1);
	for (size_t i = 0; i < n; i++)
		watch->paths[i] = arena_strdup(&watch->arena, paths[i]);
	escape_unguard(&guard);
	watch->n = n;
	watch->reported = sign_all(watch);
	return watch;
}

void watch_free(struct watch *watch)
{
	if (!watch)
		return;
	arena_release(&watch->arena);
	free(watch);
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
	uint64_t signature = sign_all(watch);

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
