/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the pages of rules are (rules/docs): the address that was compiled in
 * (make's DOCS_URL), or the one of --docs-url.
 */
#ifndef LINT_DOCS_H
#define LINT_DOCS_H

#include <stdbool.h>

#include "base/buf.h"
#include "engine/rule.h"

/* "": nowhere. Before the first thread; the text is not copied. */
void docs_set(const char *address);
/* Append the address of the rule's page: ADDRESS/RULE.md. false: it has none,
 * as every rule of a policy's own. */
bool docs_add_page(struct buf *out, const struct rule *rule);
/* Append the address of the page that lists the rules; false: no address. */
bool docs_add_index(struct buf *out);

#endif
