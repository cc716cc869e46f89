/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The merge: for each file in order, its findings and those of set rules,
 * sorted, to every report; then the summary. One file's findings are in
 * memory at a time.
 */
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "lint.h"
#include "log.h"

struct merge {
	struct lint *lint;
	struct arena arena; /* of one file */
	struct arena names; /* of skipped files */
	struct buf path;
	struct buf related_path;
	size_t set; /* next of lint.set_records */
	struct skipped_file *skipped;
	size_t nskipped, skipped_size;
	struct report_summary summary;
};

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

	return sources_get(&m->lint->sources, file);
}

static void read_record(struct merge *m, const struct spill *spill,
			const struct record *record, struct finding **findings,
			size_t *n)
{
	int error = spill_read(spill, record, &m->arena, findings, n);

	if (!error)
		return;
	*n = 0;
	m->lint->failed = true;
	log_error("%s: findings are lost: temporary file: %s", m->path.data,
		  strerror(error));
}

static int cmp_findings(const void *a, const void *b)
{
	return finding_cmp(a, b);
}

/* Findings of both phases as one sorted array. */
static size_t gather(struct merge *m, uint32_t file, struct finding **out)
{
	struct lint *lint = m->lint;
	const struct record *record = &lint->job.records[file];
	struct finding *set = NULL, *all;
	size_t n = 0, nset = 0;

	if (record->length)
		read_record(m, &lint->workers.items[record->spill].spill,
			    record, out, &n);
	if (m->set == lint->nset || lint->set_records[m->set].file != file)
		return n;
	read_record(m, &lint->set_spill, &lint->set_records[m->set++].record,
		    &set, &nset);
	all = ARENA_ARRAY(&m->arena, struct finding, n + nset);
	if (n)
		memcpy(all, *out, n * sizeof(*all));
	if (nset)
		memcpy(all + n, set, nset * sizeof(*all));
	qsort(all, n + nset, sizeof(*all), cmp_findings);
	*out = all;
	return n + nset;
}

static bool is_failure(const struct options *options,
		       const struct finding *finding)
{
	const char *fail_on = options->fail_on ? options->fail_on : "error";
	enum severity least;

	if (finding->suppressed)
		return false;
	return severity_parse(fail_on, &least) && finding->severity >= least;
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
	size_t n = gather(m, file, &findings);

	for (size_t i = 0; i < n && !lint->found; i++)
		lint->found = is_failure(lint->options, &findings[i]);
	outputs_file(&lint->outputs, &report, findings, n);
	m->summary.files++;
	arena_reset(&m->arena);
}

/* --- what was not linted ------------------------------------------------- */

static void skip(struct merge *m, const char *reason)
{
	*HEAP_PUSH(m->skipped, m->nskipped, m->skipped_size) =
		(struct skipped_file){arena_strdup(&m->names, m->path.data),
				      reason};
	if (!m->lint->options->strict_input)
		return;
	log_error("%s: skipped: %s", m->path.data, reason);
	m->lint->failed = true;
}

static void merge_any(struct merge *m, uint32_t file)
{
	const struct lint_file *f = &m->lint->files.items[file];

	buf_reset(&m->path);
	files_path(&m->lint->files, file, &m->path);
	if (f->error) {
		log_error("%s: %s", m->path.data, input_strerror(f->error));
		m->lint->failed = true;
	} else if (f->flags & FILE_TEMPLATE) {
		skip(m, "template (Helm, Go or Jinja)");
	} else if (f->flags & FILE_DANGLING) {
		skip(m, "symbolic link to nothing");
	} else {
		merge_file(m, file);
	}
}

/* --- --require ----------------------------------------------------------- */

static void require_rule(struct merge *m, const char *name)
{
	struct lint *lint = m->lint;
	int index = rule_set_find(&lint->rules, name);
	const struct rule *rule = lint->rules.items[index];
	const struct report_summary *s = &m->summary;

	for (size_t i = 0; i < s->nnot_run; i++) {
		if (s->not_run[i].rule != rule)
			continue;
		log_error("required rule `%s` did not run: %s", rule->name,
			  s->not_run[i].reason);
		lint->failed = true;
		return;
	}
	for (size_t i = 0; i < lint->policies.n; i++) {
		const struct policy_entry *entry = &lint->policies.items[i];
		const struct setting *setting =
			&policy_base(entry->policy)[index];

		if (setting->enabled || (!*entry->path && lint->policies.n > 1))
			continue;
		log_error("required rule `%s` did not run: it is off (%s)",
			  rule->name, setting->from ? setting->from : "");
		lint->failed = true;
		return;
	}
}

static void check_required(struct merge *m)
{
	const struct list *require = &m->lint->options->require;

	for (size_t i = 0; i < require->n; i++) {
		if (strcmp(require->items[i], "cluster") != 0) {
			require_rule(m, require->items[i]);
			continue;
		}
		log_error("required cluster state is not given");
		m->lint->failed = true;
	}
}

/* --- all ----------------------------------------------------------------- */

static void finish(struct merge *m)
{
	struct lint *lint = m->lint;
	struct run *run = &lint->workers.items[0].run;
	struct report_summary *s = &m->summary;

	s->skipped = m->skipped;
	s->nskipped = m->nskipped;
	s->ignored = lint->walk.ignored;
	s->counts = run->counts;
	s->not_run = run_not_run(run, &s->nnot_run);
	check_required(m);
	s->seconds = (double)(progress_clock() - lint->start) / 1000;
	s->failed = lint->failed;
	outputs_end(&lint->outputs, s);
	lint->failed |= lint->outputs.failed;
}

void lint_merge(struct lint *lint)
{
	struct merge m = {.lint = lint};

	buf_init(&m.path);
	buf_init(&m.related_path);
	outputs_begin(&lint->outputs, lint->options, &lint->rules);
	for (uint32_t i = 0; i < lint->files.n; i++)
		merge_any(&m, i);
	finish(&m);
	arena_release(&m.arena);
	arena_release(&m.names);
	buf_release(&m.path);
	buf_release(&m.related_path);
	free(m.skipped);
}
