/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits chunks of bytes into JSON values: the lines of a watch, and the items
 * of a list one by one, so that a page of a list is never in memory as a whole.
 * The code looks only at brackets and quotes.
 */
#ifndef WEBHOOK_LIVE_SPLIT_H
#define WEBHOOK_LIVE_SPLIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum { SPLIT_VALUE_MAX = 16 << 20 };

/* Function that receives each value, and returns false to end the splitting. */
struct split_sink {
	bool (*take)(void *context, const char *text, size_t len);
	void *context;
};

/* Splits data into lines. Keeps the text after the last line end in rest.
 * Returns false if the sink ends the splitting, or a line is too long. */
bool lines_feed(struct buf *rest, const char *data, size_t len,
		const struct split_sink *sink);

/*
 * Splits {"kind": ..., "metadata": {...}, "items": [{...}, {...}]}. The sink
 * gets each item, and head gets all other text, with "items":[].
 */
struct items {
	struct buf head, item, *to;
	unsigned depth; /* number of open brackets */
	bool in_string, escaped;
	bool is_key;   /* the last string at depth 1 was "items" */
	bool in_items; /* between the brackets of "items" */
	bool done;     /* the value is complete */
	/* start of the last string at depth 1, as an offset in head */
	size_t string;
};
void items_init(struct items *items);
void items_reset(struct items *items);
void items_release(struct items *items);
/* Splits a chunk. Returns false if the sink ends the splitting, the text is not
 * JSON, or an item or the head is too long. */
bool items_feed(struct items *items, const char *data, size_t len,
		const struct split_sink *sink);

#endif
