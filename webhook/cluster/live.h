/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cluster state, kept live: one thread lists and watches the kinds that
 * rules read and publishes snapshots. Whatever happens to the API server, the
 * last good state stays. Its age is the time since the watches were last
 * confirmed; if it is too old, rules that need it are skipped.
 */
#ifndef WEBHOOK_LIVE_H
#define WEBHOOK_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "webhook/observe/log.h"
#include "webhook/observe/metrics.h"

struct api;
struct cluster;
struct live;

/* Times in milliseconds. */
struct live_times {
	unsigned first;	  /* until the first state, complete or not */
	unsigned publish; /* shortest time between two snapshots */
	unsigned stall;	  /* a watch without data for this long is dead */
	unsigned retry;	  /* after a first failure; doubled, with jitter */
	unsigned retry_max;
	unsigned absent; /* for a kind that is missing or forbidden */
	unsigned page;	 /* objects per page of a list */
};

extern const struct live_times live_times_default;

struct live_options {
	struct api *api; /* these four must outlive the live state */
	struct metrics *metrics;
	struct log *log;
	/* Called by the thread of the live state; takes over one reference. */
	void (*publish)(void *context, const struct cluster *cluster);
	void *context;
	struct live_times times;
};

struct live *live_start(const struct live_options *options, struct err *err);
/* Stops within a second. Snapshots stay valid for their holders. */
void live_stop(struct live *live);

/* May be called by any thread. Asks for objects that the state lacks. Returns a
 * bit for each that was answered within ms milliseconds; existing objects are
 * then published. */
struct cluster_absence;
uint32_t live_ask(struct live *live, const struct cluster_absence *items,
		  size_t n, unsigned ms);

/* May be called by any thread. An older state is not used; 0: any age is
 * allowed. */
void live_set_max_age(struct live *live, int64_t seconds);

/* True if there is a first state, or the time to wait for it has passed. */
bool live_first_state(const struct live *live);

/* Current numbers, for tests and logs. */
struct live_figures {
	uint64_t relists, events, published, failures;
	int64_t age; /* seconds, -1: no state */
};
void live_figures(const struct live *live, struct live_figures *out);

#endif
