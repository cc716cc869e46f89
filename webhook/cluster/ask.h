/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests for single objects. The thread of the live state sends them to the
 * API server on its connections. An object that is found is added to the state
 * like an event of a watch.
 */
#ifndef WEBHOOK_ASK_H
#define WEBHOOK_ASK_H

#include "reflector.h"

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
