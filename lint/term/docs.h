/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The address of the rules' pages (rules/docs): compiled in (make's DOCS_URL),
 * or from --docs-url.
 */
#ifndef LINT_DOCS_H
#define LINT_DOCS_H

#include <stdbool.h>

#include "base/buf.h"
#include "engine/rule.h"

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
