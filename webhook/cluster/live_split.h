/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits chunks into JSON values: the lines of a watch, and the items of a list
 * one by one, so that a page of a list is never in memory as a whole. It parses
 * only brackets and quotes.
 */
#ifndef WEBHOOK_LIVE_SPLIT_H
#define WEBHOOK_LIVE_SPLIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum { SPLIT_VALUE_MAX = 16 << 20 };

/* Takes a value; false ends the splitting. */
struct split_sink {
	bool (*take)(void *context, const char *text, size_t len);
	void *context;
};

/* Keeps the text after the last line end in rest. Returns false if the sink
 * stops, or a line is too long. */
bool lines_feed(struct buf *rest, const char *data, size_t len,
		const struct split_sink *sink);

/*
 * Splits {"kind": ..., "metadata": {...}, "items": [{...}, {...}]}: the sink
 * gets each of the items; head gets everything else, with "items":[].
 */
struct items {
	struct buf head, item, *to;
	unsigned depth; /* of open brackets */
	bool in_string, escaped;
	bool is_key;   /* the last string at depth 1 was "items" */
	bool in_items; /* within its list */
	bool done;     /* the value is complete */
	size_t string; /* start of the last string at depth 1 in head */
};
void items_init(struct items *items);
void items_reset(struct items *items);
void items_release(struct items *items);
bool items_feed(struct items *items, const char *data, size_t len,
		const struct split_sink *sink);

#endif
