/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the cluster state current: one thread with one libcurl multi handle and
 * one feed for each kind. Only this thread uses the builder; it publishes
 * snapshots, which never change.
 *
 * The time of a snapshot is the earliest of the times at which its kinds were
 * last complete. It is published as wall-clock time, but kept as monotonic
 * time, so that a step of the clock does not change the age; after such a step
 * the state is published again.
 */
#include "live.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/escape.h"
#include "reflector.h"
#include "webhook/api/api.h"

/*
 * The time is monotonic, so that a step of the clock does not change a wait,
 * and it counts while the machine is suspended, so that the state is old
 * afterwards.
 */
int64_t live_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Random waits keep replicas from sending requests at the same moment. */
uint32_t live_random(uint32_t n)
{
	uint32_t bits = 0;

	if (getrandom(&bits, sizeof(bits), GRND_NONBLOCK) != sizeof(bits))
		bits = (uint32_t)live_now();
	return n ? bits % n : 0;
}

unsigned live_backoff(unsigned failures, unsigned first, unsigned most,
		      uint32_t chance)
{
	uint64_t wait = first;

	while (failures-- > 1 && wait < most)
		wait *= 2;
	if (wait > most)
		wait = most;
	return (unsigned)(wait / 2 + chance % (wait / 2 + 1));
}

enum {
	TICK_MS = 1000,
	/* Interval for publishing a state without changes that is known to be
	 * complete. */
	RENEW_MS = 15000,
	/* The policy's maxAge is divided into this many steps. At least once in
	 * a step, the feeds are checked, and a state that they have confirmed
	 * since is published. */
	STEPS = 6,
	CLOCK_STEP_MS = 2000,
	/* A kind whose last complete read is this much older than that of the
	 * most recent kind is marked unreadable. */
	GIVE_UP_MS = 300000,
	STACK_BYTES = 512 << 10,
	/* Number of connections for questions, in addition to the watches. */
	ASKING = 4,
};

const struct live_times live_times_default = {
	.first = 30000,
	.publish = 200,
	.stall = 90000,
	.retry = 500,
	.retry_max = 30000,
	.absent = 180000,
	.page = 500,
};

struct live {
	struct live_options options;
	struct feeds feeds;
	struct feed items[CLUSTER_KINDS];
	struct questions *asks;
	pthread_t thread;
	atomic_bool stop, first;
	int64_t began, published_at;
	/* time of the last snapshot in monotonic ms, or 0 if there is none */
	int64_t good;
	/* wall clock minus monotonic clock in ms at that snapshot */
	int64_t clock;
	unsigned setbacks; /* failures for lack of memory since that snapshot */
	_Atomic uint64_t relists, events, published, failures;
	/* copy of `good` for other threads (0: no state) */
	_Atomic int64_t good_now;
};

/* --- ages ----------------------------------------------------------------- */

static int64_t wall_minus_monotonic(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 - live_now();
}

/* Returns the earliest of the times at which the readable kinds were last
 * complete, or 0 if no kind was read. */
static int64_t good_since(const struct live *live)
{
	int64_t oldest = 0;

	for (int i = 0; i < CLUSTER_KINDS; i++) {
		const struct feed *feed = &live->items[i];

		if (feed->listed && !feed->unreadable &&
		    (!oldest || feed->good < oldest))
			oldest = feed->good;
	}
	return oldest;
}

static int64_t age_of(int64_t good)
{
	int64_t ms = live_now() - good;

	return good ? (ms > 0 ? ms / 1000 : 0) : -1;
}

/* Marks kinds as unreadable that fail much longer than others. Does so only if
 * the API server has answered for GIVE_UP_MS: after an outage some kinds
 * recover sooner than others. */
static void give_up(struct live *live, int64_t now)
{
	int64_t youngest = 0;

	if (now - live->feeds.back_since <= GIVE_UP_MS)
		return;
	for (int i = 0; i < CLUSTER_KINDS; i++)
		if (live->items[i].listed && live->items[i].good > youngest)
			youngest = live->items[i].good;
	for (int i = 0; i < CLUSTER_KINDS; i++) {
		struct feed *feed = &live->items[i];

		if (feed->listed && !feed->unreadable && feed->failures &&
		    youngest - feed->good > GIVE_UP_MS)
			reflector_unreadable(feed, feed->err.text);
	}
}

/* --- publishing ----------------------------------------------------------- */

static bool all_answered(const struct live *live)
{
	for (int i = 0; i < CLUSTER_KINDS; i++)
		if (!live->items[i].answered)
			return false;
	return true;
}

static void report_first(const struct live *live, const struct cluster *cluster,
			 int64_t now)
{
	size_t objects = 0, missing = 0;

	for (int i = 0; i < CLUSTER_KINDS; i++) {
		objects += cluster_count(cluster, i);
		missing += cluster_unreadable(cluster, i) != NULL;
	}
	log_event(live->options.log, missing ? LOG_WARN : LOG_INFO,
		  atomic_load(&live->published) > 1
			  ? "cluster state: read again"
			  : "cluster state: read",
		  (struct log_field[]){
			  {"server", api_server(live->options.api), 0},
			  {"objects", NULL, (int64_t)objects},
			  {"kinds_not_read", NULL, (int64_t)missing},
			  {"milliseconds", NULL, now - live->began},
		  },
		  4);
}

static void count_objects(const struct live *live,
			  const struct cluster *cluster)
{
	struct metrics_objects items[CLUSTER_KINDS];
	size_t n = 0;

	for (int i = 0; i < CLUSTER_KINDS; i++) {
		const struct cluster_resource *r = cluster_resource(i);

		if (!cluster_unreadable(cluster, i))
			items[n++] = (struct metrics_objects){
				r->kind, r->group, cluster_count(cluster, i)};
	}
	metrics_set_objects(live->options.metrics, items, n);
}

static void publish(struct live *live, int64_t now, int64_t good)
{
	const struct cluster *cluster;
	bool first = !live->published_at;

	live->clock = wall_minus_monotonic();
	cluster = cluster_builder_finish(live->feeds.builder,
					 (good + live->clock) / 1000);
	live->feeds.changed = false;
	live->published_at = now;
	live->good = good;
	live->setbacks = 0;
	atomic_fetch_add(&live->published, 1);
	if (first)
		report_first(live, cluster, now);
	count_objects(live, cluster);
	live->options.publish(live->options.context, cluster);
	atomic_store(&live->first, true);
}

/* Returns ms, but at most one step of the maximum age that the policy
 * requests. */
static int64_t within_age(const struct live *live, int64_t ms)
{
	int64_t step = atomic_load(&live->feeds.max_age) / STEPS;

	return step && step < ms ? step : ms;
}

static bool is_due(const struct live *live, int64_t now, int64_t good)
{
	int64_t step = wall_minus_monotonic() - live->clock;

	if (now - live->published_at < live->options.times.publish)
		return false;
	return live->feeds.changed || step > CLOCK_STEP_MS ||
	       step < -CLOCK_STEP_MS ||
	       (good != live->good &&
		now - live->published_at >= within_age(live, RENEW_MS));
}

static void publish_if_due(struct live *live, int64_t now)
{
	int64_t good = good_since(live);
	bool over = now - live->began >= live->options.times.first;

	if (!good) {
		/* Time is over: callers need not wait longer, although some
		 * kinds are not read. */
		if (over)
			atomic_store(&live->first, true);
		/* Publishes that kinds can no longer be read. */
		if (live->published_at && is_due(live, now, live->good))
			publish(live, now, live->good);
		return;
	}
	if (live->published_at ? is_due(live, now, good)
			       : over || all_answered(live))
		publish(live, now, good);
	atomic_store(&live->good_now, good);
}

/* Publishes the answers, then lets the reviews that requested them continue. */
static void answer_asks(struct live *live, int64_t now)
{
	if (!asks_are_answered(live->asks))
		return;
	if (live->feeds.changed && live->published_at)
		publish(live, now, live->good);
	/* Objects of the answers must be in the published state first. */
	if (live->published_at)
		asks_finish(live->asks);
	else
		asks_drop(live->asks);
}

/* --- the thread ----------------------------------------------------------- */

static void take_ends(struct live *live, int64_t now)
{
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(live->feeds.multi, &left))) {
		CURLcode code = message->data.result;
		struct feed *feed = NULL;
		struct ask_item *item;

		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE,
				  (char **)&feed);
		item = asks_item_of(live->asks, feed);
		if (item)
			asks_done(live->asks, item, code);
		else
			reflector_done(feed, code, now);
	}
}

static void check_feeds(struct live *live, int64_t now)
{
	for (int i = 0; i < CLUSTER_KINDS; i++)
		reflector_look(&live->items[i], now);
	if (!live->feeds.answered)
		return;
	live->feeds.answered = false;
	feeds_report_answer(&live->feeds, now);
	for (int i = 0; i < CLUSTER_KINDS; i++)
		reflector_relist_soon(&live->items[i], now);
}

static void count(struct live *live)
{
	int64_t good = atomic_load(&live->good_now);

	atomic_store(&live->relists, live->feeds.relists);
	atomic_store(&live->events, live->feeds.events);
	atomic_store(&live->failures, live->feeds.failures);
	/*
	 * Reports an age before the first state exists, so that metrics show
	 * the wait.
	 */
	metrics_set(live->options.metrics, METRICS_CLUSTER_STATE_AGE,
		    (double)age_of(good ? good : live->began));
}

static int64_t wait_ms(const struct live *live, int64_t now)
{
	int64_t wait = within_age(live, TICK_MS);

	for (int i = 0; i < CLUSTER_KINDS; i++) {
		const struct feed *feed = &live->items[i];

		if (feed->state == FEED_WAITING && feed->due - now < wait)
			wait = feed->due - now;
	}
	if (live->feeds.changed && live->options.times.publish < wait)
		wait = live->options.times.publish;
	return wait > 0 ? wait : 0;
}

/* Creates the builder. `torn` stays set, so that the builder is not used, if
 * memory runs out here. */
static void make_builder(struct live *live)
{
	struct feeds *feeds = &live->feeds;

	feeds->torn = true;
	feeds->builder = cluster_builder_new();
	cluster_builder_origin(feeds->builder, api_server(live->options.api),
			       NULL);
	for (int i = 0; i < CLUSTER_KINDS; i++)
		reflector_unreadable(&live->items[i], "it is not read yet");
	feeds->torn = false;
}

static void watch_all_once(void *context)
{
	struct live *live = context;
	int64_t now = live_now();
	int running;

	if (!live->feeds.builder)
		make_builder(live);
	for (int i = 0; i < CLUSTER_KINDS; i++)
		reflector_start(&live->items[i], now);
	asks_start(live->asks);
	curl_multi_perform(live->feeds.multi, &running);
	if (live->feeds.torn)
		return;
	now = live_now();
	take_ends(live, now);
	check_feeds(live, now);
	give_up(live, now);
	publish_if_due(live, now);
	answer_asks(live, now);
	count(live);
}

/*
 * Starts again after memory ran out. The published state stays and gets older.
 * A builder with an incomplete change cannot be used; a new builder may need as
 * much memory, so it is created only later.
 */
static void start_over(struct live *live)
{
	const struct live_times *times = &live->options.times;
	int64_t now = live_now();
	unsigned wait = live_backoff(++live->setbacks, times->retry,
				     times->retry_max, live_random(UINT32_MAX));
	bool torn = live->feeds.torn;

	asks_drop(live->asks);
	for (int i = 0; i < CLUSTER_KINDS; i++)
		reflector_start_over(&live->items[i], now + wait, torn);
	if (torn) {
		cluster_builder_free(live->feeds.builder);
		live->feeds.builder = NULL;
		live->feeds.torn = false;
		live->published_at = 0;
		live->began = now;
	}
	feeds_count_memory(&live->feeds);
	log_event(live->options.log, LOG_WARN, "cluster state: out of memory",
		  &(struct log_field){"retry_ms", NULL, wait}, 1);
}

static void *run(void *context)
{
	struct live *live = context;

	while (!atomic_load(&live->stop)) {
		if (escape_run(watch_all_once, live, NULL) != ESCAPE_NONE ||
		    live->feeds.torn)
			start_over(live);
		curl_multi_poll(live->feeds.multi, NULL, 0,
				(int)wait_ms(live, live_now()), NULL);
	}
	return NULL;
}

/* --- start and stop ------------------------------------------------------- */

static void prepare(struct live *live)
{
	struct feeds *feeds = &live->feeds;

	feeds->options = &live->options;
	feeds->multi = curl_multi_init();
	if (!feeds->multi)
		OUT_OF_MEMORY();
	curl_multi_setopt(feeds->multi, CURLMOPT_MAXCONNECTS,
			  (long)CLUSTER_KINDS + ASKING);
	for (int i = 0; i < CLUSTER_KINDS; i++)
		reflector_init(&live->items[i], feeds, (enum cluster_kind)i);
	live->asks = asks_new(feeds, live->items);
	live->began = live_now();
}

static void release(struct live *live)
{
	for (int i = 0; i < CLUSTER_KINDS; i++)
		reflector_release(&live->items[i]);
	asks_free(live->asks);
	curl_multi_cleanup(live->feeds.multi);
	cluster_builder_free(live->feeds.builder);
	arena_release(&live->feeds.arena);
	free(live);
}

struct live *live_start(const struct live_options *options, struct err *err)
{
	struct live *live = calloc(1, sizeof(*live));
	pthread_attr_t attr;
	int rc;

	if (!live)
		OUT_OF_MEMORY();
	live->options = *options;
	prepare(live);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	rc = pthread_create(&live->thread, &attr, run, live);
	pthread_attr_destroy(&attr);
	if (!rc)
		return live;
	err_set(err, rc, "no thread for the cluster state: %s", strerror(rc));
	release(live);
	return NULL;
}

void live_stop(struct live *live)
{
	if (!live)
		return;
	atomic_store(&live->stop, true);
	curl_multi_wakeup(live->feeds.multi);
	pthread_join(live->thread, NULL);
	release(live);
}

uint32_t live_ask(struct live *live, const struct cluster_absence *items,
		  size_t n, unsigned ms)
{
	return asks_wait(live->asks, items, n, ms);
}

void live_set_max_age(struct live *live, int64_t seconds)
{
	atomic_store(&live->feeds.max_age, seconds * 1000);
}

bool live_first_state(const struct live *live)
{
	return atomic_load(&live->first);
}

void live_figures(const struct live *live, struct live_figures *out)
{
	out->relists = atomic_load(&live->relists);
	out->events = atomic_load(&live->events);
	out->published = atomic_load(&live->published);
	out->failures = atomic_load(&live->failures);
	out->age = age_of(atomic_load(&live->good_now));
}
