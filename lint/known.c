/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Baselines. A finding on no object (text that does not parse) has a
 * fingerprint that any file could share; listing it would hide the same
 * mistake everywhere, so it is left out.
 */
#include "known.h"

#include <errno.h>
#include <unistd.h>

#include "log.h"

int known_open(struct known *known, const struct options *options,
	       const struct files *files)
{
	struct err err = {0};

	*known = (struct known){.options = options, .files = files};
	if (options->write_baseline)
		known->new = baseline_new();
	if (!options->baseline)
		return 0;
	known->old = baseline_load(options->baseline, &err);
	if (known->old)
		return 0;
	if (err.line)
		log_error("%s:%u:%u: %s", options->baseline, err.line,
			  err.column, err.text);
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

/* Linted, or not there any more: its entries can be stale. */
static bool was_linted(void *context, const char *file)
{
	const struct known *known = context;
	long index = files_find(known->files, file);

	if (index >= 0)
		return known->files->items[index].flags & FILE_LINTED;
	return access(file, F_OK) && errno == ENOENT;
}

static int write_baseline(struct baseline *baseline, const char *path)
{
	struct err err = {0};

	if (!baseline_write(baseline, path, &err))
		return 0;
	log_error("%s", err.text);
	return 2;
}

static int finish_old(struct known *known)
{
	struct baseline_files files = {was_linted, known};
	const char *path = known->options->baseline;
	size_t stale;

	if (!known->options->prune_baseline) {
		stale = baseline_stale(known->old, &files, NULL, NULL);
		if (stale && !known->options->quiet)
			log_error("%s: %zu entries match nothing any more; "
				  "--prune-baseline removes them",
				  path, stale);
		return 0;
	}
	stale = baseline_prune(known->old, &files);
	if (!known->options->quiet)
		log_error("%s: removed %zu entries", path, stale);
	return stale ? write_baseline(known->old, path) : 0;
}

static int finish_new(struct known *known)
{
	const char *path = known->options->write_baseline;

	if (write_baseline(known->new, path))
		return 2;
	if (known->options->quiet)
		return 0;
	log_error("%s: %zu findings", path, baseline_count(known->new));
	if (known->unlisted)
		log_error("%zu findings lie in no object and are not listed",
			  known->unlisted);
	return 0;
}

int known_finish(struct known *known)
{
	int rc = known->old ? finish_old(known) : 0;

	return known->new &&finish_new(known) ? 2 : rc;
}
