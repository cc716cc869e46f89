/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes parts of a SARIF report that need no state: URIs, messages,
 * descriptions of rules, notifications about the run.
 */
#ifndef LINT_SARIF_H
#define LINT_SARIF_H

#include "report_common.h"

/* Returns "error", "warning" or "note". */
const char *sarif_level(enum severity severity);
/* Returns "1.2.3-4-gabcdef" for "v1.2.3-4-gabcdef"; "0.0.0" if it is not a
 * version. */
const char *sarif_version(const char *version);
/* Adds a member whose value is an object with a text. */
void sarif_put_text(struct buf *out, const char *key, const char *text);
/* Adds artifactLocation: the path as a URI reference, with all characters as
 * %XX except "/" and unreserved ones. */
void sarif_put_artifact(struct buf *out, const char *path);
/* Adds the message, the help, and links to related places: "[a.yaml:3](1): used
 * here". */
void sarif_add_message(struct buf *out, const struct report_file *file,
		       const struct finding *finding);
/* Add complete objects. */
void sarif_put_rule(struct buf *out, const struct rule *rule);
void sarif_put_invocation(struct buf *out,
			  const struct report_summary *summary);

#endif
