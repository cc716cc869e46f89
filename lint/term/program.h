/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's version and rules, and its standard output.
 */
#ifndef LINT_PROGRAM_H
#define LINT_PROGRAM_H

#include <stdbool.h>

#include "base/buf.h"
#include "engine/registry.h"

extern const char program_version[];
/* Where the pages of rules are (rules/docs): an address without a `/` at its
 * end. NULL or "": nowhere. Before the first thread; not copied. */
void program_set_docs(const char *address);
/* Append the address of the rule's page. false: it has none, as every rule of
 * a policy's own. */
bool program_add_page(struct buf *out, const struct rule *rule);
/* The rules that it was built with. */
struct rule_set program_rules(void);

/* Write to standard output, and release; the exit status: 0, or 2 after a
 * message. */
int print_out(struct buf *out);
/* The same of what was written to it before. */
int flush_out(void);

#endif
