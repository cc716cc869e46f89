/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folders below a named one that .gitignore and --exclude do not exclude,
 * sorted, read by several threads in parallel. One thread needs as long if the
 * folders are cached, and 1.7 times as long if they are not (30,000 folders:
 * 3.5 s, of a run of 12 s). The walk applies policies, whose effect depends on
 * the order of folders.
 *
 * Everything lives until tree_reset(); names as described at tree_names().
 */
#ifndef LINT_TREE_H
#define LINT_TREE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/thread_pool.h"
#include "exclude.h"
#include "gitignore.h"
#include "kustomize.h"
#include "listing.h"

/*
 * Manifests in an ignored folder are counted, up to a budget for the whole
 * walk: the number shows that something was left out, not the size of
 * node_modules.
 */
enum { IGNORED_BUDGET = 20000, IGNORED_UNKNOWN = INT32_MAX };

struct ignored_count {
	uint32_t manifests;
	uint32_t looked_at; /* entries, at most the budget; or UNKNOWN */
};

enum tree_kind {
	TREE_FILE,
	TREE_FOLDER,
	TREE_IGNORED, /* a folder */
	TREE_NOTHING, /* a folder without results */
};

struct tree_entry {
	const char *name;
	union {
		struct tree_folder *folder;
		struct ignored_count ignored;
		unsigned flags; /* enum file_flags */
	} as;
	enum tree_kind kind;
};

/* A folder that contains something, or that could not be read. */
struct tree_folder {
	struct tree_entry *entries;
	uint32_t n, ignored; /* ignored: files, beside the entries */
	uint16_t error;	     /* errno of open or read */
	bool policy;	     /* there is a .gpugate.yaml */
};

struct tree {
	struct thread_pool *thread_pool;
	const struct excludes *excludes;
	bool ignore_vcs; /* .gitignore counts */
	/* Paths of the root. */
	const char *shown, *absolute;
	struct tree_entry root;
	int fd; /* of the root */
	/* Results of tree_read(): files, and folders that contain files. */
	size_t nfiles, nfolders;
	struct tree_worker *workers;
	unsigned nworkers;
	/* Folders that wait for a thread; under the lock. */
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct tree_level **waiting;
	size_t nwaiting, waiting_size;
	unsigned busy;	       /* threads that are reading a folder */
	bool called;	       /* the other threads */
	atomic_uint looked_at; /* entries of ignored folders */
};

void tree_init(struct tree *tree, struct thread_pool *thread_pool);
/* Reads everything below fd, which is taken over; shown and absolute are its
 * paths, ignore applies to its entries. */
const struct tree_entry *tree_read(struct tree *tree, int fd,
				   const struct ignore_list *ignore);
void tree_reset(struct tree *tree);
/* Moves names and marks of kustomizations to their final owners. */
void tree_keep(struct tree *tree, struct arena *names,
	       struct kustomize *kustomize);
void tree_release(struct tree *tree);
/* Counts again below an ignored folder. */
struct ignored_count tree_count(struct tree *tree, const char *path,
				uint32_t budget);

#endif
