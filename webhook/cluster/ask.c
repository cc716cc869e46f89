/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the API server for single objects. A question has items, and each item
 * is one GET. The thread that waits and the thread of the live state share the
 * question; the last user frees it. An answer that arrives too late is still
 * added to the state.
 */
#include "reflector.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/escape.h"

enum {
	ASKS = 16,	   /* maximum number of questions at a time */
	TIMEOUT_MS = 2000, /* limit for an answer that arrives late */
	ANSWER_MAX = 4 << 20,
	/* maximum number of objects of a list; a longer list is incomplete */
	LIST_MAX = 500,
};

struct ask_item {
	struct ask *ask;
	enum cluster_kind kind;
	char *namespace, *name; /* name NULL: all objects of the kind */
	const char *version;	/* version of the kind that is requested */
	bool good; /* the object is in the state, or does not exist */
	struct api_transfer transfer;
	struct buf body;
};

struct ask {
	struct ask_item items[CLUSTER_ABSENCES];
	size_t n;
	size_t left;	  /* number of items without an answer */
	uint32_t answers; /* bits of published items; under the lock */
	/* Under the lock. */
	bool finished;
	bool abandoned; /* the thread that asked has stopped waiting */
	struct ask *next;
};

struct questions {
	struct feeds *feeds;
	struct feed *kinds;
	pthread_mutex_t lock;
	pthread_cond_t finished;
	struct ask *waiting; /* questions to send; under the lock */
	unsigned n;	     /* questions not finished; under the lock */
	struct ask *sent;
	bool answered; /* an item was answered since asks_finish() */
};

struct questions *asks_new(struct feeds *feeds, struct feed *kinds)
{
	struct questions *asks = calloc(1, sizeof(*asks));
	pthread_condattr_t attr;

	if (!asks)
		OUT_OF_MEMORY();
	asks->feeds = feeds;
	asks->kinds = kinds;
	pthread_mutex_init(&asks->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&asks->finished, &attr);
	pthread_condattr_destroy(&attr);
	return asks;
}

static void end_transfer(const struct questions *asks, struct ask_item *item)
{
	if (!item->transfer.easy)
		return;
	curl_multi_remove_handle(asks->feeds->multi, item->transfer.easy);
	api_transfer_end(&item->transfer);
}

static void free_ask(const struct questions *asks, struct ask *ask)
{
	for (size_t i = 0; i < ask->n; i++) {
		end_transfer(asks, &ask->items[i]);
		buf_release(&ask->items[i].body);
		free(ask->items[i].namespace);
		free(ask->items[i].name);
	}
	free(ask);
}

static void free_all(const struct questions *asks, struct ask *ask)
{
	while (ask) {
		struct ask *next = ask->next;

		free_ask(asks, ask);
		ask = next;
	}
}

void asks_free(struct questions *asks)
{
	free_all(asks, asks->waiting);
	free_all(asks, asks->sent);
	pthread_cond_destroy(&asks->finished);
	pthread_mutex_destroy(&asks->lock);
	free(asks);
}

/* --- threads that wait ---------------------------------------------------- */

static char *copy(const char *text)
{
	char *copied = strdup(text);

	if (!copied)
		OUT_OF_MEMORY();
	return copied;
}

static void drop_ask(void *ask)
{
	free_ask(NULL, ask);
}

static struct ask *make_ask(const struct cluster_absence *items, size_t n)
{
	struct ask *ask = calloc(1, sizeof(*ask));
	struct escape_guard guard;

	if (!ask)
		OUT_OF_MEMORY();
	escape_guard(&guard, drop_ask, ask);
	ask->n = ask->left = n;
	for (size_t i = 0; i < n; i++) {
		struct ask_item *item = &ask->items[i];

		item->ask = ask;
		item->kind = items[i].kind;
		item->namespace = copy(items[i].namespace);
		if (items[i].name)
			item->name = copy(items[i].name);
		buf_init(&item->body);
	}
	escape_unguard(&guard);
	return ask;
}

static struct timespec after(unsigned ms)
{
	enum { SECOND = 1000000000 };
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec += ms / 1000;
	at.tv_nsec += (long)(ms % 1000) * (SECOND / 1000);
	if (at.tv_nsec >= SECOND) {
		at.tv_sec++;
		at.tv_nsec -= SECOND;
	}
	return at;
}

/* Adds the question to the waiting ones. Returns false if there are too
 * many. */
static bool enter(struct questions *asks, struct ask *ask)
{
	bool room = asks->n < ASKS;

	if (room) {
		asks->n++;
		ask->next = asks->waiting;
		asks->waiting = ask;
		curl_multi_wakeup(asks->feeds->multi);
	}
	return room;
}

uint32_t asks_wait(struct questions *asks, const struct cluster_absence *items,
		   size_t n, unsigned ms)
{
	struct ask *ask = make_ask(items, n);
	const struct timespec end = after(ms);
	bool entered, late = false;
	uint32_t answers;

	pthread_mutex_lock(&asks->lock);
	entered = enter(asks, ask);
	while (entered && !ask->finished && !late)
		late = pthread_cond_timedwait(&asks->finished, &asks->lock,
					      &end) != 0;
	answers = ask->answers;
	late = ask->abandoned = entered && !ask->finished;
	pthread_mutex_unlock(&asks->lock);
	if (!late)
		free_ask(asks, ask);
	return answers;
}

/* --- the thread of the live state ----------------------------------------- */

static size_t on_data(char *data, size_t one, size_t len, void *context)
{
	struct ask_item *item = context;

	return api_take_body(&item->body, ANSWER_MAX, data, len);
}

static void add_path(const struct ask_item *item, struct buf *out)
{
	const struct cluster_resource *r = cluster_resource(item->kind);

	buf_addf(out, "/api%s%s/%.*s", *r->group ? "s/" : "", r->group,
		 (int)strcspn(item->version, " "), item->version);
	if (*item->namespace) {
		buf_adds(out, "/namespaces/");
		api_add_escaped(out, item->namespace);
	}
	buf_addf(out, "/%s", r->plural);
	if (item->name) {
		buf_addc(out, '/');
		api_add_escaped(out, item->name);
	} else {
		buf_addf(out, "?%s%slimit=%d", r->query ? r->query : "",
			 r->query ? "&" : "", LIST_MAX);
	}
}

static void end_item(struct questions *asks, struct ask_item *item, bool good)
{
	end_transfer(asks, item);
	item->good = good;
	item->ask->left--;
	asks->answered = true;
}

static void send_item(struct questions *asks, struct ask_item *item)
{
	struct escape_guard guard;
	struct buf path;
	struct err err = {0};
	int rc;

	buf_init(&path);
	escape_guard(&guard, buf_drop, &path);
	add_path(item, &path);
	rc = api_transfer_begin(asks->feeds->options->api, &item->transfer,
				path.data, &err);
	escape_unguard(&guard);
	buf_release(&path);
	if (rc) {
		end_item(asks, item, false);
		return;
	}
	curl_easy_setopt(item->transfer.easy, CURLOPT_WRITEFUNCTION, on_data);
	curl_easy_setopt(item->transfer.easy, CURLOPT_WRITEDATA, item);
	curl_easy_setopt(item->transfer.easy, CURLOPT_PRIVATE, item);
	curl_easy_setopt(item->transfer.easy, CURLOPT_TIMEOUT_MS,
			 (long)TIMEOUT_MS);
	curl_multi_add_handle(asks->feeds->multi, item->transfer.easy);
}

static void send_ask(struct questions *asks, struct ask *ask)
{
	size_t n = ask->n;

	for (size_t i = 0; i < n; i++) {
		struct ask_item *item = &ask->items[i];

		item->version = asks->kinds[item->kind].api_version;
		send_item(asks, item);
	}
}

static struct ask *next_waiting(struct questions *asks)
{
	struct ask *ask;

	pthread_mutex_lock(&asks->lock);
	ask = asks->waiting;
	if (ask) {
		asks->waiting = ask->next;
		ask->next = asks->sent;
		asks->sent = ask;
	}
	pthread_mutex_unlock(&asks->lock);
	return ask;
}

void asks_start(struct questions *asks)
{
	struct ask *ask;

	while ((ask = next_waiting(asks)))
		send_ask(asks, ask);
}

void asks_drop(struct questions *asks)
{
	for (struct ask *ask = asks->sent; ask; ask = ask->next) {
		for (size_t i = 0; i < ask->n; i++) {
			end_transfer(asks, &ask->items[i]);
			ask->items[i].good = false;
		}
		ask->left = 0;
	}
	asks_finish(asks);
}

struct ask_item *asks_item_of(const struct questions *asks, void *private)
{
	const struct feed *feed = private;

	return feed >= asks->kinds && feed < asks->kinds + CLUSTER_KINDS
		       ? NULL
		       : private;
}

struct taking {
	struct feed *feed;
	size_t n;
};

static bool take_item(void *context, const char *text, size_t len)
{
	struct taking *taking = context;

	taking->n++;
	return reflector_take_object(taking->feed, text, len);
}

static void drop_items(void *items)
{
	items_release(items);
}

static bool take_list(struct feed *feed, const struct buf *body)
{
	struct taking taking = {feed, 0};
	const struct split_sink sink = {take_item, &taking};
	struct escape_guard guard;
	struct items items;
	bool good;

	items_init(&items);
	escape_guard(&guard, drop_items, &items);
	good = items_feed(&items, body->data, body->len, &sink) && items.done;
	escape_unguard(&guard);
	items_release(&items);
	return good && taking.n < LIST_MAX;
}

/* Adds the object or the list of the answer to the state. Returns false if it
 * cannot be read, or the list is too long. */
static bool take_answer(struct questions *asks, const struct ask_item *item)
{
	struct feed *feed = &asks->kinds[item->kind];

	/* The kind was missing but now has an object: its CRD was just created,
	 * so its other objects must be listed too. */
	if (feed->absent && feed->state == FEED_WAITING)
		feed->due = live_now();
	return item->name ? reflector_take_object(feed, item->body.data,
						  item->body.len)
			  : take_list(feed, &item->body);
}

/* Requests the object in the next version of the kind. Returns false if there
 * is none. */
static bool ask_next_version(struct questions *asks, struct ask_item *item)
{
	const char *blank = strchr(item->version, ' ');

	if (!blank || !asks->kinds[item->kind].absent)
		return false;
	end_transfer(asks, item);
	buf_reset(&item->body);
	item->version = blank + 1;
	send_item(asks, item);
	return true;
}

void asks_done(struct questions *asks, struct ask_item *item, CURLcode code)
{
	bool good = code == CURLE_OK;
	long status = 0;

	curl_easy_getinfo(item->transfer.easy, CURLINFO_RESPONSE_CODE, &status);
	if (good && status == 404 && ask_next_version(asks, item))
		return;
	if (good && status == 200)
		good = take_answer(asks, item);
	else if (status != 404)
		good = false;
	end_item(asks, item, good);
}

bool asks_are_answered(const struct questions *asks)
{
	return asks->answered;
}

static void show_answers(struct ask *ask)
{
	for (size_t i = 0; i < ask->n; i++)
		if (ask->items[i].good)
			ask->answers |= UINT32_C(1) << i;
}

void asks_finish(struct questions *asks)
{
	struct ask **at = &asks->sent;

	asks->answered = false;
	pthread_mutex_lock(&asks->lock);
	while (*at) {
		struct ask *ask = *at;

		show_answers(ask);
		if (ask->left) {
			at = &ask->next;
			continue;
		}
		*at = ask->next;
		asks->n--;
		ask->finished = true;
		if (ask->abandoned)
			free_ask(asks, ask);
	}
	pthread_cond_broadcast(&asks->finished);
	pthread_mutex_unlock(&asks->lock);
}
