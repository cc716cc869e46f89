/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lints the files of a list with several threads. Each worker has its own run
 * and buffers; shared data is read-only or atomic, and the row of a file is
 * written by one worker only.
 */
#ifndef LINT_WORKER_H
#define LINT_WORKER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/thread_pool.h"
#include "collect.h"
#include "engine/run.h"
#include "engine/suppress.h"
#include "fix.h"
#include "lint/files/files.h"
#include "lint/files/input.h"
#include "lint/settings/settings.h"
#include "lint/term/log.h"

struct job {
	const struct options *options;
	const char *cwd;
	struct policies *policies;
	struct clusters *clusters;
	struct files *files;
	struct collection *collection;
	/* state of each file when it was read (NULL: no file is written) */
	struct file_stamp *stamps;
	/* for each file, lines about its fixes or NULL; the array is NULL if no
	 * file is fixed */
	char **told;
	const struct stdin_cache *stdin_cache; /* texts that were read before */
	struct run_options run; /* the worker sets sink and context */
	atomic_size_t next, done;
	struct workers *workers;
	struct progress progress;
};

struct worker {
	struct job *job;
	struct run run;
	/* Used to check files that are parts of rendered texts, only for their
	 * fixes. */
	struct run alone;
	struct buf input;
	struct arena source_arena, doc_arena;
	struct buf path, absolute;
	struct buf fixed; /* text after --fix */
	struct fixer fixer;
	struct finding_memory findings;
	int fd;		 /* descriptor of a folder with several files, or -1 */
	uint32_t folder; /* index of that folder */
};

struct workers {
	struct worker *items;
	unsigned n;
};

/* Lints all files with as many threads as are useful. */
void workers_run(struct workers *workers, struct job *job,
		 struct thread_pool *thread_pool);
/* Moves all facts to the run, after workers_run(). */
void workers_join(struct workers *workers, struct run *whole);
void workers_release(struct workers *workers);

/* Sets everything that a run needs to know about a file except its text. */
void job_file(struct job *job, size_t index, struct buf *scratch,
	      struct run_file *file);
/* Returns the policy of a file, and sets *rule to the entry of `paths:` that
 * matches it. */
const struct policy *job_policy(struct job *job, size_t file,
				struct buf *scratch,
				struct policy_path_rule *rule);

#endif
