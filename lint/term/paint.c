/* SPDX-License-Identifier: Apache-2.0 */
/* Writes colors as SGR sequences (ECMA-48). */
#include "paint.h"

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
