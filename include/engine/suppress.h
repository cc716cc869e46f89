/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suppressions of findings: baselines, and in manifests comments on the line
 * of a finding or the line above, ignore-file comments, and gpugate.dev/ignore
 * annotations on the object or its pod template. Unused, expired and rejected
 * ones become findings (suppression-unused, -expired, -refused); locked rules
 * cannot be suppressed.
 */
#ifndef ENGINE_SUPPRESS_H
#define ENGINE_SUPPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"
#include "doc/load.h"
#include "engine/finding.h"
#include "engine/policy.h"

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

struct suppressions; /* suppressions of one file */

/*
 * Reads all `# gpugate:` comments of a file. A file without such comments costs
 * little. today is in days since 1970-01-01 UTC (for until=).
 * suppressions_finish() reports malformed comments as findings. admission is
 * NULL or the admission policy: annotations then suppress only rules for which
 * it allows them, and comments only findings that it does not deny, because
 * comments are not sent to the API server.
 */
struct suppressions *suppressions_scan(struct arena *arena,
				       struct source *source, int64_t today,
				       const struct policy *admission);
/* Like suppressions_scan(), but comments are not read, because the API server
 * does not get them. */
struct suppressions *suppressions_granted(struct arena *arena,
					  struct source *source, int64_t today,
					  const struct policy *policy);
/* Ignores text inside scalars (block scalars, quoted text) that looks like a
 * comment. */
void suppressions_exclude(struct suppressions *s, const struct doc *doc);
/*
 * Adds the annotations of an object, with or without findings, so that unused
 * ones are reported. suppressions_apply() sees only objects with findings,
 * whose annotations it adds itself.
 */
void suppressions_object(struct suppressions *s, const struct object *object);
/* True if a suppression comment or annotation has been found so far, even a
 * malformed one. */
bool suppressions_any(const struct suppressions *s);
/*
 * Sets the effective settings, in the order of the rules passed to
 * suppressions_finish(): a suppression of a rule that is off is not reported as
 * unused. By default, all rules are on.
 */
void suppressions_settings(struct suppressions *s,
			   const struct setting *settings);
/* Declares that part of the file is unknown, so that unused comments, or
 * annotations, are not reported. */
void suppressions_unsure(struct suppressions *s, bool comments,
			 bool annotations);
/* Marks the finding as suppressed if a comment or an annotation of object (may
 * be NULL) covers it. setting says whether the rule is locked. */
void suppressions_apply(struct suppressions *s, const struct object *object,
			const struct setting *setting, struct finding *finding);
/* True if the admission policy denies the finding. A local policy may have
 * raised its severity. */
bool finding_is_denied_by(const struct policy *admission,
			  const struct finding *finding);
/*
 * Reports, after all findings of the file, every comment or annotation that
 * suppressed nothing or is expired or malformed. If its reason is missing or
 * one of its names is unknown, it is reported as malformed, but still
 * suppresses the rules that it names correctly. A rejected suppression is
 * reported once per rule. A suppression of a rule that looks at other objects
 * is never reported as unused, because those rules run after the file is
 * finished.
 */
enum suppression_trouble {
	SUPPRESSION_UNUSED,
	SUPPRESSION_EXPIRED,
	SUPPRESSION_MALFORMED,
	SUPPRESSION_REFUSED,
};
struct suppression_issue {
	enum suppression_trouble kind;
	uint32_t start, end; /* bytes in the source */
	/* JSON pointer of an annotation, in scan's arena; NULL for a
	 * comment. */
	const char *pointer;
	unsigned document;
	uint64_t named_path; /* node_named_path() from the object */
	struct object_id id;
	const char *text;
};
void suppressions_finish(struct suppressions *s, const struct rule_set *rules,
			 void (*add)(void *context,
				     const struct suppression_issue *issue),
			 void *context);
/* Reports only rejected suppressions, of a file that is finished. */
void suppressions_finish_refused(
	struct suppressions *s,
	void (*add)(void *context, const struct suppression_issue *issue),
	void *context);

#endif
