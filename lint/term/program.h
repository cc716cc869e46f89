/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's version and rules, and its standard output.
 */
#ifndef LINT_PROGRAM_H
#define LINT_PROGRAM_H

#include <stdbool.h>

#include "base/buf.h"
#include "engine/registry.h"

extern const char program_version[]; /* "1.0.0" */
extern const char program_build[]; /* "1.0.0 (COMMIT)" if the commit is known */
/* Chooses the name by argv[0]: gpugate, or kubectl's plugin with its
 * command. */
void program_called(const char *argv0);
const char *program_name(void);
bool program_is_plugin(void);
/* Adds the text; `gpugate` in a command becomes the chosen name. */
void program_say(struct buf *out, const char *text);
/* Returns the built-in rules. */
struct rule_set program_rules(void);

/* Writes to standard output and releases; returns the exit status: 0, or 2
 * after a message. */
int print_out(struct buf *out);
/* Flushes earlier output to standard output; returns the exit status as
 * above. */
int flush_out(void);

#endif
