/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The running program's name, version, rules and documentation, and its
 * standard output.
 */
#ifndef LINT_PROGRAM_H
#define LINT_PROGRAM_H

#include <stdbool.h>

#include "base/buf.h"
#include "engine/registry.h"
#include "engine/rule.h"

extern const char program_version[]; /* "1.0.0" */
extern const char program_build[]; /* "1.0.0 (COMMIT)" if the commit is known */
/* Sets the program's name from argv[0]: "gpugate", or "kubectl gpugate" for
 * kubectl's plugin. */
void program_called(const char *argv0);
const char *program_name(void);
bool program_is_plugin(void);
/* Adds a text, in which `gpugate` in a command is replaced by the program's
 * name. */
void program_say(struct buf *out, const char *text);
/* Returns the built-in rules. */
struct rule_set program_rules(void);

/* Writes to standard output and releases the buffer. Returns the exit status:
 * 0, or 2 after a message. */
int print_out(struct buf *out);
/* Flushes standard output. Returns the exit status: 0, or 2 after a message. */
int flush_out(void);

/*
 * The address of the rules' pages (rules/docs): compiled in (make's DOCS_URL),
 * or from --docs-url.
 */

/* Sets the address, "" for none. It must be called before threads start; the
 * text is not copied. */
void docs_set(const char *address);
/* Appends ADDRESS/RULE.md, the address of the rule's page. Returns false if
 * there is none, as for custom rules. */
bool docs_add_page(struct buf *out, const struct rule *rule);
/* Appends the address of the page that lists the rules. Returns false if no
 * address is set. */
bool docs_add_index(struct buf *out);

#endif
