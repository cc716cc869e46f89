/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings of set rules on their way to the merge, in the order of files.
 */
#ifndef LINT_SET_FINDINGS_H
#define LINT_SET_FINDINGS_H

#include "spill.h"

struct set_findings {
	struct spill spill;
	struct set_record {
		uint32_t file;
		struct spill_record record;
	} * records;
	size_t n, size;
	size_t next; /* to be taken */
};

void set_findings_init(struct set_findings *set);
void set_findings_release(struct set_findings *set);
void set_findings_put(struct set_findings *set, uint32_t file,
		      struct finding *const *findings, size_t n);
/*
 * Returns the findings of a file as bytes (spill.h); NULL if it has none. Ask
 * for files in their order, once all findings are stored. Returns 0, or errno.
 */
int set_findings_take(struct set_findings *set, uint32_t file,
		      struct arena *arena, const void **bytes);
/* Like set_findings_take(), for any file; removes none. */
int set_findings_of(struct set_findings *set, uint32_t file,
		    struct arena *arena, const void **bytes);

#endif
