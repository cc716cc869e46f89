/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes the baselines of a run. A finding without an object (text
 * that does not parse) is identified by its file and its message.
 */
#include "lint.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/replace.h"
#include "base/text.h"
#include "lint/term/log.h"

int baseline_run_open(struct baseline_run *baseline_run,
		      const struct options *options, struct job *job)
{
	struct err err = {0};

	*baseline_run = (struct baseline_run){.options = options, .job = job};
	if (options->write_baseline)
		baseline_run->new = baseline_new();
	if (!options->baseline)
		return 0;
	baseline_run->old = baseline_load(options->baseline, &err);
	if (baseline_run->old)
		return 0;
	if (err.line && text_starts(err.text, options->baseline))
		log_line("%s:%u:%u%s", options->baseline, err.line, err.column,
			 err.text + strlen(options->baseline));
	else
		log_line("%s", err.text);
	return 2;
}

void baseline_run_release(struct baseline_run *baseline_run)
{
	baseline_free(baseline_run->old);
	baseline_free(baseline_run->new);
}

void baseline_run_add(struct baseline_run *baseline_run, const char *file,
		      struct finding *findings, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct finding *f = &findings[i];

		if (f->suppressed && f->suppressed != SUPPRESSED_BASELINE)
			continue;
		baseline_add(baseline_run->new, file, f);
		f->suppressed = SUPPRESSED_BASELINE;
		f->suppression_reason = "in the baseline";
	}
}

static bool is_gone(const char *path)
{
	return access(path, F_OK) && (errno == ENOENT || errno == ENOTDIR);
}

/* True if the file exists neither relative to the current folder nor to the
 * baseline's folder. Paths are relative to the folder in which gpugate ran when
 * it wrote the baseline, which is usually one of them. */
static bool file_is_gone(const struct baseline_run *baseline_run,
			 const char *file)
{
	const char *slash = strrchr(baseline_run->options->baseline, '/');
	struct buf path;
	bool gone;

	if (!is_gone(file) || *file == '/' || !slash)
		return is_gone(file);
	buf_init(&path);
	buf_add(&path, baseline_run->options->baseline,
		(size_t)(slash + 1 - baseline_run->options->baseline));
	buf_adds(&path, file);
	gone = is_gone(path.data);
	buf_release(&path);
	return gone;
}

/* True if the rule ran on all objects of this file, or does not exist any
 * more. */
static bool rule_ran(const struct baseline_run *baseline_run, const char *name,
		     size_t file)
{
	const struct policy *policy;
	struct policy_path_rule rule;
	struct buf scratch;
	int index;

	for (size_t i = 0; i < baseline_run->nnot_run; i++)
		if (!strcmp(baseline_run->not_run[i].rule->name, name))
			return false;
	buf_init(&scratch);
	policy = job_policy(baseline_run->job, file, &scratch, &rule);
	buf_release(&scratch);
	index = rule_set_find(policy_rules(policy), name);
	/* A rule that does not exist any more cannot report. */
	return index < 0 || policy_base(policy)[index].enabled;
}

/* True if this run could have found the finding of the entry. Otherwise an
 * entry without a finding is not stale. */
static bool looked_for(void *context, const struct baseline_entry *entry)
{
	const struct baseline_run *baseline_run = context;
	const struct files *files = baseline_run->job->files;
	long file = files_find(files, entry->file);

	if (file < 0)
		return file_is_gone(baseline_run, entry->file);
	return files->items[file].flags & FILE_LINTED &&
	       rule_ran(baseline_run, entry->rule, (size_t)file);
}

/* Writes the baseline. old is the state of the file from which it was made, or
 * NULL. Returns 0, or 2 after a message. */
static int write_baseline(struct baseline *baseline, const char *path,
			  const struct file_stamp *old)
{
	struct buf text;
	int error;

	buf_init(&text);
	baseline_text(baseline, &text);
	error = replace_write(path, &text, old);
	buf_release(&text);
	if (error)
		log_line("%s: %s", path, replace_strerror(error));
	return error ? 2 : 0;
}

static int finish_old(struct baseline_run *baseline_run)
{
	struct baseline_files files = {looked_for, baseline_run};
	const char *path = baseline_run->options->baseline;
	size_t stale;

	if (!baseline_run->options->prune_baseline) {
		stale = baseline_stale(baseline_run->old, &files, NULL, NULL);
		if (stale && !baseline_run->options->quiet)
			log_line("%s: %zu %s no finding any more; "
				 "--prune-baseline removes %s",
				 path, stale,
				 stale == 1 ? "entry matches" : "entries match",
				 stale == 1 ? "it" : "them");
		return 0;
	}
	stale = baseline_prune(baseline_run->old, &files);
	if (!baseline_run->options->quiet)
		log_line("%s: removed %zu entr%s", path, stale,
			 stale == 1 ? "y" : "ies");
	return stale ? write_baseline(baseline_run->old, path,
				      baseline_stamp(baseline_run->old))
		     : 0;
}

static int finish_new(struct baseline_run *baseline_run)
{
	const char *path = baseline_run->options->write_baseline;
	size_t n;

	if (baseline_run->incomplete) {
		log_line("%s: not written: not all files could be linted",
			 path);
		return 2;
	}
	if (write_baseline(baseline_run->new, path, NULL))
		return 2;
	if (baseline_run->options->quiet)
		return 0;
	n = baseline_count(baseline_run->new);
	log_line("%s: %zu finding%s", path, n, n == 1 ? "" : "s");
	return 0;
}

int baseline_run_finish(struct baseline_run *baseline_run)
{
	int rc = baseline_run->old ? finish_old(baseline_run) : 0;

	if (baseline_run->new)
		rc |= finish_new(baseline_run);
	return rc;
}
