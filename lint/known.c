/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Baselines. A finding on no object (text that does not parse) has a
 * fingerprint that any file could share; listing it would hide the same
 * mistake everywhere, so it is left out.
 */
#include "known.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/replace.h"
#include "base/text.h"
#include "log.h"

int known_open(struct known *known, const struct options *options,
	       struct job *job)
{
	struct err err = {0};

	*known = (struct known){.options = options, .job = job};
	if (options->write_baseline)
		known->new = baseline_new();
	if (!options->baseline)
		return 0;
	known->old = baseline_load(options->baseline, &err);
	if (known->old)
		return 0;
	if (err.line && text_starts(err.text, options->baseline))
		log_error("%s:%u:%u%s", options->baseline, err.line, err.column,
			  err.text + strlen(options->baseline));
	else
		log_error("%s", err.text);
	return 2;
}

void known_release(struct known *known)
{
	baseline_free(known->old);
	baseline_free(known->new);
}

void known_add(struct known *known, const char *file, struct finding *findings,
	       size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct finding *f = &findings[i];

		if (f->suppressed && f->suppressed != SUPPRESSED_BASELINE)
			continue;
		if (!*f->id.kind) {
			known->unlisted++;
			continue;
		}
		baseline_add(known->new, file, f);
		f->suppressed = SUPPRESSED_BASELINE;
		f->suppression_reason = "in the baseline";
	}
}

static bool is_gone(const char *path)
{
	return access(path, F_OK) && (errno == ENOENT || errno == ENOTDIR);
}

/* Paths are as seen from where the baseline was written, often its folder. */
static bool file_is_gone(const struct known *known, const char *file)
{
	const char *slash = strrchr(known->options->baseline, '/');
	struct buf path;
	bool gone;

	if (!is_gone(file) || *file == '/' || !slash)
		return is_gone(file);
	buf_init(&path);
	buf_add(&path, known->options->baseline,
		(size_t)(slash + 1 - known->options->baseline));
	buf_adds(&path, file);
	gone = is_gone(path.data);
	buf_release(&path);
	return gone;
}

/* Of all objects, in this file. */
static bool rule_ran(const struct known *known, const char *name, size_t file)
{
	const struct rule_set *rules = known->job->run.rules;
	int index = rule_set_find(rules, name);
	struct policy_path_rule rule;
	struct buf scratch;
	bool enabled;

	if (index < 0)
		return true; /* there is none any more */
	for (size_t i = 0; i < known->nnot_run; i++)
		if (known->not_run[i].rule == rules->items[index])
			return false;
	buf_init(&scratch);
	enabled = policy_base(
			  job_policy(known->job, file, &scratch, &rule))[index]
			  .enabled;
	buf_release(&scratch);
	return enabled;
}

/* An entry that matches nothing is stale only if it could have matched. */
static bool looked_for(void *context, const struct baseline_entry *entry)
{
	const struct known *known = context;
	const struct files *files = known->job->files;
	long file = files_find(files, entry->file);

	if (file < 0)
		return file_is_gone(known, entry->file);
	return files->items[file].flags & FILE_LINTED &&
	       rule_ran(known, entry->rule, (size_t)file);
}

/* old: what it was made from, or NULL. */
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
		log_error("%s: %s", path, replace_strerror(error));
	return error ? 2 : 0;
}

static int finish_old(struct known *known)
{
	struct baseline_files files = {looked_for, known};
	const char *path = known->options->baseline;
	size_t stale;

	if (!known->options->prune_baseline) {
		stale = baseline_stale(known->old, &files, NULL, NULL);
		if (stale && !known->options->quiet)
			log_error("%s: %zu %s nothing any more; "
				  "--prune-baseline removes %s",
				  path, stale,
				  stale == 1 ? "entry matches"
					     : "entries match",
				  stale == 1 ? "it" : "them");
		return 0;
	}
	stale = baseline_prune(known->old, &files);
	if (!known->options->quiet)
		log_error("%s: removed %zu entr%s", path, stale,
			  stale == 1 ? "y" : "ies");
	return stale ? write_baseline(known->old, path,
				      baseline_stamp(known->old))
		     : 0;
}

static int finish_new(struct known *known)
{
	const char *path = known->options->write_baseline;
	size_t n;

	if (write_baseline(known->new, path, NULL))
		return 2;
	if (known->options->quiet)
		return 0;
	n = baseline_count(known->new);
	log_error("%s: %zu finding%s", path, n, n == 1 ? "" : "s");
	if (known->unlisted)
		log_error("%zu finding%s in no object, and not listed",
			  known->unlisted, known->unlisted == 1 ? "" : "s");
	return 0;
}

int known_finish(struct known *known)
{
	int rc = known->old ? finish_old(known) : 0;

	if (known->new)
		rc |= finish_new(known);
	return rc;
}
