/* SPDX-License-Identifier: Apache-2.0 */
/*
 * New values as text in the style of their neighbors. Private to splice*.c.
 */
#ifndef RULES_DOC_SPLICE_TEXT_H
#define RULES_DOC_SPLICE_TEXT_H

#include <stdbool.h>

#include "base/buf.h"
#include "doc/node.h"

struct style {
	const char *nl; /* line end */
	/* block */
	unsigned step;	 /* of a map inside of a map */
	unsigned offset; /* of a dash, from the key of its list */
	unsigned gap;	 /* blanks after a dash */
	/* flow */
	bool json;	  /* keys and strings in double quotes */
	bool tight;	  /* nothing after : and , */
	bool lines;	  /* every entry on a separate line */
	const char *unit; /* lines: what a level adds to the indentation */
};

/* A map's key; quote: as its neighbors have it (" or '), or NUL. */
void text_key(struct buf *out, const char *key, size_t len, char quote,
	      bool flow);
/* A scalar, or its kind of empty collection. */
void text_scalar(struct buf *out, const struct node *node,
		 const struct style *style, bool flow);
/* `key: value` in flow style; indent: of the line it is on. */
void text_flow_entry(struct buf *out, const struct node *node,
		     const struct style *style, const char *indent);
void text_flow(struct buf *out, const struct node *node,
	       const struct style *style, const char *indent);
/* `key: value` whose key is in column col; ends without a line end. */
void text_block_entry(struct buf *out, const struct node *node,
		      const struct style *style, unsigned col);
/* `- value` whose dash is in column col. */
void text_block_item(struct buf *out, const struct node *node,
		     const struct style *style, unsigned col);
/* Adds the text that follows the colon of a key in column col. */
void text_block_value(struct buf *out, const struct node *node,
		      const struct style *style, unsigned col);
/* A line end and col blanks. */
void text_newline(struct buf *out, const struct style *style, unsigned col);

#endif
