/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manual pages from the tables of options, for both programs.
 */
#ifndef CLI_ROFF_H
#define CLI_ROFF_H

#include "cli/options.h"

struct roff_page {
	const char *title, *section; /* in the header of the page */
	const char *name, *summary;
	const char *version;
};

/* Appends text and a newline, escaped so that roff interprets none of it. An
 * empty line begins a paragraph. */
void roff_line(struct buf *out, const char *text);
void roff_header(struct buf *out, const struct roff_page *page);
/* Appends the options of the commands with this bit, without --help. */
void roff_options(struct buf *out, const struct option_set *set,
		  unsigned command);

#endif
