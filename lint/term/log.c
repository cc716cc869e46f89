/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes to a terminal: messages, colors as SGR sequences (ECMA-48), and the
 * progress bar.
 *
 * As is usual, NO_COLOR (no-color.org) has precedence over FORCE_COLOR and
 * CLICOLOR_FORCE, these over CLICOLOR=0 and TERM=dumb, and all of them over
 * the type of the stream.
 */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
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

enum color severity_color(enum severity severity)
{
	static const enum color colors[] = {
		[SEVERITY_ERROR] = COLOR_ERROR,
		[SEVERITY_WARNING] = COLOR_WARNING,
		[SEVERITY_INFO] = COLOR_INFO,
	};

	return colors[severity];
}

void paint_begin(struct buf *out, bool on, enum color color)
{
	static const char *const codes[] = {
		[COLOR_BOLD] = "\033[1m",	[COLOR_ERROR] = "\033[1;31m",
		[COLOR_WARNING] = "\033[1;33m", [COLOR_INFO] = "\033[1;34m",
		[COLOR_GUTTER] = "\033[1;34m",	[COLOR_LABEL] = "\033[36m",
	};

	if (on)
		buf_adds(out, codes[color]);
}

void paint_end(struct buf *out, bool on)
{
	if (on)
		buf_adds(out, "\033[0m");
}

enum { DELAY = 1000, INTERVAL = 100, LONGEST_BAR = 40 };

int64_t progress_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void progress_init(struct progress *progress, bool quiet)
{
	const char *term = getenv("TERM");

	memset(progress, 0, sizeof(*progress));
	progress->unit = "files";
	/* A dumb terminal cannot erase a line. */
	progress->on = !quiet && isatty(STDERR_FILENO) && term && *term &&
		       strcmp(term, "dumb") != 0;
	progress->start = progress_clock();
	if (!progress->on)
		return;
	progress->width = terminal_width(STDERR_FILENO);
	if (progress->width < 30)
		progress->on = false;
}

/* Draws at most ten times per second, by one thread at a time. */
void progress_show(struct progress *progress, size_t done, size_t total)
{
	char bar[LONGEST_BAR + 1];
	unsigned width, filled;
	int64_t now;

	if (!progress->on || !total)
		return;
	now = progress_clock();
	if (now - progress->start < DELAY || now - progress->last < INTERVAL)
		return;
	progress->last = now;
	progress->shown = true;
	width = progress->width - 26;
	if (width > LONGEST_BAR)
		width = LONGEST_BAR;
	filled = (unsigned)(done * width / total);
	memset(bar, ' ', width);
	memset(bar, '=', filled);
	bar[width] = '\0';
	fprintf(stderr, "\r[%s] %zu/%zu %s", bar, done, total, progress->unit);
}

void progress_end(struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}
