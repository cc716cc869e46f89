/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `gpugate quota`: the files are read as for lint, with no rule but the
 * reader's own, and their facts become a table.
 */
#include "quota.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "log.h"

struct command_state {
	struct lint *lint;
	struct quota_since *since; /* or NULL */
	struct buf path;
};

static const char *path_of(void *context, uint32_t file, bool *changed)
{
	struct command_state *c = context;

	buf_reset(&c->path);
	files_path(&c->lint->files, file, &c->path);
	*changed = c->since && quota_since_changed(c->since, c->path.data);
	return c->path.data;
}

static int make_table(struct command_state *c, struct quota_table *table)
{
	struct lint *lint = c->lint;
	struct run *run = &lint->workers.items[0].run;
	const struct policy *policy = lint->policies.items[0].policy;
	struct quota_source source = {
		.facts = &run->facts,
		.quotas = &run->facts,
		.extra = &policy_kube(policy)->accelerators,
		.path_of = path_of,
		.context = c,
	};
	struct err err = {0};

	fact_set_finish(&run->facts);
	table->since = c->since != NULL;
	quota_table_add(table, &source);
	if (c->since && quota_since_add(c->since, table, &run->facts, &err)) {
		log_error("%s", err.text);
		return 2;
	}
	quota_table_finish(table);
	return 0;
}

/* What the locale's variables say; a static binary has no locales. */
static bool is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
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
	else
		quota_text(table, &look, &out);
	return print_out(&out);
}

/* Files that are not in the sums; each is told. */
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
		log_error("%s: %s", path.data, input_strerror(f->error));
		any = true;
	}
	if (lint->workers.items[0].run.counts.errors) {
		log_error("not all documents could be read; `gpugate lint "
			  "--select invalid-syntax` tells where");
		any = true;
	}
	buf_release(&path);
	return any;
}

static int run_quota(struct lint *lint)
{
	struct command_state c = {.lint = lint};
	struct quota_table table = {.cluster = lint->clusters.common,
				    .now = lint->clusters.now};
	struct err err = {0};
	int rc = lint_gather(lint);

	if (rc)
		return rc;
	buf_init(&c.path);
	if (lint->options->before) {
		c.since = quota_since_open(lint, lint->options->before, &err);
		if (!c.since) {
			log_error("%s", err.text);
			rc = 2;
		}
	}
	if (!rc)
		rc = make_table(&c, &table);
	if (!rc)
		rc = print_table(lint->options, &table);
	if (tell_unread(lint) || lint->failed)
		rc = 2;
	quota_since_close(c.since);
	arena_release(&table.arena);
	buf_release(&c.path);
	return rc;
}

int quota_command(struct options *options)
{
	static const char *only[] = {"invalid-syntax", NULL};
	struct lint lint = {.options = options};
	int rc;

	if (options->config && options->isolated)
		return log_usage("quota", "--config and --isolated exclude "
					  "each other");
	options->select = (struct list){.items = only, .n = 1};
	rc = lint_open(&lint);
	if (!rc)
		rc = run_quota(&lint);
	lint_close(&lint);
	return rc;
}
