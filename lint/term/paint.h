/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Colors of terminal text.
 */
#ifndef LINT_PAINT_H
#define LINT_PAINT_H

#include "base/buf.h"
#include "engine/finding.h"

enum color {
	COLOR_BOLD,
	COLOR_ERROR,
	COLOR_WARNING,
	COLOR_INFO,
	COLOR_GUTTER,
	COLOR_LABEL,
};
enum color severity_color(enum severity severity);
/* Starts a colored text, which ends with the reset; raw text. */
void paint_begin(struct buf *out, bool on, enum color color);
void paint_end(struct buf *out, bool on);

#endif
