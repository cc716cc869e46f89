/* SPDX-License-Identifier: Apache-2.0 */
/* Writes new values in the style of their neighbors. Private to splice*.c. */
#ifndef RULES_DOC_SPLICE_TEXT_H
#define RULES_DOC_SPLICE_TEXT_H

#include <stdbool.h>

#include "base/buf.h"
#include "doc/node.h"

struct style {
	const char *nl; /* line end */
	/* Block style: */
	unsigned step;	 /* indentation of a map inside of a map */
	unsigned offset; /* column of a dash relative to the key of its list */
	unsigned gap;	 /* number of blanks after a dash */
	/* Flow style: */
	bool json;	  /* keys and strings in double quotes */
	bool tight;	  /* no blank after : and , */
	bool lines;	  /* each entry on a separate line */
	const char *unit; /* if lines is set: indentation added by each level */
};

/* Writes a map's key. quote is the quote of the neighboring keys (" or '), or
 * NUL. */
void text_key(struct buf *out, const char *key, size_t len, char quote,
	      bool flow);
/* Writes a scalar, or an empty collection. */
void text_scalar(struct buf *out, const struct node *node,
		 const struct style *style, bool flow);
/* Writes `key: value` in flow style. indent is the indentation of its line. */
void text_flow_entry(struct buf *out, const struct node *node,
		     const struct style *style, const char *indent);
void text_flow(struct buf *out, const struct node *node,
	       const struct style *style, const char *indent);
/* Writes `key: value` with the key in column col, without a line end. */
void text_block_entry(struct buf *out, const struct node *node,
		      const struct style *style, unsigned col);
/* Writes `- value` with the dash in column col. */
void text_block_item(struct buf *out, const struct node *node,
		     const struct style *style, unsigned col);
/* Writes the text that follows the colon of a key in column col. */
void text_block_value(struct buf *out, const struct node *node,
		      const struct style *style, unsigned col);
/* Writes a line end and col blanks. */
void text_newline(struct buf *out, const struct style *style, unsigned col);

#endif
