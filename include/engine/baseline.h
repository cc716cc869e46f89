/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Known findings: a JSON file of fingerprints, so that a team can accept
 * today's findings and fix them one by one. A fingerprint is made of the rule,
 * the object and the path with names of list items, so that line numbers do not
 * matter; the other fields of an entry are for readers and for finding stale
 * entries.
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
	/* object is "Kind ns/name" */
	const char *rule, *file, *object, *message;
};

struct baseline *baseline_new(void);
void baseline_free(struct baseline *baseline); /* baseline may be NULL */
/* Reads a file of at most FILE_BASELINE_MAX bytes. Returns NULL and sets err
 * (with line and column if known) if that fails. */
struct baseline *baseline_load(const char *path, struct err *err);
/* Returns the state of the file when it was loaded. */
const struct file_stamp *baseline_stamp(const struct baseline *baseline);

/*
 * True if the finding is in the baseline. Records that its entry is still
 * needed.
 */
bool baseline_has(struct baseline *baseline, const struct finding *finding);
/* Adds a finding to a new baseline and copies its texts; file is its path as
 * shown to the user. Not thread-safe. */
void baseline_add(struct baseline *baseline, const char *file,
		  const struct finding *finding);
size_t baseline_count(const struct baseline *baseline);

/*
 * Calls the function `each`, which may be NULL, for each stale entry, and
 * returns their number. An entry is stale if no finding matched it, although
 * this run could have found its finding. looked_for() decides whether it
 * could (NULL: it always could).
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
