/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixes a text in rounds. In each round, every document is linted and the fixes
 * of its visible findings are spliced into the text; the trees are kept until
 * the new text has been parsed and compared with them. Few texts need a second
 * round; ten is the limit.
 */
#include "fix.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/path.h"
#include "base/replace.h"
#include "base/text.h"
#include "doc/splice.h"
#include "kube/runtime.h"

enum { ROUNDS = 10 };

struct fix_round {
	struct arena *arena;
	struct splice_list splices;
	struct splice_expect *expect;
	size_t n, size;
};

/* Keeps the findings of the text before the round, if it has runtimes; others
 * are reported when the final text is linted. */
static void keep(void *context, uint32_t file, struct finding **findings,
		 size_t n)
{
	struct fixer *fixer = context;

	(void)file;
	if (fixer->asks)
		text_findings_add(&fixer->found, findings, n);
}

static bool is_repeated(void *context, const struct finding *f)
{
	struct fixer *fixer = context;

	if (fixer->asks)
		return false;
	if (finding_runtime_file(f) == fixer->file)
		return finding_table_has(&fixer->found.table, f);
	return fixer->is_repeated && fixer->is_repeated(fixer->elsewhere, f);
}

static void repair(void *context, const struct doc *doc,
		   struct edit_list *edits)
{
	struct fixer *fixer = context;
	struct fix_round *round = fixer->round;
	size_t before = round->splices.n;
	const struct node *root;

	if (fixer->asks)
		return;
	edits_splice(edits, doc, round->arena, &round->splices);
	if (round->splices.n == before)
		return;
	root = edits_apply(edits, doc->root, round->arena);
	*VEC_PUSH(round->arena, round->expect, round->n, round->size) =
		(struct splice_expect){doc->number, root};
}

static struct fix_note *note_of(struct fixer *fixer, const struct rule *rule,
				const char *reason)
{
	struct fix_note *note;

	for (size_t i = 0; i < fixer->nnotes; i++) {
		note = &fixer->notes[i];
		if (note->rule == rule && text_eq(note->reason, reason))
			return note;
	}
	note = VEC_PUSH(&fixer->note_arena, fixer->notes, fixer->nnotes,
			fixer->notes_size);
	*note = (struct fix_note){.rule = rule};
	if (reason)
		note->reason = arena_strdup(&fixer->note_arena, reason);
	return note;
}

static void repaired(void *context, const struct finding *finding,
		     const char *reason)
{
	struct fixer *fixer = context;

	if (!fixer->asks)
		note_of(fixer, finding->rule, reason)->n++;
}

/* Drops notes about rejected fixes, because a later round may apply them. */
static void forget_refused(struct fixer *fixer)
{
	size_t n = 0;

	for (size_t i = 0; i < fixer->nnotes; i++)
		if (!fixer->notes[i].reason)
			fixer->notes[n++] = fixer->notes[i];
	fixer->nnotes = n;
}

static void forget_notes(struct fixer *fixer)
{
	arena_reset(&fixer->note_arena);
	fixer->notes = NULL;
	fixer->nnotes = fixer->notes_size = 0;
}

void fixer_tell(const struct fixer *fixer, const char *name, bool made,
		struct buf *out)
{
	const char *before = ": fixed ";

	for (size_t i = 0; made && i < fixer->nnotes; i++) {
		const struct fix_note *note = &fixer->notes[i];

		if (note->reason)
			continue;
		buf_addf(out, "%s%s%s", *before == ':' ? name : "", before,
			 note->rule->name);
		if (note->n > 1)
			buf_addf(out, " %" PRIu64, note->n);
		before = ", ";
	}
	if (*before != ':')
		buf_addc(out, '\n');
	for (size_t i = 0; i < fixer->nnotes; i++)
		if (fixer->notes[i].reason)
			buf_addf(out, "%s: not fixed: %s: %s\n", name,
				 fixer->notes[i].rule->name,
				 fixer->notes[i].reason);
}

void fixer_init(struct fixer *fixer, const struct run_options *options,
		bool unsafe)
{
	struct run_options own = *options;

	memset(fixer, 0, sizeof(*fixer));
	fixer->is_repeated = options->is_repeated;
	fixer->elsewhere = options->repeated_context;
	own.is_repeated = is_repeated;
	own.repeated_context = fixer;
	own.sink = keep;
	own.repair = repair;
	own.repaired = repaired;
	own.unsafe_repairs = unsafe;
	own.render_repairs = false;
	own.context = fixer;
	run_init(&fixer->run, &own);
}

void fixer_release(struct fixer *fixer)
{
	run_release(&fixer->run);
	arena_release(&fixer->arena);
	arena_release(&fixer->text_arena);
	arena_release(&fixer->note_arena);
	text_findings_release(&fixer->found);
}

static void lint_text(struct fixer *fixer, const struct run_file *file,
		      struct source *source)
{
	struct run_file own = *file;
	struct loader loader;
	struct doc *doc;

	own.source = source;
	run_begin_file(&fixer->run, &own);
	loader_init(&loader, source, &load_limits_default, &fixer->arena);
	loader.issue = run_load_issue;
	loader.context = &fixer->run;
	for (;;) {
		/* The document must live until the end of the round. */
		doc = ARENA_NEW(&fixer->arena, struct doc);
		if (loader_next(&loader, doc) <= 0)
			break;
		run_document(&fixer->run, doc);
	}
	run_end_file(&fixer->run);
	/* Drop the facts, which would otherwise grow with each round. */
	object_index_release(&fixer->run.index);
}

/* Lints the text twice if pods may be made from its own runtimes, which may
 * be after their users. */
static void lint_round(struct fixer *fixer, const struct run_file *file,
		       struct source *source)
{
	text_findings_release(&fixer->found);
	fixer->file = file->index;
	if (fixer->run.options.file_values &&
	    runtimes_may_be_used_in(source->text, source->len)) {
		fixer->asks = true;
		lint_text(fixer, file, source);
		fixer->asks = false;
	}
	text_findings_end(&fixer->found);
	lint_text(fixer, file, source);
}

/* Returns 1 if out contains the next text, 0 if nothing is to be fixed, and -1
 * with err set on an error. */
static int one_round(struct fixer *fixer, const struct run_file *file,
		     struct source *source, struct buf *out, struct err *err)
{
	struct fix_round *round = ARENA_NEW(&fixer->arena, struct fix_round);

	round->arena = &fixer->arena;
	fixer->round = round;
	forget_refused(fixer);
	lint_round(fixer, file, source);
	if (!round->splices.n)
		return 0;
	splices_apply(source->text, source->len, &round->splices, out);
	if (splices_check(source, out, round->expect, round->n, err))
		return -1;
	return 1;
}

int fixer_text(struct fixer *fixer, const struct run_file *file,
	       const struct source *text, struct buf *out, struct err *err)
{
	struct buf next;
	int changed = 0, rc = 1;

	buf_init(&next);
	forget_notes(fixer);
	for (int i = 0; rc > 0 && i < ROUNDS; i++) {
		struct source source;

		arena_reset(&fixer->arena);
		arena_reset(&fixer->text_arena);
		source_init(&source, &fixer->text_arena, text->name,
			    changed ? out->data : text->text - text->bom,
			    changed ? out->len : text->len + text->bom);
		source.transcoded |= text->transcoded;
		buf_reset(&next);
		buf_add(&next, "\xef\xbb\xbf", source.bom);
		rc = one_round(fixer, file, &source, &next, err);
		if (rc > 0) {
			struct buf old = *out;

			*out = next;
			next = old;
			changed = 1;
		}
	}
	buf_release(&next);
	return rc < 0 ? -1 : changed;
}

int fix_write(const struct files *files, size_t file, const struct buf *text,
	      const struct file_stamp *old)
{
	const char *bound = files_bound(files, file);
	struct buf path;
	char *real;
	int error = 0;

	buf_init(&path);
	files_path(files, file, &path);
	real = path_real(path.data);
	if (!real)
		error = errno == ENOENT ? ESTALE : errno;
	else if (bound && !path_is_below(bound, real))
		error = EXDEV;
	/* A file without write permission must not be changed, although
	 * replacing it needs only permission for its folder. */
	else if (access(real, W_OK))
		error = errno;
	else
		error = replace_write(real, text, old);
	buf_release(&path);
	free(real);
	return error;
}

const char *fix_strerror(int error)
{
	if (error == EXDEV)
		return "it is a symbolic link out of the named folder";
	return replace_strerror(error);
}
