/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws the progress bar, at most ten times per second and by one thread at a
 * time.
 */
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log.h"

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
