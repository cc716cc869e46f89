/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pieces of a SARIF report that need no state: URIs, message texts, the
 * description of a rule, what happened during the run.
 */
#ifndef LINT_SARIF_H
#define LINT_SARIF_H

#include "report_common.h"

/* error, warning, note. */
const char *sarif_level(enum severity severity);
/* "1.2.3-4-gabcdef" of "v1.2.3-4-gabcdef"; "0.0.0" when it is not a version. */
const char *sarif_version(const char *version);
/* A member that is an object with a text. */
void sarif_put_text(struct buf *out, const char *key, const char *text);
/* artifactLocation: the path as a URI reference, all but unreserved characters
 * in %XX. */
void sarif_put_artifact(struct buf *out, const char *path);
/* Message, help, and links to related places: "[a.yaml:3](1): used here". */
void sarif_add_message(struct buf *out, const struct report_file *file,
		       const struct finding *finding);
/* Whole objects. */
void sarif_put_rule(struct buf *out, const struct rule *rule);
void sarif_put_invocation(struct buf *out,
			  const struct report_summary *summary);

#endif
