/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pieces of HTML pages: one file that asks for nothing else. The policy in its
 * head (Content-Security-Policy, by hashes) lets run what page.js holds and
 * nothing that a manifest could smuggle in; all text is escaped besides.
 */
#ifndef LINT_HTML_H
#define LINT_HTML_H

#include "lint/report/parts/report_common.h"

/* Up to where <main> begins: the title, the verdict after it (bad or good, or
 * NULL: none), and a line below them, "" for none. Raw text. */
struct html_head {
	const char *title, *verdict, *below;
	bool bad;
};
void html_open(struct buf *out, const struct html_head *head);
/* From the end of <main>. */
void html_close(struct buf *out, const char *version);

/* A rule's name, as a link where its page has an address. */
void html_add_rule(struct buf *out, const struct rule *rule);
/* "<span class="pill error">error</span>" */
void html_add_severity(struct buf *out, enum severity severity);

/* finding.c: an article. source: what may be shown of the file, or NULL. */
void html_add_finding(struct buf *out, const struct report_file *file,
		      struct source *source, const struct finding *finding);

/* summary.c: sections above the findings. Sorts the tally. */
void html_add_tiles(struct buf *out, const struct report_summary *summary);
void html_add_rules(struct buf *out, struct tally *tally);
void html_add_judged(struct buf *out, const struct report_summary *summary);

#endif
