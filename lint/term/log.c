/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints messages, and finds out whether a stream is a terminal and supports
 * colors. As is usual, NO_COLOR (no-color.org) has precedence over FORCE_COLOR
 * and CLICOLOR_FORCE, these over CLICOLOR=0 and TERM=dumb, and all of them over
 * the type of the stream.
 */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "escape.h"
#include "program.h"

/* Writes a message with one call, so that lines of several threads do not
 * mix. */
static void write_line(struct buf *line)
{
	buf_addc(line, '\n');
	fwrite(line->data, 1, line->len, stderr);
	buf_release(line);
}

/* Begins a line. Names of files and texts of policies may be hostile: a line
 * break could begin a GitHub workflow command, an escape character a terminal
 * sequence. */
__attribute__((format(printf, 2, 0))) static void
begin_line(struct buf *line, const char *fmt, va_list ap)
{
	struct buf text, said;

	buf_init(&text);
	buf_init(&said);
	buf_vaddf(&text, fmt, ap);
	program_say(&said, text.data);
	buf_init(line);
	buf_addf(line, "%s: ", program_name());
	escape_add(line, said.data, said.len);
	buf_release(&text);
	buf_release(&said);
}

void log_line(const char *fmt, ...)
{
	struct buf line;
	va_list ap;

	va_start(ap, fmt);
	begin_line(&line, fmt, ap);
	va_end(ap);
	write_line(&line);
}

int log_usage(const char *command, const char *fmt, ...)
{
	struct buf line;
	va_list ap;

	va_start(ap, fmt);
	begin_line(&line, fmt, ap);
	va_end(ap);
	buf_addf(&line, "\nTry `%s help%s%s`.", program_name(),
		 command ? " " : "", command ? command : "");
	write_line(&line);
	return 2;
}

/* True if the variable is set, not empty, and not a word for no. */
static bool env_true(const char *name)
{
	const char *value = getenv(name);

	return value && *value && strcmp(value, "0") != 0 &&
	       strcmp(value, "false") != 0;
}

bool color_wanted(const char *when, int fd)
{
	const char *no_color = getenv("NO_COLOR");
	const char *clicolor = getenv("CLICOLOR");
	const char *term = getenv("TERM");

	if (when && !strcmp(when, "always"))
		return true;
	if (when && !strcmp(when, "never"))
		return false;
	if (no_color && *no_color)
		return false;
	if (env_true("FORCE_COLOR") || env_true("CLICOLOR_FORCE"))
		return true;
	if (clicolor && !strcmp(clicolor, "0"))
		return false;
	if (!term || !*term || !strcmp(term, "dumb"))
		return false;
	return isatty(fd);
}

unsigned terminal_width(int fd)
{
	struct winsize size;

	if (isatty(fd) && !ioctl(fd, TIOCGWINSZ, &size))
		return size.ws_col;
	return 0;
}
