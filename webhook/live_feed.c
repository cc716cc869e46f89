/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a feed. Times are monotonic milliseconds.
 */
#include "live_feed.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum {
	BODY_MAX = 1 << 16,    /* of an answer that is no success */
	SILENCE_MS = 30000,    /* no answer at all, a list that stands still */
	LIST_LIMITS = 4,       /* so many silences: a page that drips */
	QUIET_MS = 2000,       /* nothing more is on its way */
	SHORT_MS = 1000,       /* a watch that ends sooner was none */
	RETRY_AFTER_MAX = 300, /* seconds */
	HICCUPS = 3,	       /* failures in a row that are worth a line */
	ODD_MAX = 3,	       /* bad answers to a watch, then list again */
	DOUBTS = 5,	       /* "forbidden", "no such kind", to be believed */
	TELL_MS = 300000,      /* between two lines about one feed's failing */
	WATCH_SECONDS = 300,   /* and up to as much again */
};

void feed_init(struct feed *feed, struct feeds *all, enum cluster_kind kind)
{
	*feed = (struct feed){.all = all, .kind = kind, .wants_list = true};
	lines_init(&feed->lines);
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

void feed_release(struct feed *feed)
{
	end_transfer(feed);
	lines_release(&feed->lines);
	items_release(&feed->items);
	buf_release(&feed->body);
	buf_release(&feed->version);
	buf_release(&feed->next);
	free(feed->seen);
}

void feed_unreadable(struct feed *feed, const char *reason)
{
	feed->unreadable = reason != NULL;
	cluster_builder_unreadable(feed->all->builder, feed->kind, reason);
	feed->all->changed = true;
}

/* --- asking --------------------------------------------------------------- */

static void add_base(const struct feed *feed, struct buf *out)
{
	const struct cluster_resource *r = cluster_resource(feed->kind);
	const char *version = r->versions;

	for (unsigned i = 0; i < feed->api_version; i++)
		version += strcspn(version, " ") + 1;
	buf_addf(out, "/api%s%s/%.*s/%s", *r->group ? "s/" : "", r->group,
		 (int)strcspn(version, " "), version, r->plural);
}

static void add_escaped(struct buf *out, const char *text)
{
	char *escaped = curl_easy_escape(NULL, text, 0);

	if (!escaped)
		BUG("out of memory");
	buf_adds(out, escaped);
	curl_free(escaped);
}

static void add_path(const struct feed *feed, struct buf *out)
{
	add_base(feed, out);
	if (feed->wants_list) {
		if (!feed->whole)
			buf_addf(out, "?limit=%u", feed->all->times.page);
		if (feed->next.len) {
			buf_adds(out, "&continue=");
			add_escaped(out, feed->next.data);
		}
		return;
	}
	buf_addf(out,
		 "?watch=true&allowWatchBookmarks=true&timeoutSeconds=%u"
		 "&resourceVersion=",
		 WATCH_SECONDS + live_random(WATCH_SECONDS));
	add_escaped(out, feed->version.data);
}

static size_t on_data(char *data, size_t one, size_t len, void *context)
{
	struct feed *feed = context;
	struct split_sink sink = {feed_take_event, feed};
	long status = 0;
	bool good;

	feed->last_byte = live_now();
	curl_easy_getinfo(feed->transfer.easy, CURLINFO_RESPONSE_CODE, &status);
	if (status != 200) {
		if (feed->body.len + len <= BODY_MAX)
			buf_add(&feed->body, data, len);
		return len;
	}
	if (feed->state == FEED_LISTING) {
		sink.take = feed_take_item;
		good = items_feed(&feed->items, data, len, &sink);
	} else {
		good = lines_feed(&feed->lines, data, len, &sink);
	}
	if (good)
		return len;
	if (feed->verdict == FEED_FINE) {
		feed->verdict = FEED_BROKEN;
		err_set(&feed->err, 0, "the answer is no JSON, or too long");
	}
	return 0;
}

/* --- what comes of it ----------------------------------------------------- */

static void wait_for(struct feed *feed, int64_t now, unsigned ms)
{
	feed->state = FEED_WAITING;
	feed->due = now + ms;
}

/* Half of the time for certain. */
static void wait_about(struct feed *feed, int64_t now, unsigned ms)
{
	wait_for(feed, now, ms / 2 + live_random(ms / 2 + 1));
}

/* A server that is away is told once, not once for each kind. */
static void tell_unreached(struct feed *feed, int64_t now)
{
	struct feeds *all = feed->all;
	struct log_field fields[] = {
		{"server", api_server(all->options->api), 0},
		{"reason", feed->err.text, 0},
	};

	if (!all->away_since)
		all->away_since = now;
	if (all->away_told && now - all->away_told < TELL_MS)
		return;
	all->away_told = now;
	log_event(all->options->log, LOG_WARN,
		  "cluster state: the API server does not answer", fields, 2);
}

/* Told when it lasts, and now and then from then on. */
static void tell_failure(struct feed *feed, int64_t now)
{
	struct log_field fields[] = {
		{"kind", cluster_resource(feed->kind)->kind, 0},
		{"group", cluster_resource(feed->kind)->group, 0},
		{"reason", feed->err.text, 0},
		{"retry_ms", NULL, feed->due - now},
	};

	if (feed->unreached) {
		/* One connection that breaks is nobody's business. */
		if (feed->failures > 1 || !feed->listed)
			tell_unreached(feed, now);
		return;
	}
	if (feed->refusals < HICCUPS ||
	    (feed->out_since && now - feed->out_since < TELL_MS))
		return;
	feed->out_since = now;
	log_event(feed->all->options->log, LOG_WARN,
		  "cluster state: cannot read a kind", fields, 4);
}

void feed_well(struct feed *feed)
{
	struct log_field fields[] = {
		{"kind", cluster_resource(feed->kind)->kind, 0},
		{"group", cluster_resource(feed->kind)->group, 0},
	};

	if (feed->out_since)
		log_event(feed->all->options->log, LOG_INFO,
			  "cluster state: a kind can be read again", fields, 2);
	feed->out_since = 0;
	feed->failures = feed->refusals = feed->odd = feed->doubts = 0;
	if (feed->unreadable)
		feed_unreadable(feed, NULL);
}

/* A kind that was never read says why in the snapshots. */
static void explain(struct feed *feed)
{
	if (!feed->listed && !feed->absent)
		feed_unreadable(feed, feed->err.text);
}

static void fail(struct feed *feed, int64_t now, unsigned retry_after)
{
	const struct live_times *times = &feed->all->times;
	unsigned wait;

	feed->all->failures++;
	feed->failures++;
	feed->refusals = feed->unreached ? 0 : feed->refusals + 1;
	wait = live_backoff(feed->failures, times->retry, times->retry_max,
			    live_random(UINT32_MAX));
	if (retry_after > RETRY_AFTER_MAX)
		retry_after = RETRY_AFTER_MAX;
	/* Asked for so long; not all of us at the same moment after it. */
	if (retry_after * 1000 > wait)
		wait = retry_after * 1000 + live_random(1000);
	wait_for(feed, now, wait);
	tell_failure(feed, now);
	explain(feed);
}

static void list_again(struct feed *feed)
{
	feed->wants_list = true;
	buf_reset(&feed->next);
	feed->nseen = 0;
}

/* The state has all that the list had, and nothing else. */
static void finish_list(struct feed *feed, int64_t now)
{
	struct feeds *all = feed->all;

	if (cluster_builder_keep(all->builder, feed->kind, feed->seen,
				 feed->nseen))
		all->changed = true;
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
	feed_well(feed);
	wait_for(feed, now, 0);
}

static void page_done(struct feed *feed, int64_t now)
{
	if (feed_take_head(feed, &feed->err)) {
		list_again(feed);
		fail(feed, now, 0);
	} else if (feed->next.len) {
		wait_for(feed, now, 0);
	} else {
		finish_list(feed, now);
	}
}

/* Asked again soon, then less and less often. */
static void wait_doubting(struct feed *feed, int64_t now)
{
	const struct live_times *times = &feed->all->times;

	wait_for(feed, now,
		 live_backoff(feed->doubts, times->retry, times->absent,
			      live_random(UINT32_MAX)));
}

/*
 * An API server that has just started forbids what it will allow in a moment
 * (its authorizer has read no roles yet), and may not know a kind of a CRD.
 * Where a kind was read before, it has to say so for some seconds; true: what
 * there is is taken for good as long.
 */
static bool is_doubtful(struct feed *feed, int64_t now)
{
	feed->doubts++;
	feed->answered = true;
	wait_doubting(feed, now);
	return feed->listed && feed->doubts < DOUBTS;
}

/* There is no such kind (any more), in any version that we know. */
static void kind_absent(struct feed *feed, int64_t now)
{
	const struct cluster_resource *r = cluster_resource(feed->kind);

	feed->api_version = 0;
	list_again(feed);
	if (is_doubtful(feed, now)) {
		feed->failures++;
		return;
	}
	if (!feed->listed) {
		wait_about(feed, now, feed->all->times.absent);
		feed->doubts = 0;
	}
	feed->failures = 0;
	if (r->optional) {
		if (cluster_builder_keep(feed->all->builder, feed->kind, NULL,
					 0))
			feed->all->changed = true;
		feed->absent = true;
		feed->listed = false;
		if (feed->unreadable)
			feed_unreadable(feed, NULL);
	} else {
		feed->refusals = HICCUPS;
		feed_unreadable(feed, feed->err.text);
	}
	if (!r->optional)
		tell_failure(feed, now);
}

static void not_found(struct feed *feed, int64_t now)
{
	const char *rest = cluster_resource(feed->kind)->versions;

	for (unsigned i = 0; rest && i <= feed->api_version; i++) {
		rest = strchr(rest, ' ');
		rest += rest != NULL;
	}
	list_again(feed);
	if (feed->state == FEED_WATCHING) {
		feed->api_version = 0;
		wait_for(feed, now, 0);
	} else if (rest) {
		feed->api_version++;
		wait_for(feed, now, 0);
	} else {
		kind_absent(feed, now);
	}
}

/* What is there stays for the day when we are allowed again, but rules must
 * not take it for the truth. */
static void forbidden(struct feed *feed, int64_t now)
{
	feed->all->failures++;
	feed->failures++;
	if (feed->state == FEED_LISTING)
		list_again(feed);
	if (is_doubtful(feed, now))
		return;
	if (feed->doubts >= DOUBTS) {
		feed->refusals = HICCUPS;
		tell_failure(feed, now);
	}
	feed_unreadable(feed, feed->err.text);
}

/* --- the end of a transfer ------------------------------------------------ */

static void refused(struct feed *feed, long status, int64_t now)
{
	bool watching = feed->state == FEED_WATCHING;
	curl_off_t retry = 0;
	struct buf text;

	buf_init(&text);
	api_status_message(feed->body.data, feed->body.len, &text);
	err_set(&feed->err, 0, "HTTP %ld%s%s", status, text.len ? ": " : "",
		text.data);
	buf_release(&text);
	curl_easy_getinfo(feed->transfer.easy, CURLINFO_RETRY_AFTER, &retry);
	if (status == 401)
		api_unauthorized(feed->all->options->api);
	if (status == 404) {
		not_found(feed, now);
		return;
	}
	if (status == 403) {
		forbidden(feed, now);
		return;
	}
	/* Pages that change faster than they are read: all in one. */
	feed->whole |= status == 410 && feed->next.len;
	if (status == 410 ||
	    (watching && status != 429 && ++feed->odd >= ODD_MAX))
		list_again(feed);
	/* The first 410 is how things go. */
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
		if (++feed->odd >= ODD_MAX)
			list_again(feed);
		fail(feed, now, 0);
	} else if (now - feed->started < SHORT_MS) {
		err_set(&feed->err, 0, "the watch ends at once");
		fail(feed, now, 0);
	} else {
		/* Up to its end we have been told everything. */
		feed->good = now;
		wait_for(feed, now, live_random(100));
	}
}

/* A connection that breaks in a watch is the end of that watch, no more. */
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
		wait_for(feed, now, live_random(feed->all->times.retry));
	} else {
		fail(feed, now, 0);
	}
}

void feed_done(struct feed *feed, CURLcode code, int64_t now)
{
	long status = 0;

	curl_easy_getinfo(feed->transfer.easy, CURLINFO_RESPONSE_CODE, &status);
	/* The one that finds the server back waits no longer than those whom
	 * feed_hurry() calls. */
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
	lines_release(&feed->lines);
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

void feed_start(struct feed *feed, int64_t now)
{
	struct feeds *all = feed->all;
	struct buf path;
	int rc;

	if (feed->state != FEED_WAITING || now < feed->due)
		return;
	prepare(feed, now);
	buf_init(&path);
	add_path(feed, &path);
	rc = api_transfer_begin(all->options->api, &feed->transfer, path.data,
				all->stop, &feed->err);
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

/* A watch was taken, and what it had to catch up with has come: when it
 * began, the state was whole. Bookmarks say the same, but an API server
 * sends none about a kind that nothing happened to since it started. */
static void confirm(struct feed *feed, int64_t now)
{
	if (feed->state == FEED_WATCHING && feed->good < feed->started &&
	    now - feed->started >= QUIET_MS &&
	    now - feed->last_byte >= QUIET_MS) {
		feed->good = feed->started;
		feed_well(feed);
	}
}

/* Silence may be nothing but that. Whoever is there takes the next watch. */
static void ask_anew(struct feed *feed, int64_t now)
{
	end_transfer(feed);
	wait_for(feed, now, live_random(feed->all->times.retry));
}

void feed_look(struct feed *feed, int64_t now)
{
	int64_t limit = feed->all->times.stall;
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
	err_set(&feed->err, 0, "no end after %lld s, silence for %lld s",
		(long long)(now - feed->started) / 1000,
		(long long)(now - feed->last_byte) / 1000);
	feed->unreached = true;
	end_transfer(feed);
	fail(feed, now, 0);
}

void feed_hurry(struct feed *feed, int64_t now)
{
	int64_t soon = now + live_random(feed->all->times.retry);

	if (!feed->unreached)
		return;
	/* Who starts may say 503 and 429 first: not to be waited for long. */
	if (feed->failures > 1)
		feed->failures = 1;
	if (feed->state == FEED_WAITING && feed->due > soon)
		feed->due = soon;
}

void feeds_tell_answer(struct feeds *all, int64_t now)
{
	if (all->away_told)
		log_event(all->options->log, LOG_INFO,
			  "cluster state: the API server answers again",
			  (struct log_field[]){
				  {"server", api_server(all->options->api), 0},
				  {"seconds", NULL,
				   (now - all->away_since) / 1000},
			  },
			  2);
	if (all->away_since)
		all->back_since = now;
	all->away_since = all->away_told = 0;
}
