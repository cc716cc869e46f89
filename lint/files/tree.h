/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sorted tree of folders below a root that .gitignore and --exclude do not
 * exclude, and the listings of single folders from which it is read. Several
 * threads read it in parallel, which saves time mostly if the folders are not
 * in the page cache. Policies, whose effect depends on the order of folders,
 * are applied later by the walk.
 *
 * The tree lives until tree_reset().
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
#include "gitignore.h"
#include "kustomize.h"

/*
 * The content of a folder: folders and manifests, sorted as if folders ended in
 * '/', which is the byte order of whole paths. Listings form a stack, so that a
 * folder can be entered while its parent is being read.
 */

struct entry {
	size_t name; /* offset of the name in listings.names */
	bool folder;
	uint16_t flags; /* bits of enum file_flags, for a file */
};

struct listings {
	struct buf names;
	struct entry *entries;
	size_t n, size;
	char *dirents;
};

/* A listing on the stack; the entries of the last one are [from,
 * listings.n). */
struct listing {
	size_t from, names;
	const char *kustomization; /* name of the kustomization file, or NULL */
	const char *chart;	   /* name of the chart's file, or NULL */
	bool git, gitignore, policy, misnamed;
};

void listings_init(struct listings *listings);
void listings_release(struct listings *listings);
const char *listings_name(const struct listings *listings, size_t i);
/* Opens a folder inside of another one, without following links. Returns -1 and
 * sets errno if that fails. */
int listing_open(int at, const char *name);
/* Reads the entries of the folder fd. Returns 0 or an errno value. The listing
 * must be dropped even after an error. */
int listing_read(struct listings *listings, int fd, struct listing *listing);
void listing_drop(struct listings *listings, const struct listing *listing);

/*
 * Largest number of entries of ignored folders that are examined in the whole
 * walk to count the manifests. The count shows that something was skipped; the
 * exact size of node_modules does not matter.
 */
enum { IGNORED_BUDGET = 20000, IGNORED_UNKNOWN = INT32_MAX };

struct ignored_count {
	uint32_t manifests;
	/* entries examined, at most the budget; or IGNORED_UNKNOWN */
	uint32_t looked_at;
};

enum tree_kind {
	TREE_FILE,
	TREE_FOLDER,
	TREE_IGNORED, /* a folder that is ignored */
	TREE_NOTHING, /* a folder that contains nothing to lint */
};

struct tree_entry {
	const char *name;
	union {
		struct tree_folder *folder;
		struct ignored_count ignored;
		unsigned flags; /* bits of enum file_flags */
	} as;
	enum tree_kind kind;
};

/* A folder that contains something, or could not be read. */
struct tree_folder {
	struct tree_entry *entries;
	uint32_t n;
	uint32_t ignored; /* number of ignored files, not in entries */
	uint16_t error;	  /* errno of open() or read() */
	bool policy;	  /* contains a .gpugate.yaml */
	bool misnamed;	  /* contains a .gpugate.yml */
};

struct tree {
	struct thread_pool *thread_pool;
	const struct excludes *excludes;
	bool ignore_vcs; /* apply .gitignore */
	/* Paths of the root, as shown and absolute. */
	const char *shown, *absolute;
	struct tree_entry root;
	int fd; /* descriptor of the root */
	/* Set by tree_read(): numbers of files, and of folders that contain
	 * files. */
	size_t nfiles, nfolders;
	struct tree_worker *workers;
	unsigned nworkers;
	/* Folders that wait for a thread; protected by the lock. */
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct tree_level **waiting;
	size_t nwaiting, waiting_size;
	unsigned busy;	       /* number of threads that are reading a folder */
	bool called;	       /* the other threads were started */
	atomic_uint looked_at; /* entries examined in ignored folders */
};

void tree_init(struct tree *tree, struct thread_pool *thread_pool);
/* Reads the tree below fd, which is closed. shown and absolute are its paths;
 * ignore applies to its entries. */
const struct tree_entry *tree_read(struct tree *tree, int fd,
				   const struct ignore_list *ignore);
void tree_reset(struct tree *tree);
/* Moves names and kustomizations to the caller's structs, which live longer. */
void tree_keep(struct tree *tree, struct arena *names,
	       struct kustomize *kustomize);
void tree_release(struct tree *tree);
/* Counts the manifests in an ignored folder again, with this budget. */
struct ignored_count tree_count(struct tree *tree, const char *path,
				uint32_t budget);

#endif
