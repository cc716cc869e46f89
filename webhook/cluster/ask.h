/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests for single objects, sent to the API server by the thread of the live
 * state on its connections. An object that is found is added to the state like
 * an event of a watch.
 */
#ifndef WEBHOOK_ASK_H
#define WEBHOOK_ASK_H

#include "reflector.h"

struct questions;

/* feeds, one for each kind, must outlive it. */
struct questions *asks_new(struct feeds *feeds, struct feed *kinds);
void asks_free(struct questions *asks);

/* May be called by any thread. Waits for the answers, for at most ms
 * milliseconds. Returns a bit for each item that was answered before
 * asks_finish() ran. */
uint32_t asks_wait(struct questions *asks, const struct cluster_absence *items,
		   size_t n, unsigned ms);

/* --- the thread of the live state ----------------------------------------- */

/* Sends what is waiting. */
void asks_start(struct questions *asks);
struct ask_item;
/* NULL: the transfer belongs to a feed. */
struct ask_item *asks_item_of(const struct questions *asks, void *private);
void asks_done(struct questions *asks, struct ask_item *item, CURLcode code);
/* True if some must be finished, once the state is published. */
bool asks_are_answered(const struct questions *asks);
void asks_finish(struct questions *asks);
/* Drops all sent requests without an answer. */
void asks_drop(struct questions *asks);

#endif
