/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings between linting and reporting. Each worker appends a record per
 * file with findings; what does not fit into a small buffer goes to an
 * unlinked temporary file, so that memory does not grow with the number of
 * findings. Where a record lies is kept in 16 bytes per file.
 */
#ifndef LINT_SPILL_H
#define LINT_SPILL_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "engine/finding.h"
#include "engine/registry.h"

struct record {
	uint64_t offset;
	uint32_t length; /* 0: no findings */
	uint32_t spill;	 /* whose */
};

struct spill {
	const struct rule_set *rules;
	struct buf buf;	  /* bytes from offset flushed on */
	uint64_t flushed; /* bytes in the file */
	int fd;		  /* -1 until needed; -2: there can be none */
};

void spill_init(struct spill *spill, const struct rule_set *rules);
void spill_release(struct spill *spill);
struct record spill_write(struct spill *spill, const struct finding *findings,
			  size_t n);
/*
 * Read a record into the arena (strings may lie in the spill's own buffer).
 * 0, or errno. Nothing may be written any more.
 */
int spill_read(const struct spill *spill, const struct record *record,
	       struct arena *arena, struct finding **findings, size_t *n);

#endif
