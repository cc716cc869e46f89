/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixes a file's text. Rules are run, and the fixes of all their findings are
 * merged and spliced into the bytes. This is repeated until there is nothing to
 * fix, at most 10 times. After each round, the new text is parsed and must be
 * exactly the result of the edits. Otherwise the text stays unchanged.
 */
#ifndef LINT_FIX_H
#define LINT_FIX_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "collect.h"
#include "engine/run.h"
#include "lint/files/files.h"

/* Fixes of one rule that were applied, or that were not applied for the same
 * reason. */
struct fix_note {
	const struct rule *rule;
	const char *reason; /* NULL: they were applied */
	uint64_t n;
};

struct fixer {
	/* a separate run, whose counts and findings are not reported */
	struct run run;
	struct arena arena; /* memory for one round */
	struct arena text_arena;
	struct arena note_arena; /* memory for one text */
	struct fix_round *round;
	/* Findings about the runtimes of the text. */
	struct text_findings found;
	bool asks; /* the current run only collects found */
	uint32_t file;
	/* the hook of the run's options, for runtimes of other files */
	bool (*is_repeated)(void *context, const struct finding *finding);
	void *elsewhere;
	/* Notes about the last text, grouped by rule in the order of
	 * occurrence. */
	struct fix_note *notes;
	size_t nnotes, notes_size;
};

void fixer_init(struct fixer *fixer, const struct run_options *options,
		bool unsafe);
void fixer_release(struct fixer *fixer);

/*
 * Fixes the source's text. Returns 1 if out contains the new text, and 0 if
 * nothing is to be fixed. Returns -1 with err set, and out unchanged, if the
 * result could not be verified. file.source is not used. A byte order mark is
 * kept.
 */
int fixer_text(struct fixer *fixer, const struct run_file *file,
	       const struct source *text, struct buf *out, struct err *err);

/*
 * Adds "NAME: fixed RULE 2, RULE", and "NAME: not fixed: RULE: reason" for each
 * reason, as lines, if there are any. Applied fixes are included if made is
 * set.
 */
void fixer_tell(const struct fixer *fixer, const char *name, bool made,
		struct buf *out);

/*
 * Replaces a file of the list, which was in the state `old` when it was read:
 * write, fsync, rename in its folder. Returns 0 or an errno value like
 * replace_write(); EXDEV if the file is a link out of the walked folder that a
 * walk found, not the user.
 */
int fix_write(const struct files *files, size_t file, const struct buf *text,
	      const struct file_stamp *old);
const char *fix_strerror(int error);

#endif
