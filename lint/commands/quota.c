/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `gpugate quota`: reads files like lint, with only the rule invalid-syntax,
 * and makes a table from the facts about them.
 */
#include "commands.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "lint/term/log.h"

/* True if a quota is exceeded in the sense of --fail-on: `error` compares the
 * steady state, lower severities the peak. */
static bool is_over(const struct options *o, const struct quota_table *table)
{
	const char *on = o->fail_on ? o->fail_on : "never";

	if (!strcmp(on, "never"))
		return false;
	for (size_t i = 0; i < table->n; i++)
		if (quota_row_excess(&table->rows[i], strcmp(on, "error") != 0)
			    .nano > 0)
			return true;
	return false;
}

static int make_table(struct lint *lint, struct quota_since *since,
		      struct quota_table *table)
{
	struct object_index *index = &lint->whole.index;
	struct quota_maker maker = lint_quota_maker(lint);
	struct err err = {0};

	maker.changed = since ? quota_since_changed : NULL;
	maker.since = since;
	object_index_finish(index);
	table->only = lint->options->namespace;
	quota_table_make(table, &maker);
	if (since && quota_since_add(since, table, index, &err)) {
		log_line("%s", err.text);
		return 2;
	}
	quota_table_finish(table);
	return 0;
}

/* True if the variables of the locale name UTF-8; a static binary has no
 * locales. */
static bool is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return text_contains_ci(value, "utf-8") ||
			       text_contains_ci(value, "utf8");
	}
	return false;
}

static int print_table(const struct options *o, const struct quota_table *table)
{
	const char *format = o->quota_format ? o->quota_format : "text";
	const struct quota_look look = {color_wanted(o->color, STDOUT_FILENO),
					is_utf8()};
	struct buf out;

	buf_init(&out);
	if (!strcmp(format, "json"))
		quota_json(table, &out);
	else if (!strcmp(format, "markdown"))
		quota_markdown(table, &out);
	else if (!strcmp(format, "html"))
		quota_page(table, &out);
	else
		quota_text(table, &look, &out);
	return print_out(&out);
}

/* Reports files and documents that could not be read, because their requests
 * are missing in the sums. Returns false if there are none. */
static bool tell_unread(struct lint *lint)
{
	struct buf path;
	bool any = false;

	buf_init(&path);
	for (size_t i = 0; i < lint->files.n; i++) {
		const struct lint_file *f = &lint->files.items[i];

		if (!f->error)
			continue;
		buf_reset(&path);
		files_path(&lint->files, i, &path);
		log_line("%s: %s", path.data, input_strerror(f->error));
		any = true;
	}
	if (lint->whole.counts.errors) {
		log_line("some documents could not be read; `gpugate lint "
			 "--select invalid-syntax` shows where");
		any = true;
	}
	buf_release(&path);
	return any;
}

static int run_quota(struct lint *lint)
{
	struct quota_since *since = NULL;
	struct quota_table table = {0};
	struct err err = {0};
	int rc = lint_gather(lint);

	if (rc)
		return rc;
	if (lint->options->before) {
		since = quota_since_open(lint, lint->options->before, &err);
		if (!since) {
			log_line("%s", err.text);
			rc = 2;
		}
	}
	if (!rc)
		rc = make_table(lint, since, &table);
	if (!rc)
		rc = print_table(lint->options, &table);
	if (!rc && is_over(lint->options, &table))
		rc = 1;
	if (tell_unread(lint) || lint->failed)
		rc = 2;
	quota_since_close(since);
	arena_release(&table.arena);
	return rc;
}

int quota_command(struct options *options)
{
	static const char *only[] = {"invalid-syntax", NULL};
	struct lint lint = {.options = options};
	struct live_cluster live = {0};
	int rc;

	if (options->all_namespaces && options->namespace)
		return log_usage("quota", "--namespace and --all-namespaces "
					  "cannot be combined");
	if (options->config && options->isolated)
		return log_usage("quota",
				 "--config and --isolated cannot be combined");
	options->select = (struct list){.items = only, .n = 1};
	rc = live_open(&live, options, "quota");
	if (!rc) {
		/* If no files are named, only the cluster's objects are
		 * shown. */
		lint.listed = options->asks_state && !options->paths.n;
		rc = lint_open(&lint);
		if (!rc)
			rc = run_quota(&lint);
		lint_close(&lint);
	}
	live_release(&live);
	return rc;
}
