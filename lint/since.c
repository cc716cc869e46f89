/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --since: which files changed, as git tells. Git is run directly, without a
 * shell, and its answer is NUL-separated, so names need no quoting.
 */
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heap.h"
#include "lint.h"

extern char **environ;

struct changes {
	struct buf text;    /* NUL-separated names */
	const char **names; /* absolute */
	size_t n, size;
	struct arena arena;
};

static int read_pipe(int fd, struct buf *out)
{
	for (;;) {
		ssize_t n;

		buf_grow(out, 4096);
		n = read(fd, out->data + out->len, 4096);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return (int)n;
		out->len += (size_t)n;
		out->data[out->len] = '\0';
	}
}

/* Output of git with these arguments; its messages go to our stderr. */
static int git(const char *const *arguments, struct buf *out, struct err *err)
{
	posix_spawn_file_actions_t actions;
	int fds[2], error, status = 0;
	char *argv[16] = {(char[]){"git"}};
	pid_t pid;

	if (pipe(fds))
		return err_set(err, errno, "--since: pipe: %s",
			       strerror(errno));
	for (int i = 0; arguments[i]; i++) {
		argv[i + 1] = strdup(arguments[i]);
		argv[i + 2] = NULL;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&actions, fds[0]);
	posix_spawn_file_actions_addclose(&actions, fds[1]);
	error = posix_spawnp(&pid, "git", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	if (!error)
		read_pipe(fds[0], out);
	close(fds[0]);
	for (int i = 1; argv[i]; i++)
		free(argv[i]);
	if (error)
		return err_set(err, error, "--since: git cannot be run: %s",
			       strerror(error));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return err_set(err, 0, "--since: git failed");
	return 0;
}

static void add_names(struct changes *changes, const char *top)
{
	const struct buf *text = &changes->text;
	struct buf path;

	buf_init(&path);
	for (size_t at = 0; at < text->len; at += strlen(text->data + at) + 1) {
		buf_reset(&path);
		path_absolute(top, text->data + at, &path);
		*HEAP_PUSH(changes->names, changes->n, changes->size) =
			arena_strdup(&changes->arena, path.data);
	}
	buf_release(&path);
}

static int ask_git(struct changes *changes, const char *revision,
		   struct err *err)
{
	const char *const top_arguments[] = {"rev-parse", "--show-toplevel",
					     NULL};
	const char *const diff[] = {"diff",
				    "--name-only",
				    "-z",
				    "--no-relative",
				    "--diff-filter=d",
				    "--no-ext-diff",
				    revision,
				    "--",
				    NULL};
	const char *const untracked[] = {"ls-files",	"-z",
					 "--others",	"--exclude-standard",
					 "--full-name", NULL};
	struct buf top;
	int rc;

	buf_init(&top);
	rc = git(top_arguments, &top, err);
	if (!rc && top.len)
		top.data[--top.len] = '\0'; /* the line end */
	if (!rc)
		rc = git(diff, &changes->text, err);
	if (!rc)
		rc = git(untracked, &changes->text, err);
	if (!rc)
		add_names(changes, top.data);
	buf_release(&top);
	return rc;
}

static int compare_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void keep_changed(struct files *files, const char *cwd,
			 const struct changes *changes)
{
	struct buf path, absolute;
	size_t kept = 0;

	buf_init(&path);
	buf_init(&absolute);
	for (size_t i = 0; i < files->n; i++) {
		const char *key;

		buf_reset(&path);
		buf_reset(&absolute);
		files_path(files, i, &path);
		path_absolute(cwd, path.data, &absolute);
		key = absolute.data;
		if (files->items[i].flags & FILE_STDIN ||
		    (changes->n &&
		     bsearch(&key, changes->names, changes->n,
			     sizeof(*changes->names), compare_text)))
			files->items[kept++] = files->items[i];
	}
	files->n = kept;
	buf_release(&path);
	buf_release(&absolute);
}

int since_filter(struct files *files, const char *cwd, const char *revision,
		 struct err *err)
{
	struct changes changes = {0};
	int rc;

	if (*revision == '-' || !*revision)
		return err_set(err, 0, "--since: `%s` is no revision",
			       revision);
	buf_init(&changes.text);
	rc = ask_git(&changes, revision, err);
	if (!rc && changes.n)
		qsort(changes.names, changes.n, sizeof(*changes.names),
		      compare_text);
	if (!rc)
		keep_changed(files, cwd, &changes);
	buf_release(&changes.text);
	arena_release(&changes.arena);
	free(changes.names);
	return rc;
}
