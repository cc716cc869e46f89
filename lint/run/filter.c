/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes complete sets of manifests: the output of a renderer, or files that
 * are applied unchanged. The text is fixed first, so that the findings refer to
 * the output. Texts that `lint` would skip (templates, files that are not
 * Kubernetes manifests, exclusions) are checked, because everything is applied.
 */
#include "filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "lint/term/log.h"

static struct run_options run_options(struct filter *f)
{
	return (struct run_options){
		.rules = &f->rules,
		.file_values = true,
		.render_repairs = true,
		.keep_infos = !options_show_infos(f->options),
		.partial = f->options->partial,
		.no_ignore = f->options->no_ignore,
		.today = (int64_t)time(NULL) / 86400,
		.now = f->clusters.now,
		.cluster = f->cluster,
		.context = f,
	};
}

static const struct policy *choose_policy(struct filter *f, const char *name)
{
	struct policy_path_rule rule;
	uint32_t index = policies_find(&f->policies, f->cwd);
	struct buf path;
	const struct policy *policy;

	if (policies_ready(&f->policies))
		return NULL;
	buf_init(&path);
	buf_addf(&path, "%s/%s", f->cwd, name);
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
	memset(f, 0, sizeof(*f));
	f->options = options;
	f->rules = program_rules();
	f->cwd = getcwd(NULL, 0);
	if (!f->cwd) {
		log_line("current folder: %s", strerror(errno));
		return 2;
	}
	if (policies_init(&f->policies, options, f->cwd) ||
	    clusters_init(&f->clusters, options))
		return 2;
	f->policy = choose_policy(f, name);
	return !f->policy || f->clusters.failed ? 2 : 0;
}

struct filter_text *filter_add(struct filter *f, const char *name)
{
	struct filter_text *text =
		ARRAY_PUSH(f->texts, f->ntexts, f->texts_size);

	*text = (struct filter_text){.name = arena_strdup(&f->arena, name)};
	buf_init(&text->text);
	return text;
}

int filter_add_stdin(struct filter *f, const char *name)
{
	int error = input_read_stdin(&filter_add(f, name)->text);

	if (!error)
		return 0;
	log_line("standard input: %s", input_strerror(error));
	return 2;
}

void filter_release(struct filter *f)
{
	if (f->run.state)
		run_release(&f->run);
	for (size_t i = 0; i < f->ntexts; i++)
		buf_release(&f->texts[i].text);
	free(f->texts);
	arena_release(&f->arena);
	arena_release(&f->memory.arena);
	policies_release(&f->policies);
	clusters_release(&f->clusters);
	free(f->cwd);
}

int filter_repair(struct filter *f, bool unsafe)
{
	struct run_options options = run_options(f);
	struct run_file file = {.policy = f->policy};
	struct filter_text *text = f->texts;
	struct source source;
	struct fixer fixer;
	struct err err = {0};
	struct buf fixed;
	int rc;

	file.default_namespace = f->namespace;
	source_init(&source, &f->arena, text->name, text->text.data,
		    text->text.len);
	buf_init(&fixed);
	fixer_init(&fixer, &options, unsafe);
	rc = fixer_text(&fixer, &file, &source, &fixed, &err);
	if (rc > 0) {
		buf_reset(&text->text);
		buf_add(&text->text, fixed.data, fixed.len);
	}
	if (rc < 0)
		log_line("%s: not fixed: %s", text->name, err.text);
	fixer_release(&fixer);
	buf_release(&fixed);
	return rc < 0 ? 2 : 0;
}

static void keep(void *context, uint32_t file, struct finding **findings,
		 size_t n)
{
	struct filter *f = context;

	(void)file;
	for (size_t i = 0; i < n; i++)
		finding_copy(VEC_PUSH(&f->arena, f->findings, f->n, f->size),
			     findings[i], &f->memory);
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

	return file < f->ntexts ? &f->texts[file].source : NULL;
}

static void lint_text(struct filter *f, size_t i)
{
	struct filter_text *text = &f->texts[i];
	struct run_file file = {.index = (uint32_t)i,
				.policy = f->policy,
				.source = &text->source,
				.default_namespace = f->namespace};
	struct arena documents = ARENA_INIT;

	source_init(&text->source, &f->arena, text->name, text->text.data,
		    text->text.len);
	text->objects = f->run.counts.objects;
	run_file(&f->run, &file, &documents, NULL, NULL);
	text->objects = f->run.counts.objects - text->objects;
	arena_release(&documents);
}

void filter_lint(struct filter *f)
{
	struct run_options options = run_options(f);

	options.sink = keep;
	options.source_of = set_source;
	run_init(&f->run, &options);
	for (size_t i = 0; i < f->ntexts; i++)
		lint_text(f, i);
	run_set(&f->run, policy_of, f);
	if (f->n)
		findings_sort(f->findings, f->n);
	for (size_t i = 0; i < f->ntexts && f->n; i++)
		masked_make(&f->texts[i].masked, &f->arena,
			    &f->texts[i].source);
	for (size_t i = 0; i < f->n; i++)
		masked_findings(&f->texts[f->findings[i].place.file].masked,
				&f->findings[i], 1);
}

size_t filter_failures(const struct filter *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		n += finding_fails(&f->findings[i], f->options->fail_on);
	return n;
}

static const char *report_path(void *context, uint32_t file)
{
	struct filter *f = context;

	return file < f->ntexts ? f->texts[file].name : "";
}

/* Reports the findings of the text of finding `first`; returns the index after
 * them. */
static size_t report_text(struct filter *f, const struct report_format *format,
			  void *state, size_t first)
{
	uint32_t index = f->findings[first].place.file;
	struct report_file file = {.index = index,
				   .path = f->texts[index].name,
				   .source = set_source,
				   .path_of = report_path,
				   .context = f,
				   .masked = f->texts[index].masked.source};
	size_t n = 1;

	while (first + n < f->n && f->findings[first + n].place.file == index)
		n++;
	format->file(state, &file, &f->findings[first], n);
	return n;
}

void filter_report(struct filter *f, const struct report_format *format,
		   FILE *out)
{
	struct report_options options = {.rules = &f->rules,
					 .show_all = f->options->show_all,
					 .fail_on = f->options->fail_on,
					 .version = program_version};
	struct report_summary summary = {.files = f->ntexts,
					 .counts = f->run.counts};
	void *state;

	summary.not_run = run_not_run(&f->run, &summary.nnot_run);
	state = report_begin(format, out, &options);
	for (size_t i = 0; format->file && i < f->n;)
		i += report_text(f, format, state, i);
	report_end(format, state, &summary);
}
