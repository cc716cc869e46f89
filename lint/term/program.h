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
extern const char program_build[];   /* "1.0.0 (COMMIT)" where it is known */
/* By argv[0]: gpugate, or kubectl's plugin, which is called as one. */
void program_called(const char *argv0);
const char *program_name(void);
bool program_is_plugin(void);
/* The text with `gpugate` where it names a command as it is called. */
void program_say(struct buf *out, const char *text);
/* The rules that it was built with. */
struct rule_set program_rules(void);

/* Write to standard output, and release; the exit status: 0, or 2 after a
 * message. */
int print_out(struct buf *out);
/* Flushes earlier output to standard output; the exit status as above. */
int flush_out(void);

#endif
