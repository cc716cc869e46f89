/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings of set rules on their way to the merge, in the order of files. The
 * set rules produce them while the merge already consumes them, each in its own
 * thread, or one after the other.
 */
#ifndef LINT_SET_FINDINGS_H
#define LINT_SET_FINDINGS_H

#include <pthread.h>
#include <stdatomic.h>

#include "spill.h"

struct set_findings {
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct spill spill;
	struct set_record {
		uint32_t file;
		struct spill_record record;
	} * records;
	size_t n, size;
	atomic_uint reached; /* files before it get nothing more */
	atomic_uint wanted;  /* who waits wants so many, else UINT32_MAX */
	/* State of the reader. */
	size_t next;
	uint32_t clear; /* files before it have nothing that is not taken */
};

void set_findings_init(struct set_findings *set);
void set_findings_release(struct set_findings *set);
void set_findings_put(struct set_findings *set, uint32_t file,
		      struct finding *const *findings, size_t n);
/* There will be no more for files before this one. */
void set_findings_reach(struct set_findings *set, uint32_t file);
void set_findings_end(struct set_findings *set);
/*
 * Returns the findings of a file as bytes (spill.h); NULL if it has none. Ask
 * for files in their order; waits for findings that are not stored yet. Returns
 * 0, or errno.
 */
int set_findings_take(struct set_findings *set, uint32_t file,
		      struct arena *arena, const void **bytes);
/*
 * Like set_findings_take(), for any file, once all findings are stored; removes
 * none.
 */
int set_findings_of(struct set_findings *set, uint32_t file,
		    struct arena *arena, const void **bytes);

#endif
