/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes several reports in one run. A stream that failed is not written to
 * again; the others continue.
 */
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "lint/report/parts/report_common.h"
#include "lint/term/log.h"

static int unknown_format(const char *name)
{
	const char *names[32];
	struct buf all;
	const char *near;
	size_t n = 0;

	buf_init(&all);
	for (; n < report_formats_count && n < 32; n++) {
		names[n] = report_formats[n]->name;
		buf_addf(&all, " %s", names[n]);
	}
	near = text_nearest(name, names, n);
	if (near)
		log_usage("lint",
			  "--format: unknown format `%s`; did you mean `%s`?",
			  name, near);
	else
		log_usage("lint",
			  "--format: unknown format `%s`; use one of:%s", name,
			  all.data);
	buf_release(&all);
	return 2;
}

static int add_output(struct outputs *outputs, struct options *options,
		      const char *text)
{
	const char *colon = strchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : strlen(text);
	const char *name = arena_strndup(&options->arena, text, len);
	struct output output = {.format = report_format_find(name)};

	if (!output.format)
		return unknown_format(name);
	if (colon && !colon[1])
		return log_usage("lint", "--format %s: no file after the `:`",
				 text);
	if (colon && strcmp(colon + 1, "-") != 0)
		output.path = colon + 1;
	for (size_t i = 0; i < outputs->n; i++)
		if (text_eq(outputs->items[i].path, output.path))
			return log_usage(
				"lint", "--format: two reports would go to %s",
				output.path ? output.path : "standard output");
	*ARRAY_PUSH(outputs->items, outputs->n, outputs->size) = output;
	return 0;
}

int outputs_parse(struct outputs *outputs, struct options *options)
{
	memset(outputs, 0, sizeof(*outputs));
	/* With --diff and without --format, only the diff is written. */
	if (!options->formats.n && options->diff)
		return 0;
	if (!options->formats.n)
		return add_output(outputs, options, "full");
	for (size_t i = 0; i < options->formats.n; i++) {
		int rc =
			add_output(outputs, options, options->formats.items[i]);

		if (rc)
			return rc;
	}
	return 0;
}

static void fail(struct outputs *outputs, struct output *o, int error)
{
	if (o->error)
		return;
	o->error = error ? error : EIO;
	outputs->failed = true;
	log_line("%s: %s", o->path ? o->path : "standard output",
		 strerror(o->error));
}

static void check(struct outputs *outputs, struct output *o)
{
	if (ferror(o->out))
		fail(outputs, o, errno);
}

static void begin(struct outputs *outputs, struct output *o)
{
	int error = 0;

	if (o->path)
		error = replace_open(&o->file, o->path);
	o->out = o->path ? o->file.out : stdout;
	if (error) {
		fail(outputs, o, error);
		return;
	}
	errno = 0;
	if (o->format->size)
		o->state = report_begin(o->format, o->out, &o->options);
	check(outputs, o);
}

/* True on a GitHub runner, or a compatible one. */
static bool on_github(void)
{
	const char *actions = getenv("GITHUB_ACTIONS");

	return actions && text_eq(actions, "true");
}

void outputs_begin(struct outputs *outputs, const struct options *options,
		   const struct rule_set *rules)
{
	outputs->diff = options->diff;
	for (size_t i = 0; i < outputs->n; i++) {
		struct output *o = &outputs->items[i];

		o->options = (struct report_options){
			.color = !o->path &&
				 color_wanted(options->color, STDOUT_FILENO),
			.width = o->path ? 0 : terminal_width(STDOUT_FILENO),
			.statistics = options->statistics,
			.quiet = options->quiet > 0,
			.show_all = options->show_all,
			.fail_on = options->fail_on,
			.github = on_github(),
			.rules = rules,
			.version = program_version,
		};
		/* With -qq, the exit status is the only output. */
		if (!o->path && options->quiet > 1)
			o->error = ECANCELED;
		else
			begin(outputs, o);
	}
}

void outputs_file(struct outputs *outputs, const struct report_file *file,
		  const struct finding *findings, size_t n, bool folded)
{
	for (size_t i = 0; i < outputs->n; i++) {
		struct output *o = &outputs->items[i];

		if (o->error || !o->format->file || o->format->whole == folded)
			continue;
		o->format->file(o->state, file, findings, n);
		check(outputs, o);
	}
}

static void finish(struct outputs *outputs, struct output *o)
{
	int error;

	if (!o->out)
		return;
	if (o->path)
		error = replace_finish(&o->file, o->error);
	else
		error = fflush(stdout) ? errno : 0;
	if (error)
		fail(outputs, o, error);
}

/* Logs the names of the report files and the numbers of findings, for a run
 * that printed nothing. */
static void log_files(const struct outputs *outputs,
		      const struct report_summary *summary)
{
	struct buf text;

	buf_init(&text);
	for (size_t i = 0; i < outputs->n; i++)
		if (!outputs->items[i].error)
			buf_addf(&text, "%s%s", text.len ? ", " : "wrote ",
				 outputs->items[i].path);
	if (text.len) {
		buf_adds(&text, ": ");
		summary_add_findings(&summary->counts, &text);
		log_line("%s", text.data);
	}
	buf_release(&text);
}

void outputs_end(struct outputs *outputs, const struct report_summary *summary)
{
	for (size_t i = 0; i < outputs->n; i++) {
		struct output *o = &outputs->items[i];

		errno = 0;
		if (o->out)
			report_end(o->format, o->state, summary);
		if (o->out && !o->error)
			check(outputs, o);
		finish(outputs, o);
	}
	if (outputs->n && !outputs->items->options.quiet && !outputs->diff &&
	    !outputs_use_stdout(outputs))
		log_files(outputs, summary);
}

bool outputs_show_rendered(const struct outputs *outputs)
{
	for (size_t i = 0; i < outputs->n; i++) {
		const struct report_format *format = outputs->items[i].format;

		if (format == &report_full || format == &report_github ||
		    format == &report_json || format == &report_jsonl)
			return true;
	}
	return false;
}

bool outputs_use_stdout(const struct outputs *outputs)
{
	for (size_t i = 0; i < outputs->n; i++)
		if (!outputs->items[i].path)
			return true;
	return false;
}

void outputs_release(struct outputs *outputs)
{
	free(outputs->items);
}
