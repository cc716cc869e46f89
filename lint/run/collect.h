/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings of a run by file, between the rules and the reports. They stay in
 * memory, up to 1 KiB each. Beyond COLLECT_MAX, only findings of the first
 * files are kept: the same ones for any number of threads.
 */
#ifndef LINT_COLLECT_H
#define LINT_COLLECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/finding.h"
#include "engine/run.h"

enum { COLLECT_MAX = 2000000 };

/* Findings of one file, sorted, in the memory of the caller that added them. */
struct collected {
	struct finding *items; /* NULL: too many, they were dropped */
	uint32_t n;
	bool alone; /* findings of the file alone, without set rules */
};

struct collection {
	struct collected *files; /* by file */
	size_t nfiles;
	size_t most;	   /* COLLECT_MAX */
	atomic_size_t n;   /* number of stored findings of files alone */
	atomic_size_t end; /* end of the files whose findings are stored */
	/* For findings of set rules, which come in the order of files: the
	 * number of findings in the files before this one. */
	struct finding_memory memory;
	size_t before;
	uint32_t next;
};

void collection_init(struct collection *collection, size_t nfiles);
void collection_release(struct collection *collection);
/* Copies the findings of a file alone. No thread has begun a file from *begun
 * on. */
void collect_file(struct collection *collection, uint32_t file,
		  struct finding *const *findings, size_t n,
		  struct finding_memory *memory, const atomic_size_t *begun);
/* Adds findings of set rules, in the order of files. */
void collect_set(struct collection *collection, uint32_t file,
		 struct finding *const *findings, size_t n);
/* Drops the findings beyond COLLECT_MAX. Returns the last file that keeps
 * findings, which may get more now; -1: all are kept. */
long collection_cut(struct collection *collection);
/* Removes a finding from the counts that is suppressed now, or merged with
 * another. */
void finding_uncount(struct run_counts *counts, const struct finding *finding);
/* Drops those that repeat one about a runtime of another file, and their
 * counts, after the set rules. */
void collection_drop_repeated(struct collection *collection,
			      struct run_counts *counts);

#endif
