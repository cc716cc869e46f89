/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the files as of a git revision. Only files that differ from it are read
 * from git; all others are unchanged.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/path.h"
#include "base/text.h"
#include "commands.h"
#include "lint/files/git.h"

struct quota_since {
	struct lint *lint;
	const char *revision;
	struct arena arena;
	struct git_changes changes;
	struct run run;
	struct buf path;
};

bool quota_since_changed(void *since, const char *path)
{
	const struct quota_since *s = since;
	struct buf absolute;
	bool changed;

	buf_init(&absolute);
	path_absolute(s->lint->cwd, path, &absolute);
	changed = path_is_manifest(path) &&
		  git_changes_have(&s->changes, absolute.data);
	buf_release(&absolute);
	return changed;
}

/* --- texts of the revision ------------------------------------------------ */

static void ignore_findings(void *context, uint32_t file,
			    struct finding **findings, size_t n)
{
	(void)context;
	(void)file;
	(void)findings;
	(void)n;
}

/* True if the file is one of the given paths, or below one of them. */
static bool is_asked(struct quota_since *s, const char *name)
{
	const struct list *paths = &s->lint->options->paths;
	struct buf file, asked;
	bool found = false;

	buf_init(&file);
	buf_init(&asked);
	path_absolute(s->changes.top, name, &file);
	for (size_t i = 0; i < (paths->n ? paths->n : 1) && !found; i++) {
		buf_reset(&asked);
		path_absolute(s->lint->cwd, paths->n ? paths->items[i] : ".",
			      &asked);
		found = !strncmp(file.data, asked.data, asked.len) &&
			(asked.len == 1 || !file.data[asked.len] ||
			 file.data[asked.len] == '/');
	}
	buf_release(&file);
	buf_release(&asked);
	return found;
}

/* Sets the policy, namespace and cluster that a file of that name would have.
 * Returns whether its policy names a cluster. */
static bool describe(struct quota_since *s, const char *name,
		     struct run_file *file)
{
	struct lint *lint = s->lint;
	struct policy_path_rule rule;
	struct buf folder;
	uint32_t index;
	char *slash;

	buf_init(&folder);
	path_absolute(s->changes.top, name, &folder);
	buf_reset(&s->path);
	buf_adds(&s->path, folder.data);
	slash = strrchr(folder.data, '/');
	*slash = '\0';
	index = policies_find(&lint->policies, folder.data);
	file->policy =
		policies_for_file(&lint->policies, index, s->path.data, &rule);
	file->default_namespace = lint->options->namespace
					  ? lint->options->namespace
					  : rule.namespace;
	if (file->default_namespace)
		file->default_namespace =
			arena_strdup(&s->arena, file->default_namespace);
	file->cluster = clusters_for_file(&lint->clusters, &lint->policies,
					  index, rule.cluster);
	buf_release(&folder);
	return rule.cluster != NULL;
}

static void read_text(struct quota_since *s, const struct buf *text,
		      struct run_file *file, const char *name)
{
	struct arena arena = ARENA_INIT, documents = ARENA_INIT;
	struct source source;

	source_init(&source, &arena, name, text->data, text->len);
	file->source = &source;
	run_file(&s->run, file, &documents, NULL, NULL);
	file->source = NULL;
	arena_release(&documents);
	arena_release(&arena);
}

/* Reads the i-th changed file as of the revision. Skips a template and a file
 * that the revision does not have. */
static int read_old(struct quota_since *s, size_t i, struct err *err)
{
	const char *const arguments[] = {"show",
					 arena_printf(&s->arena, "%s:%s",
						      s->revision,
						      s->changes.names[i]),
					 NULL};
	struct run_file file = {.index = (uint32_t)i};
	struct err own = {0};
	struct buf text;
	int rc;

	buf_init(&text);
	rc = git_run(s->changes.top, arguments, &text, &own);
	if (!rc && !text_find(text.data, text.len, "{{")) {
		describe(s, s->changes.names[i], &file);
		read_text(s, &text, &file, s->changes.names[i]);
	}
	buf_release(&text);
	return rc < 0 ? err_set(err, own.code, "%s", own.text) : 0;
}

static void file_of(void *context, uint32_t file, struct quota_file *out)
{
	struct quota_since *s = context;
	struct run_file as = {.index = file};
	bool wanted = describe(s, s->changes.names[file], &as);
	struct buf absolute;

	out->unknown = quota_unknown(&s->lint->clusters, as.policy, as.cluster,
				     wanted, &s->arena);
	out->changed = true;
	buf_init(&absolute);
	path_absolute(s->changes.top, s->changes.names[file], &absolute);
	buf_reset(&s->path);
	path_from(s->lint->cwd, absolute.data, &s->path);
	buf_release(&absolute);
	out->path = s->path.data;
}

int quota_since_add(struct quota_since *s, struct quota_table *table,
		    const struct object_index *quotas, struct err *err)
{
	const struct policy *policy = s->lint->policies.items[0].policy;
	struct quota_source source = {
		.index = &s->run.index,
		.quotas = quotas,
		.extra = &policy_kube(policy)->accelerators,
		.kubernetes = policy_platform(policy)->kubernetes,
		.before = true,
		.file_of = file_of,
		.context = s,
	};

	for (size_t i = 0; i < s->changes.n; i++)
		if (path_is_manifest(s->changes.names[i]) &&
		    is_asked(s, s->changes.names[i]) && read_old(s, i, err))
			return -1;
	object_index_finish(&s->run.index);
	quota_table_add(table, &source);
	return 0;
}

struct quota_since *quota_since_open(struct lint *lint, const char *revision,
				     struct err *err)
{
	struct run_options options = lint->job.run;
	struct quota_since *s;

	s = calloc(1, sizeof(*s));
	if (!s)
		OUT_OF_MEMORY();
	s->lint = lint;
	s->revision = revision;
	buf_init(&s->path);
	options.sink = ignore_findings;
	run_init(&s->run, &options);
	if (!git_changes_read(&s->changes, revision, err))
		return s;
	quota_since_close(s);
	return NULL;
}

void quota_since_close(struct quota_since *s)
{
	if (!s)
		return;
	run_release(&s->run);
	arena_release(&s->arena);
	arena_release(&s->changes.arena);
	buf_release(&s->path);
	free(s);
}
