/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixes a file's text: rules are run, the fixes of all their findings are
 * merged and spliced into the bytes; this is repeated until no fix is left.
 * After each round the new text is read again and must be exactly the result of
 * the edits; else the text is left unchanged.
 */
#ifndef LINT_FIX_H
#define LINT_FIX_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "engine/run.h"
#include "lint/files/files.h"

/* Fixes of one rule that were applied, or that were not for one reason. */
struct fix_note {
	const struct rule *rule;
	const char *reason; /* NULL: they were made */
	uint64_t n;
};

struct fixer {
	struct run run;	    /* a separate run: nothing is counted or reported */
	struct arena arena; /* of one round */
	struct arena text_arena;
	struct arena note_arena; /* of one text */
	struct fix_round *round;
	/* Notes of the last text, by rule in order of occurrence. */
	struct fix_note *notes;
	size_t nnotes, notes_size;
};

void fixer_init(struct fixer *fixer, const struct run_options *options,
		bool unsafe);
void fixer_release(struct fixer *fixer);

/*
 * Fixes the source's text. Returns 1 if out holds the new text; 0: nothing to
 * fix; -1 and err: the result could not be verified, out is unchanged.
 * file.source is not used. A byte order mark is kept.
 */
int fixer_text(struct fixer *fixer, const struct run_file *file,
	       const struct source *text, struct buf *out, struct err *err);

/*
 * Adds "NAME: fixed RULE 2, RULE", and "NAME: not fixed: RULE: reason" for each
 * reason, as lines; or nothing. made: include the applied ones.
 */
void fixer_tell(const struct fixer *fixer, const char *name, bool made,
		struct buf *out);

/*
 * Replaces a file of the list that was read with the state old: write, fsync,
 * rename in its folder. Returns 0 or an errno value as replace_write() does;
 * EXDEV if a walk found it as a link out of the walked folder, and the user did
 * not name it.
 */
int fix_write(const struct files *files, size_t file, const struct buf *text,
	      const struct file_stamp *old);
const char *fix_strerror(int error);

#endif
