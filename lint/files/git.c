/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names come NUL-separated, so they need no quoting. `ls-files --others` looks
 * below the folder it runs in only: so both commands run at the top.
 */
#include "git.h"

#include <string.h>

#include "subprocess.h"

enum { ARGUMENTS_MAX = 12 };

int git_run(const char *folder, const char *const *arguments, struct buf *out,
	    struct err *err)
{
	const char *argv[ARGUMENTS_MAX] = {"git", "-C", folder ? folder : "."};
	struct buf errors;
	size_t n = 3;
	int rc;

	while (*arguments && n < ARGUMENTS_MAX - 1)
		argv[n++] = *arguments++;
	buf_init(&errors);
	rc = program_run(argv, out, &errors, err);
	if (rc < 0)
		err_wrap(err, "--since");
	else if (rc)
		err_set(err, 0, "--since: git: %.*s",
			(int)strcspn(errors.data, "\n"), errors.data);
	buf_release(&errors);
	return rc < 0 ? -1 : rc != 0;
}

int git_top(struct buf *top, struct err *err)
{
	static const char *const arguments[] = {"rev-parse", "--show-toplevel",
						NULL};

	if (git_run(NULL, arguments, top, err))
		return -1;
	if (top->len) /* the line end */
		top->data[--top->len] = '\0';
	return 0;
}

int git_changes(const char *top, const char *revision, struct buf *names,
		struct err *err)
{
	const char *const diff[] = {
		"diff",		 "--name-only",	 "-z",
		"--no-relative", "--no-renames", "--no-ext-diff",
		revision,	 "--",		 NULL};
	static const char *const untracked[] = {"ls-files", "-z", "--others",
						"--exclude-standard", NULL};

	if (*revision == '-' || !*revision)
		return err_set(err, 0, "--since: `%s` is not a revision",
			       revision);
	if (git_run(top, diff, names, err) ||
	    git_run(top, untracked, names, err))
		return -1;
	return 0;
}
