/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes BUG()'s message as the last line of the log. abort() would raise a
 * signal, which the sandbox rejects, and then end the process with a different
 * signal.
 */
#include "log_internal.h"

#include <unistd.h>

#include "base/bug.h"

/* Set before there are threads. */
static int bug_fd = -1;
static bool bug_json;

static void end(const char *file, int line, const char *text)
{
	struct log_line out;
	ssize_t ignored;

	line_begin(&out, bug_json, LOG_ERROR, "stopped by a bug in gpugated");
	line_text(&out, "file", file, 200);
	line_int(&out, "line", line);
	line_text(&out, "reason", text, 1000);
	line_end(&out);
	ignored = write(bug_fd, out.text, out.len);
	(void)ignored;
	_exit(LOG_BUG_STATUS);
}

void log_bugs(int fd, bool json)
{
	bug_fd = fd;
	bug_json = json;
	bug_set_end(end);
}
