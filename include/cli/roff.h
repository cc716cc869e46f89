/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manual pages from the tables of options, for both programs.
 */
#ifndef CLI_ROFF_H
#define CLI_ROFF_H

#include "cli/options.h"

struct roff_page {
	const char *title, *section; /* of the header */
	const char *name, *summary;
	const char *version;
};

/* Appends text and a line end: without escapes, and without a request at the
 * start of a line; an empty line begins a paragraph. */
void roff_line(struct buf *out, const char *text);
void roff_header(struct buf *out, const struct roff_page *page);
/* The options of the commands with this bit, without --help. */
void roff_options(struct buf *out, const struct option_set *set,
		  unsigned command);

#endif
