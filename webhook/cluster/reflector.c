/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists and watches one kind, and decides when to try again. Times are
 * monotonic milliseconds.
 */
#include "reflector.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/text.h"

enum {
	/* bytes of a response with a status other than 200 */
	BODY_MAX = 1 << 16,
	/* limit without any response, or for a list that stalls */
	SILENCE_MS = 30000,
	/* limit for a slow page, in multiples of SILENCE_MS */
	LIST_LIMITS = 4,
	/* pending events arrive within half of this time */
	QUIET_MS = 4000,
	SHORT_MS = 1000,       /* a watch that ends before this has failed */
	RETRY_AFTER_MAX = 300, /* seconds */
	/* bad responses to a watch before the kind is listed again */
	BAD_MAX = 3,
	/* responses "forbidden" or "no such kind" before they are believed */
	UNCONFIRMED_MAX = 5,
	WATCH_SECONDS = 300, /* plus a random time up to the same length */
};

void reflector_init(struct feed *feed, struct feeds *all,
		    enum cluster_kind kind)
{
	*feed = (struct feed){
		.all = all,
		.kind = kind,
		.wants_list = true,
		.api_version = cluster_resource(kind)->versions,
	};
	buf_init(&feed->line);
	items_init(&feed->items);
	buf_init(&feed->body);
	buf_init(&feed->version);
	buf_init(&feed->next);
}

static void end_transfer(struct feed *feed)
{
	if (!feed->transfer.easy)
		return;
	curl_multi_remove_handle(feed->all->multi, feed->transfer.easy);
	api_transfer_end(&feed->transfer);
}

void reflector_release(struct feed *feed)
{
	end_transfer(feed);
	buf_release(&feed->line);
	items_release(&feed->items);
	buf_release(&feed->body);
	buf_release(&feed->version);
	buf_release(&feed->next);
	free(feed->seen);
}

void reflector_unreadable(struct feed *feed, const char *reason)
{
	feed->unreadable = reason != NULL;
	cluster_builder_unreadable(feed->all->builder, feed->kind, reason);
	feed->all->changed = true;
}

/* --- asking --------------------------------------------------------------- */

static void add_base(const struct feed *feed, struct buf *out)
{
	const struct cluster_resource *r = cluster_resource(feed->kind);

	buf_addf(out, "/api%s%s/%.*s/%s", *r->group ? "s/" : "", r->group,
		 (int)strcspn(feed->api_version, " "), feed->api_version,
		 r->plural);
}

static void add_path(const struct feed *feed, struct buf *out)
{
	const char *query = cluster_resource(feed->kind)->query;

	add_base(feed, out);
	if (query)
		buf_addf(out, "?%s", query);
	if (feed->wants_list) {
		if (!feed->whole)
			buf_addf(out, "%climit=%u", query ? '&' : '?',
				 feed->all->options->times.page);
		if (feed->next.len) {
			buf_adds(out, "&continue=");
			api_add_escaped(out, feed->next.data);
		}
		return;
	}
	buf_addf(out,
		 "%cwatch=true&allowWatchBookmarks=true&timeoutSeconds=%u"
		 "&resourceVersion=",
		 query ? '&' : '?', WATCH_SECONDS + live_random(WATCH_SECONDS));
	api_add_escaped(out, feed->version.data);
}

struct arrival {
	struct feed *feed;
	const char *data;
	size_t len;
	bool good;
};

static void take_arrival(void *context)
{
	struct arrival *a = context;
	struct feed *feed = a->feed;
	struct split_sink sink = {reflector_take_event, feed};

	if (feed->state == FEED_LISTING) {
		sink.take = reflector_take_item;
		a->good = items_feed(&feed->items, a->data, a->len, &sink);
	} else {
		a->good = lines_feed(&feed->line, a->data, a->len, &sink);
	}
}

static size_t on_data(char *data, size_t one, size_t len, void *context)
{
	struct feed *feed = context;
	struct arrival arrival = {feed, data, len, false};
	long status = 0;

	feed->last_byte = live_now();
	curl_easy_getinfo(feed->transfer.easy, CURLINFO_RESPONSE_CODE, &status);
	if (feed->all->torn)
		return 0;
	if (status != 200) {
		/* The text is only for the log: a text that is too long or
		 * finds no memory is dropped. */
		api_take_body(&feed->body, BODY_MAX, data, len);
		return len;
	}
	if (escape_run(take_arrival, &arrival, NULL) != ESCAPE_NONE) {
		feeds_count_memory(feed->all);
		feed->verdict = FEED_BROKEN;
		feed->err = (struct err){0};
		err_set(&feed->err, 0, "out of memory");
	}
	if (arrival.good)
		return len;
	if (feed->verdict == FEED_FINE) {
		feed->verdict = FEED_BROKEN;
		err_set(&feed->err, 0, "the response is not JSON, or too long");
	}
	return 0;
}

/* --- results -------------------------------------------------------------- */

static void wait_for(struct feed *feed, int64_t now, unsigned ms)
{
	feed->state = FEED_WAITING;
	feed->due = now + ms;
}

void reflector_recovered(struct feed *feed)
{
	struct log_field fields[] = {
		{"kind", cluster_resource(feed->kind)->kind, 0},
		{"group", cluster_resource(feed->kind)->group, 0},
	};

	if (feed->out_since)
		log_event(feed->all->options->log, LOG_INFO,
			  "cluster state: a kind can be read again", fields, 2);
	feed->out_since = 0;
	feed->failures = feed->refusals = feed->bad = feed->unconfirmed = 0;
	if (feed->unreadable)
		reflector_unreadable(feed, NULL);
}

static void fail(struct feed *feed, int64_t now, unsigned retry_after)
{
	const struct live_times *times = &feed->all->options->times;
	unsigned wait;

	feed->all->failures++;
	feed->failures++;
	feed->refusals = feed->unreached ? 0 : feed->refusals + 1;
	wait = live_backoff(feed->failures, times->retry, times->retry_max,
			    live_random(UINT32_MAX));
	if (retry_after > RETRY_AFTER_MAX)
		retry_after = RETRY_AFTER_MAX;
	/* The server requests this delay; a random time is added so that
	 * replicas differ. */
	if (retry_after * 1000 > wait)
		wait = retry_after * 1000 + live_random(1000);
	wait_for(feed, now, wait);
	reflector_report(feed, now);
	/* If a kind was never read, snapshots contain the reason. */
	if (!feed->listed && !feed->absent)
		reflector_unreadable(feed, feed->err.text);
}

static void list_again(struct feed *feed)
{
	feed->wants_list = true;
	buf_reset(&feed->next);
	feed->nseen = 0;
}

static void keep_progress(struct feed *feed)
{
	struct feeds *all = feed->all;

	all->torn = true;
	if (cluster_builder_keep(all->builder, feed->kind, feed->seen,
				 feed->nseen))
		all->changed = true;
	all->torn = false;
}

/* Ends the list: removes objects from the state that the list does not have. */
static void finish_list(struct feed *feed, int64_t now)
{
	struct feeds *all = feed->all;

	keep_progress(feed);
	free(feed->seen);
	feed->seen = NULL;
	feed->nseen = feed->seen_size = 0;
	if (feed->listed) {
		all->relists++;
		metrics_add(all->options->metrics, METRICS_CLUSTER_RELISTS, 1);
	}
	feed->listed = feed->answered = true;
	feed->absent = feed->wants_list = feed->whole = false;
	feed->good = feed->list_started;
	reflector_recovered(feed);
	wait_for(feed, now, 0);
}

static void page_done(struct feed *feed, int64_t now)
{
	if (reflector_take_head(feed, &feed->err)) {
		list_again(feed);
		fail(feed, now, 0);
	} else if (feed->next.len) {
		wait_for(feed, now, 0);
	} else {
		finish_list(feed, now);
	}
}

/*
 * Returns true if a refusal is not believed yet, and schedules the next
 * attempt. An API server that has just started may forbid a request that it
 * will soon allow (its authorizer has read no roles yet), and may not know the
 * kind of a CRD. For a kind that was read before, a refusal must last some
 * seconds; during these the state counts as good.
 */
static bool is_unconfirmed(struct feed *feed, int64_t now)
{
	const struct live_times *times = &feed->all->options->times;

	feed->unconfirmed++;
	feed->answered = true;
	/* Tries again soon, then after longer and longer waits. */
	wait_for(feed, now,
		 live_backoff(feed->unconfirmed, times->retry, times->absent,
			      live_random(UINT32_MAX)));
	return feed->listed && feed->unconfirmed < UNCONFIRMED_MAX;
}

/* Handles a kind of which the API server serves no known version. */
static void kind_absent(struct feed *feed, int64_t now)
{
	const struct cluster_resource *r = cluster_resource(feed->kind);
	unsigned absent = feed->all->options->times.absent;

	feed->api_version = r->versions;
	list_again(feed);
	if (is_unconfirmed(feed, now)) {
		feed->failures++;
		return;
	}
	if (!feed->listed) {
		/* Half of the wait is fixed, the other half random. */
		wait_for(feed, now, absent / 2 + live_random(absent / 2 + 1));
		feed->unconfirmed = 0;
	}
	feed->failures = 0;
	if (r->optional) {
		feed->nseen = 0;
		keep_progress(feed);
		feed->absent = true;
		feed->listed = false;
		if (feed->unreadable)
			reflector_unreadable(feed, NULL);
	} else {
		feed->refusals = FEED_HICCUPS;
		reflector_unreadable(feed, feed->err.text);
	}
	if (!r->optional)
		reflector_report(feed, now);
}

static void not_found(struct feed *feed, int64_t now)
{
	const char *blank = strchr(feed->api_version, ' ');

	list_again(feed);
	if (feed->state == FEED_WATCHING) {
		feed->api_version = cluster_resource(feed->kind)->versions;
		wait_for(feed, now, 0);
	} else if (blank) {
		feed->api_version = blank + 1;
		wait_for(feed, now, 0);
	} else {
		kind_absent(feed, now);
	}
}

/* Handles a forbidden request. The objects stay in the state until access is
 * granted again, but rules must not rely on them. */
static void forbidden(struct feed *feed, int64_t now)
{
	feed->all->failures++;
	feed->failures++;
	if (feed->state == FEED_LISTING)
		list_again(feed);
	if (is_unconfirmed(feed, now))
		return;
	if (feed->unconfirmed >= UNCONFIRMED_MAX) {
		feed->refusals = FEED_HICCUPS;
		reflector_report(feed, now);
	}
	reflector_unreadable(feed, feed->err.text);
}

/* --- the end of a transfer ------------------------------------------------ */

static void refused(struct feed *feed, long status, int64_t now)
{
	bool watching = feed->state == FEED_WATCHING;
	curl_off_t retry = 0;

	api_refused(&(struct api_reply){.status = status, .body = feed->body},
		    &feed->err);
	curl_easy_getinfo(feed->transfer.easy, CURLINFO_RETRY_AFTER, &retry);
	if (status == 404) {
		not_found(feed, now);
		return;
	}
	if (status == 403) {
		forbidden(feed, now);
		return;
	}
	/* Pages expire faster than they are read: request the list as a
	 * whole. */
	feed->whole |= status == 410 && feed->next.len;
	if (status == 410 ||
	    (watching && status != 429 && ++feed->bad >= BAD_MAX))
		list_again(feed);
	/* The first status 410 is normal, so the kind is listed again at
	 * once. */
	if (status == 410 && !feed->failures) {
		feed->failures++;
		wait_for(feed, now, live_random(100));
		return;
	}
	fail(feed, now, retry > 0 ? (unsigned)retry : 0);
}

static void watch_done(struct feed *feed, int64_t now)
{
	if (feed->verdict == FEED_RELIST) {
		list_again(feed);
		wait_for(feed, now, live_random(100));
	} else if (feed->verdict == FEED_BROKEN) {
		if (++feed->bad >= BAD_MAX)
			list_again(feed);
		fail(feed, now, 0);
	} else if (now - feed->started < SHORT_MS) {
		err_set(&feed->err, 0, "the watch ended at once");
		fail(feed, now, 0);
	} else {
		/* The watch ended normally: all events before its end have
		 * arrived. */
		feed->good = now;
		wait_for(feed, now, live_random(100));
	}
}

/* Handles a broken connection. For a watch, only the watch ends; the state
 * stays good. */
static void broke_off(struct feed *feed, CURLcode code, long status,
		      int64_t now)
{
	bool lived = feed->state == FEED_WATCHING && status == 200 &&
		     now - feed->started >= SHORT_MS;

	feed->unreached = !status;
	if (feed->state == FEED_LISTING)
		list_again(feed);
	err_set(&feed->err, 0, "%s", api_transfer_error(&feed->transfer, code));
	if (lived && !feed->failures) {
		feed->failures++;
		wait_for(feed, now,
			 live_random(feed->all->options->times.retry));
	} else {
		fail(feed, now, 0);
	}
}

void reflector_done(struct feed *feed, CURLcode code, int64_t now)
{
	long status = 0;

	curl_easy_getinfo(feed->transfer.easy, CURLINFO_RESPONSE_CODE, &status);
	/* The server responds again, so this feed waits no longer than the
	 * feeds that reflector_relist_soon() wakes. */
	if (feed->unreached && status && feed->failures > 1)
		feed->failures = 1;
	feed->unreached = false;
	feed->all->answered |= code == CURLE_OK;
	if (feed->verdict != FEED_FINE) {
		if (feed->state == FEED_WATCHING) {
			watch_done(feed, now);
		} else {
			list_again(feed);
			fail(feed, now, 0);
		}
	} else if (code != CURLE_OK) {
		broke_off(feed, code, status, now);
	} else if (status != 200) {
		refused(feed, status, now);
	} else if (feed->state == FEED_LISTING) {
		page_done(feed, now);
	} else {
		watch_done(feed, now);
	}
	end_transfer(feed);
}

/* --- beginning ------------------------------------------------------------ */

static void prepare(struct feed *feed, int64_t now)
{
	buf_release(&feed->line);
	items_reset(&feed->items);
	buf_reset(&feed->body);
	feed->verdict = FEED_FINE;
	feed->reached = false;
	feed->err = (struct err){0};
	feed->started = feed->last_byte = now;
	if (feed->wants_list && !feed->next.len) {
		feed->list_started = now;
		feed->nseen = 0;
	}
}

void reflector_start(struct feed *feed, int64_t now)
{
	struct feeds *all = feed->all;
	struct escape_guard guard;
	struct buf path;
	int rc;

	if (feed->state != FEED_WAITING || now < feed->due)
		return;
	prepare(feed, now);
	buf_init(&path);
	escape_guard(&guard, buf_drop, &path);
	add_path(feed, &path);
	rc = api_transfer_begin(all->options->api, &feed->transfer, path.data,
				&feed->err);
	escape_unguard(&guard);
	buf_release(&path);
	if (rc) {
		fail(feed, now, 0);
		return;
	}
	feed->state = feed->wants_list ? FEED_LISTING : FEED_WATCHING;
	curl_easy_setopt(feed->transfer.easy, CURLOPT_WRITEFUNCTION, on_data);
	curl_easy_setopt(feed->transfer.easy, CURLOPT_WRITEDATA, feed);
	curl_easy_setopt(feed->transfer.easy, CURLOPT_PRIVATE, feed);
	curl_multi_add_handle(all->multi, feed->transfer.easy);
}

/* Returns ms, but at most a third of the maximum age that the policy
 * requests. */
static int64_t within_age(const struct feed *feed, int64_t ms)
{
	int64_t third = atomic_load(&feed->all->max_age) / 3;

	return third && third < ms ? third : ms;
}

/* Notes that the state was complete when the watch began: the watch was
 * accepted, and pending events have arrived. Bookmarks would show this too, but
 * an API server sends none for a kind without events since its start. */
static void confirm(struct feed *feed, int64_t now)
{
	int64_t quiet = within_age(feed, QUIET_MS) / 2;

	if (feed->state == FEED_WATCHING && feed->good < feed->started &&
	    now - feed->started >= quiet && now - feed->last_byte >= quiet) {
		feed->good = feed->started;
		reflector_recovered(feed);
	}
}

/* Ends a silent watch and starts the next one. Silence alone is not a failure:
 * the next watch will fail if there is a problem. */
static void ask_anew(struct feed *feed, int64_t now)
{
	end_transfer(feed);
	wait_for(feed, now, live_random(feed->all->options->times.retry));
}

void reflector_look(struct feed *feed, int64_t now)
{
	int64_t limit = within_age(feed, feed->all->options->times.stall);
	long status = 0;

	if (!feed->transfer.easy)
		return;
	curl_easy_getinfo(feed->transfer.easy, CURLINFO_RESPONSE_CODE, &status);
	if (status && !feed->reached)
		feed->reached = feed->all->answered = true;
	if (status == 200)
		confirm(feed, now);
	if ((feed->state == FEED_LISTING || !status) && limit > SILENCE_MS)
		limit = SILENCE_MS;
	if (now - feed->last_byte < limit &&
	    (feed->state != FEED_LISTING ||
	     now - feed->started < limit * LIST_LIMITS))
		return;
	if (feed->state == FEED_WATCHING && status == 200) {
		ask_anew(feed, now);
		return;
	}
	if (feed->state == FEED_LISTING)
		list_again(feed);
	err_set(&feed->err, 0, "incomplete after %lld s, no data for %lld s",
		(long long)(now - feed->started) / 1000,
		(long long)(now - feed->last_byte) / 1000);
	feed->unreached = true;
	end_transfer(feed);
	fail(feed, now, 0);
}

void reflector_relist_soon(struct feed *feed, int64_t now)
{
	int64_t soon = now + live_random(feed->all->options->times.retry);

	if (!feed->unreached)
		return;
	/* A server that starts may first answer 503 and 429, so the wait stays
	 * short. */
	if (feed->failures > 1)
		feed->failures = 1;
	if (feed->state == FEED_WAITING && feed->due > soon)
		feed->due = soon;
}

void reflector_start_over(struct feed *feed, int64_t due, bool afresh)
{
	end_transfer(feed);
	list_again(feed);
	feed->state = FEED_WAITING;
	feed->due = due;
	if (!afresh)
		return;
	feed->listed = feed->answered = feed->absent = false;
	feed->good = 0;
}
