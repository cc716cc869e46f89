/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A feed: lists and watches one kind. Only the thread of the live state uses
 * feeds.
 *
 *	WAITING  until the next request is due, for a list from its beginning
 *	         or a watch from the last version seen
 *	LISTING  page by page, then WATCHING
 *	WATCHING until the server ends the watch, the connection breaks, or
 *	         no data arrives for too long, then WAITING
 *
 * Objects that a new list lacks are removed when the list is complete, so that
 * a list that breaks off removes nothing.
 */
#ifndef WEBHOOK_REFLECTOR_H
#define WEBHOOK_REFLECTOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "kube/cluster/cluster.h"
#include "live.h"
#include "webhook/api/api.h"

/*
 * Splits chunks of bytes into JSON values: the lines of a watch, and the items
 * of a list one by one, so that a page of a list is never in memory as a whole.
 * The code looks only at brackets and quotes.
 */

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

enum reflector_state { FEED_WAITING, FEED_LISTING, FEED_WATCHING };

/* Why a response was not read to its end. */
enum reflector_verdict {
	FEED_FINE,
	FEED_RELIST, /* the resource version is too old to continue from */
	/* the response is malformed or too long, or memory ran out */
	FEED_BROKEN,
};

/* Data that all feeds share. */
struct feeds {
	const struct live_options *options;
	struct cluster_builder *builder;
	CURLM *multi;
	struct arena arena;	 /* memory of one object */
	_Atomic int64_t max_age; /* ms (0: unlimited) */
	/* the builder was changed since the last snapshot */
	bool changed;
	bool answered; /* the server has just responded */
	bool torn;     /* a change of the builder was interrupted */
	uint64_t relists, events, failures;
	/* time of the next warning about invalid objects */
	int64_t next_warning;
	/* start of the time without a response, and time of the last log line
	 * about it (0: none) */
	int64_t away_since, away_logged;
	/* time at which the server last began to respond again */
	int64_t back_since;
	/* warnings that were not logged since the last logged one */
	unsigned warnings;
};

struct feed {
	struct feeds *all;
	enum cluster_kind kind;
	enum reflector_state state;
	struct api_transfer transfer;
	struct buf line; /* incomplete line of a watch */
	struct items items;
	/* body of a response with a status other than 200 */
	struct buf body;
	struct buf version, next; /* resourceVersion and continue of the list */
	/* keys of objects that the list has had so far */
	uint64_t *seen;
	size_t nseen, seen_size;
	const char *api_version; /* version of the kind that is requested */
	unsigned failures;	 /* consecutive failures */
	unsigned refusals;	 /* consecutive failures that had a response */
	/* consecutive failures with a bad response, not silence */
	unsigned bad;
	/* consecutive responses "forbidden" or "no such kind" */
	unsigned unconfirmed;
	enum reflector_verdict verdict;
	struct err err;	 /* reason of the last failure */
	int64_t due;	 /* end of the wait in monotonic ms */
	int64_t started; /* start of the transfer */
	/* start of the transfer of the list's first page */
	int64_t list_started;
	int64_t last_byte;
	int64_t good; /* monotonic ms of the last complete state (0: never) */
	/* monotonic ms when the failure was logged (0: not logged) */
	int64_t out_since;
	bool wants_list;
	bool whole; /* the list is requested without pages */
	/* listed, absent or forbidden: the first state need not wait */
	bool answered;
	bool listed;	 /* all objects of the kind are in the state */
	bool absent;	 /* the API server does not have the kind */
	bool unreadable; /* snapshots show the kind as unreadable */
	bool reached;	 /* the current transfer has received a status */
	bool unreached;	 /* the last failure had no response */
};

void reflector_init(struct feed *feed, struct feeds *all,
		    enum cluster_kind kind);
void reflector_release(struct feed *feed);
/* Begins a transfer if it is due. */
void reflector_start(struct feed *feed, int64_t now);
/* Handles the end of the feed's transfer. */
void reflector_done(struct feed *feed, CURLcode code, int64_t now);
/* Confirms the state if a watch is accepted and quiet. Ends a transfer that
 * received no data for too long, and a list that takes too long. */
void reflector_look(struct feed *feed, int64_t now);
/* Shortens the wait of a feed that did not reach the server. Called when the
 * server responds (again). */
void reflector_relist_soon(struct feed *feed, int64_t now);
/* Ends the current transfer and lists the kind again at `due`. Forgets all that
 * is known about the kind if afresh is set. */
void reflector_start_over(struct feed *feed, int64_t due, bool afresh);
/* Notes that the kind can be read (again). */
void reflector_recovered(struct feed *feed);
/* Marks the kind as unreadable in snapshots, or as readable if reason is
 * NULL. */
void reflector_unreadable(struct feed *feed, const char *reason);

/* --- reflector_event.c ---------------------------------------------------- */

enum { FEED_HICCUPS = 3 }; /* consecutive failures before a line is logged */
/* Logs a failure that lasts, and repeats the line from time to time. */
void reflector_report(struct feed *feed, int64_t now);
/* Logs that the server responds again. */
void feeds_report_answer(struct feeds *all, int64_t now);
/* Counts a read that failed because memory ran out. */
void feeds_count_memory(struct feeds *all);

/* Adds a requested object to the state; returns false if the text is not an
 * object of the kind. */
bool reflector_take_object(struct feed *feed, const char *text, size_t len);
/* Take an item of a list, and an event of a watch, as callbacks of struct
 * split_sink; context is the feed. They return false, and set the verdict of
 * the feed, if the response must not be read further. */
bool reflector_take_item(void *context, const char *text, size_t len);
bool reflector_take_event(void *context, const char *text, size_t len);
/* Reads the metadata of the list, once the list has ended. */
int reflector_take_head(struct feed *feed, struct err *err);

/* --- live.c --------------------------------------------------------------- */

int64_t live_now(void); /* monotonic ms */
/* Returns a random number less than n. */
uint32_t live_random(uint32_t n);
/* Returns milliseconds to wait after a number (from 1) of consecutive failures:
 * half of the wait is fixed, half depends on chance, a random number. */
unsigned live_backoff(unsigned failures, unsigned first, unsigned most,
		      uint32_t chance);

/*
 * Requests for single objects. The thread of the live state sends them to the
 * API server on its connections. An object that is found is added to the state
 * like an event of a watch.
 */

struct questions;

/* kinds has one feed for each kind. Both arguments must outlive the
 * questions. */
struct questions *asks_new(struct feeds *feeds, struct feed *kinds);
void asks_free(struct questions *asks);

/* Asks for the absences and waits for the answers, at most ms milliseconds.
 * Returns a bit for each item that was answered and published by then. May be
 * called by any thread. */
uint32_t asks_wait(struct questions *asks, const struct cluster_absence *items,
		   size_t n, unsigned ms);

/* --- the thread of the live state ----------------------------------------- */

/* Sends the waiting questions. */
void asks_start(struct questions *asks);
struct ask_item;
/* Returns the item of a transfer, or NULL if the transfer belongs to a feed. */
struct ask_item *asks_item_of(const struct questions *asks, void *private);
/* Handles the end of the transfer of an item. */
void asks_done(struct questions *asks, struct ask_item *item, CURLcode code);
/* Returns true if there are answers, so that asks_finish() must be called once
 * the state is published. */
bool asks_are_answered(const struct questions *asks);
/* Passes the answers to the threads that wait for them. */
void asks_finish(struct questions *asks);
/* Drops all requests that were sent, and answers that are not published.
 * Threads that wait continue without them. */
void asks_drop(struct questions *asks);

#endif
