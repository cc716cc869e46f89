/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that write parts of HTML pages. A page is one file that loads no
 * other one. The policy in its head (Content-Security-Policy, by hashes) allows
 * only the script page.js, and nothing that a manifest could contain; all text
 * is escaped as well.
 */
#ifndef LINT_HTML_H
#define LINT_HTML_H

#include "lint/report/parts/report_common.h"

/* Writes the page up to the start of <main>: the title, the verdict, whose
 * color depends on bad, and a line below. verdict may be NULL, and below "".
 * The function escapes the texts. */
struct html_head {
	const char *title, *verdict, *below;
	bool bad;
};
void html_open(struct buf *out, const struct html_head *head);
/* Writes the end of the page, from the end of <main> on. */
void html_close(struct buf *out, const char *version);

/* Adds a rule's name, as a link if the address of its page is known. */
void html_add_rule(struct buf *out, const struct rule *rule);
/* Adds <span class="pill error">error</span>. */
void html_add_severity(struct buf *out, enum severity severity);

/* finding.c: adds an article. source is the text of the file that may be shown,
 * or NULL. */
void html_add_finding(struct buf *out, const struct report_file *file,
		      struct source *source, const struct finding *finding);

#endif
