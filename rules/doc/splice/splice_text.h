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
	unsigned step;	 /* indentation of a map inside of a map */
	unsigned offset; /* of a dash, relative to the key of its list */
	unsigned gap;	 /* blanks after a dash */
	/* flow */
	bool json;	  /* keys and strings in double quotes */
	bool tight;	  /* no blank after : and , */
	bool lines;	  /* each entry on a separate line */
	const char *unit; /* lines: indentation added by each level */
};

/* Writes a map's key; quote: the quote of its neighbors (" or '), or NUL. */
void text_key(struct buf *out, const char *key, size_t len, char quote,
	      bool flow);
/* Writes a scalar, or an empty collection. */
void text_scalar(struct buf *out, const struct node *node,
		 const struct style *style, bool flow);
/* Writes `key: value` in flow style; indent: that of its line. */
void text_flow_entry(struct buf *out, const struct node *node,
		     const struct style *style, const char *indent);
void text_flow(struct buf *out, const struct node *node,
	       const struct style *style, const char *indent);
/* Writes `key: value` whose key is in column col; without a line end. */
void text_block_entry(struct buf *out, const struct node *node,
		      const struct style *style, unsigned col);
/* Writes `- value` whose dash is in column col. */
void text_block_item(struct buf *out, const struct node *node,
		     const struct style *style, unsigned col);
/* Adds the text that follows the colon of a key in column col. */
void text_block_value(struct buf *out, const struct node *node,
		      const struct style *style, unsigned col);
/* Writes a line end and col blanks. */
void text_newline(struct buf *out, const struct style *style, unsigned col);

#endif
