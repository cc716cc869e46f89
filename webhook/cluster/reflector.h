/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the live state: one feed lists and watches one kind. All of it
 * belongs to the one thread of the live state.
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

/* Why an answer was not read to its end. */
enum reflector_verdict {
	FEED_FINE,
	FEED_RELIST, /* the resource version is too old to continue from */
	FEED_BROKEN, /* the answer makes no sense */
};

/* Shared by all feeds. */
struct feeds {
	const struct live_options *options;
	struct cluster_builder *builder;
	CURLM *multi;
	struct arena arena;	 /* of one object */
	_Atomic int64_t max_age; /* ms, 0: any age will do */
	bool changed;		 /* since the last snapshot */
	bool answered;		 /* the server does: it was seen just now */
	bool torn; /* a change of the builder was left in the middle */
	uint64_t relists, events, failures;
	int64_t next_warning;		 /* about invalid objects */
	int64_t away_since, away_logged; /* the server does not answer */
	int64_t back_since;		 /* it does again */
	unsigned warnings; /* not logged since the last one that was */
};

struct feed {
	struct feeds *all;
	enum cluster_kind kind;
	enum reflector_state state;
	struct api_transfer transfer;
	struct buf line; /* of a watch, so far */
	struct items items;
	struct buf body;	  /* of a response that is not 200 */
	struct buf version, next; /* resourceVersion, continue */
	uint64_t *seen;		  /* keys of the list so far */
	size_t nseen, seen_size;
	const char *api_version; /* within the kind's versions */
	unsigned failures;	 /* in a row */
	unsigned refusals;	 /* of the last: with an answer */
	unsigned bad;		 /* of them: responses, not silence */
	unsigned unconfirmed;	 /* in a row: forbidden, or not there */
	enum reflector_verdict verdict;
	struct err err;	      /* why the last failed */
	int64_t due;	      /* monotonic ms: the end of waiting */
	int64_t started;      /* of the transfer */
	int64_t list_started; /* of its first page */
	int64_t last_byte;
	int64_t good;	   /* known to be complete then; 0: never was */
	int64_t out_since; /* the failure was logged then; 0: none */
	bool wants_list;
	bool whole;	 /* the list without pages */
	bool answered;	 /* listed, absent or forbidden: not to wait for */
	bool listed;	 /* the objects in the state are complete */
	bool absent;	 /* there is no such kind */
	bool unreadable; /* the snapshots say so */
	bool reached;	 /* this transfer has a status */
	bool unreached;	 /* the last failure: no answer at all */
};

void reflector_init(struct feed *feed, struct feeds *all,
		    enum cluster_kind kind);
void reflector_release(struct feed *feed);
/* Begin a transfer, if it is time to. */
void reflector_start(struct feed *feed, int64_t now);
/* The transfer has ended. */
void reflector_done(struct feed *feed, CURLcode code, int64_t now);
/* Silence for too long? */
void reflector_look(struct feed *feed, int64_t now);
/* The server answers (again): do not wait any longer. */
void reflector_relist_soon(struct feed *feed, int64_t now);
/* End what is under way and list again in ms; afresh: nothing is known. */
void reflector_start_over(struct feed *feed, int64_t due, bool afresh);
/* It works (again). */
void reflector_recovered(struct feed *feed);
/* Snapshots say that the kind cannot be read; NULL: it can. */
void reflector_unreadable(struct feed *feed, const char *reason);

/* --- reflector_report.c --------------------------------------------------- */

enum { FEED_HICCUPS = 3 }; /* failures in a row that are worth a line */
/* Logs a failure when it lasts, and from time to time after that. */
void reflector_report(struct feed *feed, int64_t now);
/* The server answers again: log it. */
void feeds_report_answer(struct feeds *all, int64_t now);
/* An allocation failed, and with it what was being read. */
void feeds_count_memory(struct feeds *all);

/* --- reflector_event.c ---------------------------------------------------- */

/* An object of the kind that was asked for; false: it is none. */
bool reflector_take_object(struct feed *feed, const char *text, size_t len);
bool reflector_take_item(void *context, const char *text, size_t len);
bool reflector_take_event(void *context, const char *text, size_t len);
/* The list's own metadata, once it has ended. */
int reflector_take_head(struct feed *feed, struct err *err);

/* --- live_time.c ---------------------------------------------------------- */

int64_t live_now(void); /* monotonic ms */
/* Less than n. */
uint32_t live_random(uint32_t n);
/* Milliseconds to wait after so many failures in a row (from 1): half of it
 * is certain, half by chance. */
unsigned live_backoff(unsigned failures, unsigned first, unsigned most,
		      uint32_t chance);

#endif
