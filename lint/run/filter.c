/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters see one text that holds the whole set: what a renderer made. The text
 * is repaired first, so that the findings are those of the output. What `lint`
 * leaves out (templates, files of others, exclusions) is judged here: a
 * renderer's output is applied as it is.
 */
#include "filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"
#include "lint/term/log.h"

static struct run_options run_options(struct filter *f)
{
	return (struct run_options){
		.rules = &f->rules,
		.file_values = true,
		.render_repairs = true,
		.partial = f->options->partial,
		.no_ignore = f->options->no_ignore,
		.today = (int64_t)time(NULL) / 86400,
		.now = f->clusters.now,
		.cluster = f->cluster,
		.context = f,
	};
}

static const struct policy *choose_policy(struct filter *f)
{
	struct policy_path_rule rule;
	uint32_t index = POLICY_DEFAULT;
	struct buf path;
	const struct policy *policy;

	if (!policies_fixed(&f->policies))
		index = policies_find(&f->policies, f->cwd);
	if (policies_ready(&f->policies))
		return NULL;
	buf_init(&path);
	buf_addf(&path, "%s/%s", f->cwd, f->name);
	policy = policies_for_file(&f->policies, index, path.data, &rule);
	f->namespace =
		f->options->namespace ? f->options->namespace : rule.namespace;
	f->cluster = clusters_for_file(&f->clusters, &f->policies, index,
				       rule.cluster);
	if (f->cluster)
		clusters_check_age(&f->clusters, f->cluster,
				   policy_max_age(policy));
	buf_release(&path);
	return policy;
}

int filter_open(struct filter *f, struct options *options, const char *name)
{
	int error;

	memset(f, 0, sizeof(*f));
	f->options = options;
	f->rules = program_rules();
	f->name = name;
	buf_init(&f->text);
	spill_init(&f->spill);
	f->cwd = getcwd(NULL, 0);
	if (!f->cwd) {
		log_line("current folder: %s", strerror(errno));
		return 2;
	}
	if (policies_init(&f->policies, options, f->cwd) ||
	    clusters_init(&f->clusters, options->cluster, options->quiet > 0))
		return 2;
	f->policy = choose_policy(f);
	if (!f->policy || f->clusters.failed)
		return 2;
	error = input_read_stdin(&f->text);
	if (error) {
		log_line("standard input: %s", input_strerror(error));
		return 2;
	}
	return 0;
}

void filter_release(struct filter *f)
{
	if (f->run.state)
		run_release(&f->run);
	arena_release(&f->arena);
	spill_release(&f->spill);
	buf_release(&f->text);
	policies_release(&f->policies);
	clusters_release(&f->clusters);
	free(f->cwd);
}

int filter_repair(struct filter *f, bool unsafe)
{
	struct run_options options = run_options(f);
	struct run_file file = {.policy = f->policy};
	struct source source;
	struct fixer fixer;
	struct err err = {0};
	struct buf fixed;
	int rc;

	file.default_namespace = f->namespace;
	source_init(&source, &f->arena, f->name, f->text.data, f->text.len);
	buf_init(&fixed);
	fixer_init(&fixer, &options, unsafe);
	rc = fixer_text(&fixer, &file, &source, &fixed, &err);
	if (rc > 0) {
		buf_reset(&f->text);
		buf_add(&f->text, fixed.data, fixed.len);
	}
	if (rc < 0)
		log_line("%s: not repaired: %s", f->name, err.text);
	fixer_release(&fixer);
	buf_release(&fixed);
	return rc < 0 ? 2 : 0;
}

static void keep(void *context, uint32_t file, struct finding *findings,
		 size_t n)
{
	struct filter *f = context;

	(void)file;
	*VEC_PUSH(&f->arena, f->records, f->nrecords, f->records_size) =
		spill_write(&f->spill, findings, n);
}

/* Once all is written: what was read is in the spill. 0, or 2. */
static int read_back(struct filter *f)
{
	size_t size = 0, n;
	int rc = 0;

	for (size_t i = 0; i < f->nrecords; i++) {
		struct finding *read;
		const void *bytes;
		int error = spill_bytes(&f->spill, &f->records[i], &f->arena,
					&bytes);

		if (error) {
			log_line("%s: findings are lost: temporary file: %s",
				 f->name, strerror(error));
			rc = 2;
			continue;
		}
		n = spill_number(bytes);
		read = ARENA_ARRAY(&f->arena, struct finding, n + !n);
		spill_decode(bytes, &f->arena, read);
		for (size_t j = 0; j < n; j++)
			*VEC_PUSH(&f->arena, f->findings, f->n, size) = read[j];
	}
	if (f->n)
		findings_sort(f->findings, f->n);
	return rc;
}

static const struct policy *policy_of(void *context, uint32_t file)
{
	struct filter *f = context;

	(void)file;
	return f->policy;
}

static struct source *set_source(void *context, uint32_t file)
{
	struct filter *f = context;

	(void)file;
	return &f->source;
}

int filter_lint(struct filter *f)
{
	struct run_options options = run_options(f);
	struct run_file file = {.policy = f->policy, .source = &f->source};
	struct arena documents = ARENA_INIT;
	int rc;

	options.sink = keep;
	options.source_of = set_source;
	file.default_namespace = f->namespace;
	source_init(&f->source, &f->arena, f->name, f->text.data, f->text.len);
	run_init(&f->run, &options);
	run_file(&f->run, &file, &documents, NULL, NULL);
	run_set(&f->run, policy_of, f);
	arena_release(&documents);
	rc = read_back(f);
	if (!f->n)
		return rc;
	covered_make(&f->covered, &f->arena, &f->source);
	covered_findings(&f->covered, f->findings, f->n);
	return rc;
}

size_t filter_failures(const struct filter *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		n += finding_fails(&f->findings[i], f->options->fail_on);
	return n;
}

static struct source *report_source(void *context, uint32_t file)
{
	struct filter *f = context;

	return file ? NULL : &f->source;
}

static const char *report_path(void *context, uint32_t file)
{
	struct filter *f = context;

	return file ? "" : f->name;
}

void filter_report(struct filter *f, const struct report_format *format,
		   FILE *out)
{
	struct report_options options = {.rules = &f->rules,
					 .show_all = f->options->show_all,
					 .fail_on = f->options->fail_on,
					 .version = program_version};
	struct report_file file = {.path = f->name,
				   .source = report_source,
				   .path_of = report_path,
				   .context = f,
				   .covered = f->covered.source};
	struct report_summary summary = {.files = 1, .counts = f->run.counts};
	void *state = NULL;

	summary.fixable = f->run.counts.fixable;
	summary.fixable_unsafe = f->run.counts.fixable_unsafe;
	summary.not_run = run_not_run(&f->run, &summary.nnot_run);
	if (format->begin)
		state = format->begin(out, &options);
	if (format->file)
		format->file(state, &file, f->findings, f->n);
	if (format->end)
		format->end(state, &summary);
}
