/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data between linting and reporting: findings, and facts for set rules. Each
 * worker appends a record per file with findings and one per workload; records
 * beyond a small buffer go to an unlinked temporary file, so that memory does
 * not grow with their number: 100,000 GPU manifests took 120 MB without it. The
 * place of a file's findings takes 16 bytes.
 */
#ifndef LINT_SPILL_H
#define LINT_SPILL_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "engine/finding.h"

struct spill_record {
	uint64_t offset;
	uint32_t length; /* 0: no findings */
	uint32_t spill;	 /* whose */
};

/* A piece of the file. */
struct spill_window {
	char *data;
	uint64_t at;
	size_t len;
};

struct spill {
	struct buf buf;	  /* bytes from offset flushed on */
	uint64_t flushed; /* bytes in the file */
	int fd;		  /* -1 until needed; -2: there can be none */
	size_t again;	  /* when the buffer is as long it is written again */
	int error;	  /* errno of spill_get(), or 0 */
	/* Records are read about in their order, and at times those that they
	 * refer to, in about the same order: [0] is the one used last. */
	struct spill_window windows[2];
};

void spill_init(struct spill *spill);
void spill_release(struct spill *spill);
/* As a struct index_store has them: bytes of any sort. spill_get() copies into
 * the arena only what it must, and gives NULL when they cannot be read. */
uint64_t spill_put(void *spill, const void *data, size_t len);
const void *spill_get(void *spill, uint64_t offset, size_t len,
		      struct arena *arena);
struct spill_record spill_write(struct spill *spill,
				struct finding *const *findings, size_t n);
/* A record's bytes, copied into the arena: more may be written then. NULL, and
 * spill.error, when they cannot be read. */
const void *spill_copy(struct spill *spill, const struct spill_record *record,
		       struct arena *arena);
/* Like spill_read(), once nothing is written any more: bytes of the spill's
 * buffer are not copied. Returns 0, or errno. */
int spill_bytes(struct spill *spill, const struct spill_record *record,
		struct arena *arena, const void **bytes);
/* Returns the number of findings in such bytes (0 for NULL), and reads them
 * into a zeroed array; their strings point into the bytes. */
size_t spill_number(const void *bytes);
void spill_decode(const void *bytes, struct arena *arena,
		  struct finding *findings);

#endif
