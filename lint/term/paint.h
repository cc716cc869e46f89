/* SPDX-License-Identifier: Apache-2.0 */
/* Colors of text on a terminal. */
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
/* Starts colored text, which paint_end() ends. Does nothing unless `on` is
 * set. */
void paint_begin(struct buf *out, bool on, enum color color);
void paint_end(struct buf *out, bool on);

#endif
