/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges the results: passes the findings of each file, in the order of files,
 * to every report, and then the summary.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "doc/splice.h"
#include "lint.h"
#include "lint/report/parts/report_common.h"
#include "lint/report/report.h"
#include "lint/term/log.h"

enum { OUTPUT_BUFFER = 64 * 1024 };

struct merge {
	struct lint *lint;
	struct arena arena; /* memory for one file */
	struct arena names; /* names of skipped files */
	struct buf path;
	struct buf related_path;
	struct skipped_file *skipped;
	size_t nskipped, skipped_size;
	size_t fixed; /* number of files */
	struct fold fold;
	uint32_t file; /* file that is being merged */
	/* A message has said that the lines of the file cannot be shown. */
	bool reported;
	/* --add-ignore: numbers of findings and files */
	size_t comments, commented;
	struct report_summary summary;
};

/* True if every finding is reported (fold.c). */
static bool lint_unfolded(const struct lint *lint)
{
	const struct options *options = lint->options;

	return options->show_all || options->add_ignore ||
	       lint->baseline_run.new;
}

/* --- one file ------------------------------------------------------------ */

static const char *path_of(void *context, uint32_t file)
{
	struct merge *m = context;

	if (file >= m->lint->files.n)
		return "";
	buf_reset(&m->related_path);
	files_path(&m->lint->files, file, &m->related_path);
	return m->related_path.data;
}

static struct source *source_of(void *context, uint32_t file)
{
	struct merge *m = context;
	struct source *source = sources_get(&m->lint->sources, file);

	if (!source && file == m->file && !m->reported) {
		m->reported = true;
		log_line("%s: its lines cannot be shown, because it was "
			 "removed or changed during the run, or could not be "
			 "read again",
			 m->path.data);
	}
	return source;
}

/* Changes related places in rendered texts to places in the source files. */
static void move_related(struct merge *m, struct finding *findings, size_t n)
{
	struct rendered *rendered = &m->lint->rendered;

	for (size_t i = 0; i < n && m->lint->files.nrendered; i++)
		for (unsigned r = 0; r < findings[i].nrelated; r++)
			rendered_move(rendered, &findings[i].related[r].place);
}

/* Sets *out to the findings of the file and of texts that were rendered from
 * it, sorted together, and returns their number. If the file was checked as
 * part of such a text, its own findings are left out. */
static size_t gather(struct merge *m, uint32_t file, struct finding **out)
{
	struct lint *lint = m->lint;
	const struct collected *own = &lint->collection.files[file];
	const struct rendered_finding *rendered;
	size_t n = own->n, nrendered;

	if (lint->files.items[file].flags & FILE_SUPERSEDED)
		n = 0;
	rendered = rendered_of(&lint->rendered, file, &nrendered);
	*out = own->items;
	move_related(m, *out, n);
	if (!nrendered)
		return n;
	*out = ARENA_ARRAY(&m->arena, struct finding, n + nrendered);
	if (n)
		memcpy(*out, own->items, n * sizeof(**out));
	for (size_t i = 0; i < nrendered; i++)
		(*out)[n + i] = rendered[i].finding;
	findings_sort(*out, n + nrendered);
	return n + nrendered;
}

/* Counts findings that are folded, unless this run reports every finding. */
static void count_folded(struct merge *m)
{
	const struct lint *lint = m->lint;

	m->fold.fail_on = lint->options->fail_on;
	if (lint_unfolded(lint))
		return;
	for (uint32_t i = 0; i < lint->files.n - lint->files.nrendered; i++) {
		const struct collected *own = &lint->collection.files[i];
		const struct rendered_finding *rendered;
		size_t n;

		if (!(lint->files.items[i].flags & FILE_SUPERSEDED))
			fold_count(&m->fold, own->items, own->n);
		rendered = rendered_of(&lint->rendered, i, &n);
		for (size_t r = 0; r < n; r++)
			fold_count(&m->fold, &rendered[r].finding, 1);
	}
}

/* --- --add-ignore -------------------------------------------------------- */

static void plan_comments(struct merge *m, struct add_ignore *add,
			  uint32_t file, struct finding *findings, size_t n)
{
	struct lint *lint = m->lint;
	struct policy_path_rule rule;

	*add = (struct add_ignore){
		.reason = lint->options->add_ignore,
		.policy = job_policy(&lint->job, file,
				     &lint->workers.items[0].absolute, &rule),
		.source = sources_get(&lint->sources, file),
		.findings = findings,
		.n = n,
	};
	add_ignore_plan(add);
}

static void write_comments(struct merge *m, struct add_ignore *add,
			   uint32_t file)
{
	unsigned flags = m->lint->files.items[file].flags;
	int error = 0;

	if (add->added && flags & FILE_READ_ONCE) {
		add->refused = flags & FILE_STDIN ? "it is standard input"
						  : "it is not a regular file";
		m->lint->failed = true;
	} else if (add->added) {
		error = fix_write(&m->lint->files, file, &add->text,
				  &m->lint->job.stamps[file]);
		m->comments += error ? 0 : add->added;
		m->commented += !error;
	}
	m->lint->failed |= error != 0;
	if (error)
		log_line("%s: %s", m->path.data, fix_strerror(error));
	if (add->refused)
		log_line("%s: not all findings have a comment: %s",
			 m->path.data, add->refused);
	buf_release(&add->text);
}

/* --- findings of a file --------------------------------------------------- */

/* Subtracts the fix of a finding that is suppressed now. */
static void uncount_repair(struct run_counts *counts,
			   const struct fix_result *repair)
{
	if (repair && !*repair->refused)
		fix_count(counts, repair->safe, repair->kept, -1);
}

/* Counts findings again that were counted as visible and are suppressed now. */
static void count_again(struct merge *m, const struct finding *findings,
			size_t n, const bool *before)
{
	struct run_counts *counts = &m->lint->whole.counts;

	for (size_t i = 0; i < n; i++) {
		if (before[i] || !findings[i].suppressed)
			continue;
		counts->suppressed++;
		finding_uncount(counts, &findings[i]);
		uncount_repair(counts, findings[i].repair);
	}
}

/* Adds the findings and those that were merged into them, which have other
 * fingerprints. */
static void add_to_baseline(struct merge *m, uint32_t file,
			    struct finding *findings, size_t n)
{
	struct rendered_finding *others;
	size_t nothers;

	baseline_run_add(&m->lint->baseline_run, m->path.data, findings, n);
	others = rendered_others(&m->lint->rendered, file, &nothers);
	for (size_t i = 0; i < nothers; i++)
		baseline_run_add(&m->lint->baseline_run, m->path.data,
				 &others[i].finding, 1);
}

/* Suppresses findings that this run writes to a baseline or a comment. */
static void suppress(struct merge *m, struct add_ignore *add, uint32_t file,
		     struct finding *findings, size_t n)
{
	struct lint *lint = m->lint;
	bool *before;

	if (!n || (!lint->options->add_ignore && !lint->baseline_run.new))
		return;
	before = ARENA_ARRAY(&m->arena, bool, n);
	for (size_t i = 0; i < n; i++)
		before[i] = findings[i].suppressed;
	if (lint->options->add_ignore)
		plan_comments(m, add, file, findings, n);
	if (lint->baseline_run.new)
		add_to_baseline(m, file, findings, n);
	count_again(m, findings, n, before);
}

/* --- --fix, --diff ------------------------------------------------------- */

/* Adds the diff of both texts, each with its own secret values masked. */
static void add_diff(struct merge *m, struct source *old,
		     const struct buf *fixed, struct buf *out)
{
	struct masked before, after;
	struct diff_text a = {old->text - old->bom, old->len + old->bom, NULL};
	struct diff_text b = {fixed->data, fixed->len, NULL};
	struct source new;
	struct buf diff;

	source_init(&new, &m->arena, old->name, b.text, b.len);
	masked_make(&before, &m->arena, old);
	masked_make(&after, &m->arena, &new);
	if (before.source)
		a.shown = before.source->text - old->bom;
	if (after.source)
		b.shown = after.source->text - new.bom;
	buf_init(&diff);
	diff_unified(m->path.data, &a, &b, &diff);
	if (a.shown || b.shown)
		secrets_show(out, diff.data, diff.len);
	else
		buf_add(out, diff.data, diff.len);
	buf_release(&diff);
}

/* Prints the diff of a file. It is computed here again, so that diffs are
 * printed in the order of files. */
static void print_diff(struct merge *m, uint32_t file)
{
	struct lint *lint = m->lint;
	struct worker *w = &lint->workers.items[0];
	struct source *source = source_of(m, file);
	struct run_file settings;
	struct err err = {0};
	struct buf diff;

	if (!source) {
		lint->failed = true;
		return;
	}
	job_file(&lint->job, file, &w->absolute, &settings);
	buf_reset(&w->fixed);
	buf_init(&diff);
	if (fixer_text(&w->fixer, &settings, source, &w->fixed, &err) > 0)
		add_diff(m, source, &w->fixed, &diff);
	fwrite(diff.data, 1, diff.len, stdout);
	buf_release(&diff);
}

static void tell_fix(const struct lint *lint, uint32_t file)
{
	char *line = lint->job.told ? lint->job.told[file] : NULL;

	for (char *end; line && (end = strchr(line, '\n')); line = end + 1)
		log_line("%.*s", (int)(end - line), line);
}

static void count_fix(struct merge *m, uint32_t file)
{
	struct lint *lint = m->lint;
	const struct options *o = lint->options;
	unsigned flags = lint->files.items[file].flags;

	if (!o->quiet || flags & FILE_FIX_FAILED)
		tell_fix(lint, file);

	lint->failed |= (flags & FILE_FIX_FAILED) != 0;
	if (!(flags & FILE_FIXED))
		return;
	m->fixed++;
	lint->found |= o->diff || o->exit_non_zero_on_fix;
	if (o->diff && o->quiet < 2 && !outputs_use_stdout(&lint->outputs))
		print_diff(m, file);
}

/*
 * Masks secrets. A file that has only findings of set rules was not searched
 * for secrets completely before.
 */
static void mask_secrets(struct merge *m, struct report_file *report,
			 struct finding *findings, size_t n)
{
	struct lint *lint = m->lint;
	uint32_t file = report->index;
	struct masked masked;

	if (!n || (lint->collection.files[file].alone &&
		   !(lint->files.items[file].flags & FILE_SECRETS)))
		return;
	masked_make(&masked, &m->arena, sources_get(&lint->sources, file));
	masked_findings(&masked, findings, n);
	report->masked = masked.source;
}

static void merge_file(struct merge *m, uint32_t file)
{
	struct lint *lint = m->lint;
	struct finding *findings = NULL;
	struct report_file report = {
		.index = file,
		.path = m->path.data,
		.source = source_of,
		.path_of = path_of,
		.context = m,
	};
	size_t n = gather(m, file, &findings), nshown = n;
	const struct finding *shown;
	struct add_ignore add = {0};

	m->file = file;
	m->reported = false;
	mask_secrets(m, &report, findings, n);
	suppress(m, &add, file, findings, n);
	count_fix(m, file);
	/* With --diff and no format, the exit status depends on the diff, not
	 * on findings. */
	for (size_t i = 0; i < n && !lint->found && lint->outputs.n; i++)
		lint->found =
			finding_fails(&findings[i], lint->options->fail_on);
	outputs_file(&lint->outputs, &report, findings, n, false);
	shown = lint_unfolded(lint)
			? findings
			: fold_findings(&m->fold, &m->arena, findings, &nshown);
	outputs_file(&lint->outputs, &report, shown, nshown, true);
	/* Write comments after the reports, which show the old text. */
	if (lint->options->add_ignore && n)
		write_comments(m, &add, file);
	m->summary.files++;
	arena_reset(&m->arena);
}

/* --- inputs that were not linted ------------------------------------------ */

static void skip(struct merge *m, const char *reason)
{
	*ARRAY_PUSH(m->skipped, m->nskipped, m->skipped_size) =
		(struct skipped_file){arena_strdup(&m->names, m->path.data),
				      reason};
	if (!m->lint->options->strict_input)
		return;
	log_line("%s: skipped: %s", m->path.data, reason);
	m->lint->failed = true;
}

static void merge_any(struct merge *m, uint32_t file)
{
	const struct lint_file *f = &m->lint->files.items[file];

	buf_reset(&m->path);
	files_path(&m->lint->files, file, &m->path);
	if (f->error) {
		log_line("%s: %s", m->path.data, input_strerror(f->error));
		m->lint->failed = true;
	} else if (f->flags & FILE_TEMPLATE && !(f->flags & FILE_SUPERSEDED)) {
		skip(m, "template (Helm, Go or Jinja)");
	} else if (f->flags & FILE_NOT_KUBERNETES) {
		m->summary.foreign++;
	} else if (f->flags & FILE_DANGLING) {
		skip(m, "broken symbolic link");
	} else {
		merge_file(m, file);
	}
}

/* --- --require ----------------------------------------------------------- */

static void require_rule(struct merge *m, const char *name)
{
	struct lint *lint = m->lint;
	const struct report_summary *s = &m->summary;

	for (size_t i = 0; i < s->nnot_run; i++) {
		if (strcmp(s->not_run[i].rule->name, name) != 0)
			continue;
		log_line("required rule `%s` was skipped: %s", name,
			 s->not_run[i].reason);
		lint->failed = true;
		return;
	}
	for (size_t i = 0; i < lint->policies.n; i++) {
		const struct policy_entry *entry = &lint->policies.items[i];
		const struct policy *policy = entry->policy;
		int index = rule_set_find(policy_rules(policy), name);
		const struct setting *setting = &policy_base(policy)[index];

		if (index < 0 || setting->enabled ||
		    (!*entry->path && lint->policies.n > 1))
			continue;
		log_line("required rule `%s` was skipped: it is off (%s)", name,
			 setting->from ? setting->from : "");
		lint->failed = true;
		return;
	}
}

/* Reports that the required snapshot is missing, or else the rules that were
 * skipped for lack of it. Every reason that is about a missing or old snapshot
 * contains the word "cluster". */
static void require_cluster(struct merge *m)
{
	const struct report_summary *s = &m->summary;
	bool given = m->lint->clusters.n > 0;

	if (!given)
		log_line("the required cluster snapshot is missing");
	for (size_t i = 0; i < s->nnot_run && given; i++) {
		if (!strstr(s->not_run[i].reason, "cluster"))
			continue;
		log_line("required cluster snapshot: rule `%s` was skipped: %s",
			 s->not_run[i].rule->name, s->not_run[i].reason);
		m->lint->failed = true;
	}
	m->lint->failed |= !given;
}

static void check_required(struct merge *m)
{
	const struct list *require = &m->lint->options->require;

	for (size_t i = 0; i < require->n; i++) {
		if (strcmp(require->items[i], "cluster") != 0) {
			require_rule(m, require->items[i]);
			continue;
		}
		require_cluster(m);
	}
}

/* --- comparison with quotas, for the page --------------------------------- */

static const struct policy *policy_of(void *context, uint32_t file,
				      struct policy_path_rule *rule)
{
	struct lint *lint = context;

	return job_policy(&lint->job, file, &lint->workers.items[0].absolute,
			  rule);
}

struct quota_maker lint_quota_maker(struct lint *lint)
{
	return (struct quota_maker){
		.index = &lint->whole.index,
		.files = &lint->files,
		.policies = &lint->policies,
		.clusters = &lint->clusters,
		.all = lint->options->all_namespaces,
		.policy_of = policy_of,
		.context = lint,
	};
}

/* Adds the section about quotas. Without quotas and snapshots it would be
 * empty, so the table is not made. */
static void add_quotas(void *context, struct buf *out)
{
	struct lint *lint = context;
	const struct object_index *index = &lint->whole.index;
	const struct quota_maker maker = lint_quota_maker(lint);
	struct quota_table table = {0};

	if (!lint->files.n ||
	    (!index->nquotas && !index->clusters && !lint->clusters.common))
		return;
	quota_table_make(&table, &maker);
	quota_table_finish(&table);
	quota_section(&table, out);
	arena_release(&table.arena);
}

/* --- all files ------------------------------------------------------------ */

/* Logs which programs rendered files, because a program in PATH changes the
 * findings. Logs nothing if a report shows this, or with --quiet. */
static void tell_rendered(struct merge *m)
{
	struct lint *lint = m->lint;
	struct buf text;

	if (!lint->outputs.n || lint->options->quiet ||
	    outputs_show_rendered(&lint->outputs))
		return;
	buf_init(&text);
	summary_add_rendered(&m->summary, &text);
	for (char *line = text.data, *end; (end = strchr(line, '\n'));
	     line = end + 1) {
		*end = '\0';
		log_line("%s", line);
	}
	buf_release(&text);
}

static void finish(struct merge *m)
{
	struct lint *lint = m->lint;
	struct run *run = &lint->whole;
	struct report_summary *s = &m->summary;

	s->skipped = m->skipped;
	s->nskipped = m->nskipped;
	s->ignored = lint->walk.ignored;
	s->counts = run->counts;
	s->apart = lint->file_sets.folders;
	s->napart = lint->file_sets.n;
	s->rendered = lint->rendered.reports;
	s->nrendered = lint->rendered.nreports;
	/* A live object is not in a file that could be fixed. */
	if (lint->live)
		s->counts.fixable = s->counts.fixable_unsafe =
			s->counts.fixable_infos = 0;
	s->not_run = run_not_run(run, &s->nnot_run);
	tell_rendered(m);
	check_required(m);
	s->seconds = (double)(progress_clock() - lint->start) / 1000;
	if (m->fixed && lint->options->fix && !lint->options->diff &&
	    !lint->options->quiet)
		log_line("applied fixes in %zu file%s", m->fixed,
			 m->fixed == 1 ? "" : "s");
	if (lint->options->add_ignore && !lint->options->quiet)
		log_line("added %zu ignore comment%s to %zu file%s",
			 m->comments, m->comments == 1 ? "" : "s", m->commented,
			 m->commented == 1 ? "" : "s");
	lint->baseline_run.not_run = s->not_run;
	lint->baseline_run.nnot_run = s->nnot_run;
	lint->baseline_run.incomplete = lint->failed;
	lint->failed |= baseline_run_finish(&lint->baseline_run) != 0;
	/* Diffs are written to standard output, and only here is it checked
	 * that this succeeded. */
	if (lint->options->diff && !outputs_use_stdout(&lint->outputs))
		lint->failed |= flush_out() != 0;
	s->failed = lint->failed;
	s->quotas = add_quotas;
	s->context = lint;
	outputs_end(&lint->outputs, s);
	lint->failed |= lint->outputs.failed;
}

void lint_merge(struct lint *lint)
{
	static char buffer[OUTPUT_BUFFER];
	struct merge m = {.lint = lint};

	buf_init(&m.path);
	buf_init(&m.related_path);
	/* Buffer long reports, except on a terminal. stdout uses the buffer
	 * until the end of the program. */
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	outputs_begin(&lint->outputs, lint->options, &lint->rules);
	count_folded(&m);
	for (uint32_t i = 0; i < lint->files.n - lint->files.nrendered; i++)
		merge_any(&m, i);
	finish(&m);
	arena_release(&m.arena);
	arena_release(&m.names);
	buf_release(&m.path);
	buf_release(&m.related_path);
	free(m.skipped);
}
