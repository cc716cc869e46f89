/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Known findings: a JSON file of fingerprints, so that a team can accept
 * today's findings and fix them one by one. Lines do not matter (a fingerprint
 * is rule, object and path by names); its other fields are for people, and for
 * finding stale entries.
 *
 * The file is sorted and has one entry per line, so that it merges and reviews
 * well. baseline_has() may be called by several threads once loading is done.
 */
#ifndef ENGINE_BASELINE_H
#define ENGINE_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/file.h"
#include "engine/finding.h"

struct baseline;

struct baseline_entry {
	uint64_t fingerprint;
	const char *rule, *file, *object, *message; /* object: "Kind ns/name" */
};

struct baseline *baseline_new(void);
void baseline_free(struct baseline *baseline); /* NULL is allowed */
/* At most FILE_BASELINE_MAX bytes. NULL and err (with line and column if
 * known). */
struct baseline *baseline_load(const char *path, struct err *err);
/* The state of the file when it was loaded. */
const struct file_stamp *baseline_stamp(const struct baseline *baseline);

/*
 * True if the finding is in the baseline. Records that its entry is still
 * needed.
 */
bool baseline_has(struct baseline *baseline, const struct finding *finding);
/* Adds a finding to a new baseline; file is its path as shown to the user.
 * Copies the texts. One thread at a time. */
void baseline_add(struct baseline *baseline, const char *file,
		  const struct finding *finding);
size_t baseline_count(const struct baseline *baseline);

/*
 * Entries that no finding matched. looked_for tests whether this run could have
 * found the entry's finding (NULL: always true); entries it could not find are
 * not stale. each may be NULL; returns the number of stale entries.
 */
struct baseline_files {
	bool (*looked_for)(void *context, const struct baseline_entry *entry);
	void *context;
};
size_t baseline_stale(const struct baseline *baseline,
		      const struct baseline_files *files,
		      void (*each)(void *context,
				   const struct baseline_entry *entry),
		      void *context);
/* Removes the stale entries; returns their number. */
size_t baseline_prune(struct baseline *baseline,
		      const struct baseline_files *files);
/* Appends the text of the file with all entries, sorted by file, rule, object
 * and fingerprint, each fingerprint once. */
void baseline_text(struct baseline *baseline, struct buf *out);

#endif
