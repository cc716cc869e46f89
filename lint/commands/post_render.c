/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `gpugate post-render`: a Helm post-renderer. Helm 3 calls it as an
 * executable, Helm 4 as a plugin; both pass the rendered manifests, including
 * hooks, on standard input, and read the result from standard output. Helm 4
 * drops a plugin's standard error, so the report also goes to --report-file or
 * $GPUGATE_REPORT. If the check fails, nothing is written to standard output,
 * so that the release stops.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/replace.h"
#include "lint/run/filter.h"
#include "lint/term/log.h"

static void write_report_file(struct filter *f, const char *path)
{
	struct replace replace;
	int error = replace_open(&replace, path);

	if (!error) {
		filter_report(f, &report_full, replace.out);
		error = replace_finish(&replace, 0);
	}
	if (error)
		log_line("%s: %s", path, strerror(error));
}

static void write_reports(struct filter *f)
{
	const char *path = f->options->report_file;

	if (!path)
		path = getenv("GPUGATE_REPORT");
	if (path && *path)
		write_report_file(f, path);
	if (f->options->quiet < 2 && f->n)
		filter_report(f, &report_full, stderr);
}

static int post_render(struct filter *f)
{
	int rc = filter_repair(f, f->options->unsafe_fixes);

	filter_lint(f);
	write_reports(f);
	if (rc || filter_failures(f))
		return rc ? rc : 1;
	return print_out(&f->texts->text);
}

int post_render_command(struct options *options)
{
	struct filter filter;
	int rc = filter_open(&filter, options, "<rendered>");

	if (!rc)
		rc = filter_add_stdin(&filter, "<rendered>");
	if (!rc)
		rc = post_render(&filter);
	filter_release(&filter);
	return rc;
}
