/* SPDX-License-Identifier: Apache-2.0 */
/* Documentation of gpugated besides help: gpugated(8), and completion. */
#ifndef WEBHOOK_SHELL_H
#define WEBHOOK_SHELL_H

#include "base/buf.h"

/* Writes gpugated(8) as roff. */
void shell_manpage(struct buf *out);
/* Returns 0, or 2 after a message for an unknown shell. */
int shell_script(const char *shell, struct buf *out);

#endif
