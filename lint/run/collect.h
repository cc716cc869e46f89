/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings of a run by file, between the rules and the reports. They stay in
 * memory, with up to 1 KiB each. Beyond COLLECT_MAX, only the findings of the
 * first files are kept; they are the same for any number of threads.
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

/* Findings of one file, sorted, in memory of the caller that added them. */
struct collected {
	struct finding *items; /* NULL: dropped because there were too many */
	uint32_t n;
	bool alone; /* collect_file() was called for the file */
};

struct collection {
	struct collected *files; /* by index of the file */
	size_t nfiles;
	size_t most; /* limit, COLLECT_MAX */
	/* no thread has begun a file from this index on */
	const atomic_size_t *begun;
	/* number of stored findings without those of set rules */
	atomic_size_t n;
	/* findings of files from this index on are not stored */
	atomic_size_t end;
	/* Used for findings of set rules, which are added in the order of
	 * files. `before` is the number of findings in the files before
	 * `next`. */
	struct finding_memory memory;
	size_t before;
	uint32_t next;
};

void collection_init(struct collection *collection, size_t nfiles,
		     const atomic_size_t *begun);
void collection_release(struct collection *collection);
/* Copies the findings of a file, without those of set rules; only counts them
 * if the collection is full. */
void collect_file(struct collection *collection, uint32_t file,
		  struct finding *const *findings, size_t n,
		  struct finding_memory *memory);
/* Adds findings of set rules, in the order of files. */
void collect_set(struct collection *collection, uint32_t file,
		 struct finding *const *findings, size_t n);
/* Drops the findings beyond COLLECT_MAX. Returns the last file whose findings
 * are kept, to which one more may be added; -1 if all are kept. */
long collection_cut(struct collection *collection);
/* Subtracts a finding from the counts, because it was suppressed or merged with
 * another one. */
void finding_uncount(struct run_counts *counts, const struct finding *finding);
/* Drops findings that repeat one about a runtime of another file, and subtracts
 * them from the counts. Must be called after the set rules. */
void collection_drop_repeated(struct collection *collection,
			      struct run_counts *counts);

/* Copies of the findings of one text, to which those about pods made from its
 * runtimes are compared. */
struct text_findings {
	struct finding_memory memory;
	struct finding **items;
	size_t n, size;
	struct finding_table table;
};

/* Adds copies of findings; none may follow text_findings_end(). */
void text_findings_add(struct text_findings *text,
		       struct finding *const *findings, size_t n);
void text_findings_end(struct text_findings *text);
void text_findings_release(struct text_findings *text);

#endif
