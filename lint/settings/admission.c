/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads --admission-policy (files and folders with the cluster's admission
 * policies) and --as, --as-group (the requesting user). Problems are printed
 * with file, line and column.
 */
#include "settings.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "lint/term/log.h"

static void problem(void *context, const struct admission_remark *remark)
{
	(void)context;
	log_line("%s:%u:%u: %s", remark->file, remark->line, remark->column,
		 remark->text);
}

static void note_remark(void *context, const struct admission_remark *remark)
{
	(void)context;
	log_line("%s", remark->text);
}

static struct admission_listener listener_of(const struct options *options)
{
	return (struct admission_listener){
		.problem = problem,
		.note = options->quiet ? NULL : note_remark,
	};
}

/* --- files ---------------------------------------------------------------- */

struct policy_files {
	struct admission_settings *settings;
	struct admission_listener listener;
	unsigned files, failures;
};

static void read_path(struct policy_files *r, const char *path, bool named);

static void read_folder(struct policy_files *r, const char *path, DIR *dir)
{
	struct arena *arena = &r->settings->arena;
	const char **names = NULL;
	size_t n = 0, size = 0;
	struct dirent *entry;

	while (errno = 0, (entry = readdir(dir)))
		if (*entry->d_name != '.' && (entry->d_type == DT_DIR ||
					      path_is_manifest(entry->d_name)))
			*VEC_PUSH(arena, names, n, size) = arena_printf(
				arena, "%s%s%s", path,
				text_ends(path, "/") ? "" : "/", entry->d_name);
	if (errno) {
		log_line("%s: %s", path, strerror(errno));
		r->failures++;
	}
	texts_sort(names, n);
	for (size_t i = 0; i < n; i++)
		read_path(r, names[i], false);
}

static void read_path(struct policy_files *r, const char *path, bool named)
{
	const struct file_how how = {.limit = FILE_MANIFEST_MAX,
				     .may_pipe = named};
	DIR *dir = opendir(path);
	struct err err = {0};
	struct buf text;

	if (dir) {
		read_folder(r, path, dir);
		closedir(dir);
		return;
	}
	buf_init(&text);
	if (file_load(path, &how, &text, &err)) {
		log_line("%s: %s", path, err.text);
		r->failures++;
	} else {
		admission_policies_add(r->settings->set, path, text.data,
				       text.len, &r->listener);
		r->files++;
	}
	buf_release(&text);
}

/*
 * Returns the user's groups, including those that the API server adds for every
 * authenticated user.
 */
static const char *const *groups_of(struct arena *arena,
				    const struct options *options)
{
	size_t n = options->as_groups.n;
	const char **groups = ARENA_ARRAY(arena, const char *, n + 2);

	for (size_t i = 0; i < n; i++)
		groups[i] = options->as_groups.items[i];
	groups[n] = "system:authenticated";
	return groups;
}

int admission_settings_open(struct admission_settings *settings,
			    const struct options *options)
{
	const struct list *paths = &options->admission_policies;
	struct policy_files r = {.settings = settings,
				 .listener = listener_of(options)};

	settings->groups = groups_of(&settings->arena, options);
	if (!paths->n)
		return 0;
	settings->set = admission_policies_new();
	for (size_t i = 0; i < paths->n; i++) {
		r.files = 0;
		read_path(&r, paths->items[i], true);
		if (r.files || r.failures)
			continue;
		log_line("%s: the folder holds no manifest", paths->items[i]);
		r.failures++;
	}
	return r.failures ? 2 : 0;
}

int admission_settings_finish(struct admission_settings *settings,
			      const struct options *options)
{
	const struct admission_listener listener = listener_of(options);

	if (settings->namespaces)
		admission_policies_finish(settings->namespaces, &listener);
	return settings->set && admission_policies_finish(settings->set,
							  &listener)
		       ? 2
		       : 0;
}

void admission_settings_release(struct admission_settings *settings)
{
	admission_policies_free(settings->set);
	admission_policies_free(settings->namespaces);
	arena_release(&settings->arena);
}
