/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rejects roots that would read files outside of their repository. A chart can
 * print any file in its folder (.Files.Get), and helm follows links, so that
 * the author of a pull request could print files of the CI machine. Without a
 * repository, a chart may read the current folder if it is inside of it, else
 * only its own folder.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/text.h"
#include "render.h"

enum { LEVELS = 32, ENTRIES = 100000 };

struct border {
	struct render *r;
	struct render_root *root;
	const char *home; /* without symbolic links */
	size_t looked_at;
};

static const char *real_of(struct render *r, const char *path)
{
	char *real = path_real(path);
	const char *kept = real ? arena_strdup(&r->arena, real) : NULL;

	free(real);
	return kept;
}

static const char *home_of(struct render *r, const struct render_root *root)
{
	size_t len = repository_length(root->folder);
	const char *home = root->chart;

	if (r->border)
		return r->border;
	if (len)
		home = arena_strndup(&r->arena, root->folder, len);
	/* / is not a useful limit, because all files are below it. */
	else if (!text_eq(r->cwd, "/") && path_is_below(r->cwd, root->folder))
		home = r->cwd;
	return len || root->chart ? real_of(r, home) : NULL;
}

/* Rejects the root if the path exists and leads outside. */
static void check(struct border *b, const char *path)
{
	const char *real = real_of(b->r, path);
	const char *from = b->root->chart ? b->root->chart : b->root->folder;
	struct buf shown;

	if (!real || text_eq(b->home, real) || path_is_below(b->home, real) ||
	    b->root->refused)
		return;
	buf_init(&shown);
	path_from(from, path, &shown);
	b->root->refused = arena_printf(
		&b->r->arena,
		"it would read a file outside its repository: `%.200s`",
		shown.data);
	buf_release(&shown);
}

static void check_folder(struct border *b, const char *folder, unsigned level)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;

	while (dir && !b->root->refused && (entry = readdir(dir))) {
		const char *path = arena_printf(&b->r->arena, "%s/%s", folder,
						entry->d_name);
		struct stat st;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		check(b, path);
		if (level == LEVELS || ++b->looked_at > ENTRIES)
			b->root->refused = "its folder is too large";
		else if (!b->root->refused && !stat(path, &st) &&
			 S_ISDIR(st.st_mode))
			check_folder(b, path, level + 1);
	}
	if (dir)
		closedir(dir);
}

void render_refuse_outside(struct render *r, struct render_root *root)
{
	struct border b = {.r = r, .root = root, .home = home_of(r, root)};

	if (!b.home)
		return;
	for (size_t i = 0; i < root->sources.n; i++)
		check(&b, root->sources.items[i]);
	if (!root->chart || root->refused)
		return;
	check(&b, root->chart);
	if (!root->refused)
		check_folder(&b, root->chart, 0);
}
