/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the live state: one feed lists and watches one kind. Only the thread
 * of the live state uses it.
 *
 *	WAITING until due, then a list from its beginning, or a watch from
 *	        the last version seen
 *	LISTING page by page; then WATCHING
 *	WATCHING until the server ends it, something breaks, or it is silent
 *	        for too long; then WAITING
 *
 * Objects that a list no longer has are removed when the list is complete, so
 * that a list that is cut off leaves the state as good as it was.
 */
#ifndef WEBHOOK_REFLECTOR_H
#define WEBHOOK_REFLECTOR_H

#include <stdatomic.h>
#include <stdint.h>

#include "kube/cluster/cluster.h"
#include "live.h"
#include "live_split.h"
#include "webhook/api/api_transfer.h"

enum reflector_state { FEED_WAITING, FEED_LISTING, FEED_WATCHING };

/* Why a response was not read to its end. */
enum reflector_verdict {
	FEED_FINE,
	FEED_RELIST, /* the resource version is too old to continue from */
	FEED_BROKEN, /* the response is malformed */
};

/* Shared by all feeds. */
struct feeds {
	const struct live_options *options;
	struct cluster_builder *builder;
	CURLM *multi;
	struct arena arena;	 /* of one object */
	_Atomic int64_t max_age; /* ms; 0: any age is allowed */
	bool changed;		 /* since the last snapshot */
	bool answered;		 /* the server responded a moment ago */
	bool torn;		 /* a change of the builder was interrupted */
	uint64_t relists, events, failures;
	int64_t next_warning;		 /* about invalid objects */
	int64_t away_since, away_logged; /* the server does not respond */
	int64_t back_since;		 /* it does again */
	unsigned warnings; /* not logged since the last logged one */
};

struct feed {
	struct feeds *all;
	enum cluster_kind kind;
	enum reflector_state state;
	struct api_transfer transfer;
	struct buf line; /* partial line of a watch */
	struct items items;
	struct buf body;	  /* of a response other than 200 */
	struct buf version, next; /* resourceVersion, continue */
	uint64_t *seen;		  /* keys of the list so far */
	size_t nseen, seen_size;
	const char *api_version; /* within the kind's versions */
	unsigned failures;	 /* in a row */
	unsigned refusals;	 /* in a row: failures with a response */
	unsigned bad;		 /* of the failures: responses, not silence */
	unsigned unconfirmed;	 /* in a row: forbidden, or missing */
	enum reflector_verdict verdict;
	struct err err;	      /* why the last failed */
	int64_t due;	      /* monotonic ms: end of the wait */
	int64_t started;      /* of the transfer */
	int64_t list_started; /* of its first page */
	int64_t last_byte;
	int64_t good; /* monotonic ms of the last complete state; 0: never */
	int64_t out_since; /* monotonic ms when the failure was logged; 0: none
			    */
	bool wants_list;
	bool whole;	 /* the list without pages */
	bool answered;	 /* listed, absent or forbidden: not waited for */
	bool listed;	 /* the objects in the state are complete */
	bool absent;	 /* the kind does not exist */
	bool unreadable; /* the snapshots say so */
	bool reached;	 /* this transfer has a status */
	bool unreached;	 /* the last failure had no response at all */
};

void reflector_init(struct feed *feed, struct feeds *all,
		    enum cluster_kind kind);
void reflector_release(struct feed *feed);
/* Begins a transfer, if it is due. */
void reflector_start(struct feed *feed, int64_t now);
/* Handles the end of the transfer. */
void reflector_done(struct feed *feed, CURLcode code, int64_t now);
/* Ends a transfer that was silent for too long. */
void reflector_look(struct feed *feed, int64_t now);
/* Shortens the wait of a feed that did not reach the server, which responds
 * (again). */
void reflector_relist_soon(struct feed *feed, int64_t now);
/* Ends the current transfer and lists again in ms; afresh: nothing is known. */
void reflector_start_over(struct feed *feed, int64_t due, bool afresh);
/* Notes that the kind can be read (again). */
void reflector_recovered(struct feed *feed);
/* Marks the kind as unreadable in snapshots; NULL: it can be read. */
void reflector_unreadable(struct feed *feed, const char *reason);

/* --- reflector_report.c --------------------------------------------------- */

enum { FEED_HICCUPS = 3 }; /* failures in a row before a log line */
/* Logs a failure once it lasts, and from time to time after that. */
void reflector_report(struct feed *feed, int64_t now);
/* Logs that the server responds again. */
void feeds_report_answer(struct feeds *all, int64_t now);
/* Counts a read that failed because memory ran out. */
void feeds_count_memory(struct feeds *all);

/* --- reflector_event.c ---------------------------------------------------- */

/* Takes a requested object of the kind; false if it is not one. */
bool reflector_take_object(struct feed *feed, const char *text, size_t len);
bool reflector_take_item(void *context, const char *text, size_t len);
bool reflector_take_event(void *context, const char *text, size_t len);
/* Takes the list's own metadata, once the list has ended. */
int reflector_take_head(struct feed *feed, struct err *err);

/* --- live_time.c ---------------------------------------------------------- */

int64_t live_now(void); /* monotonic ms */
/* Returns a random number less than n. */
uint32_t live_random(uint32_t n);
/* Milliseconds to wait after a number of failures in a row (from 1): half of it
 * is fixed, half random. */
unsigned live_backoff(unsigned failures, unsigned first, unsigned most,
		      uint32_t chance);

#endif
