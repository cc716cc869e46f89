/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the cluster state current: one thread lists and watches the kinds that
 * rules read, and publishes snapshots. If the API server fails, the last good
 * state stays. Its age is the time since the watches were last confirmed; if
 * the state is too old, rules that need it are skipped.
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

/* Times in milliseconds, and the size of a page. */
struct live_times {
	unsigned first;	  /* limit for the first state, complete or not */
	unsigned publish; /* shortest time between two snapshots */
	unsigned stall;	  /* a watch without data for this long is restarted */
	/* wait after a first failure; doubled each time, with jitter */
	unsigned retry;
	unsigned retry_max;
	unsigned absent; /* wait for a kind that is missing or forbidden */
	unsigned page;	 /* objects per page of a list */
};

extern const struct live_times live_times_default;

struct live_options {
	/* api, metrics, log and context must outlive the live state */
	struct api *api;
	struct metrics *metrics;
	struct log *log;
	/* Called by the thread of the live state; takes over one reference to
	 * cluster. */
	void (*publish)(void *context, const struct cluster *cluster);
	void *context;
	struct live_times times;
};

struct live *live_start(const struct live_options *options, struct err *err);
/* Stops the thread within a second. Published snapshots stay valid. */
void live_stop(struct live *live);

/* Asks for objects that the state lacks. Returns a bit for each object that was
 * answered within ms milliseconds; objects that exist are published by then.
 * May be called by any thread. */
struct cluster_absence;
uint32_t live_ask(struct live *live, const struct cluster_absence *items,
		  size_t n, unsigned ms);

/* Sets the maximum age of the state (0: unlimited). May be called by any
 * thread. */
void live_set_max_age(struct live *live, int64_t seconds);

/* Returns true if the first state is published, or the time limit for it has
 * passed. */
bool live_first_state(const struct live *live);

/* Current numbers, for tests and logs. */
struct live_figures {
	uint64_t relists, events, published, failures;
	int64_t age; /* age of the state in seconds (-1: no state) */
};
void live_figures(const struct live *live, struct live_figures *out);

#endif
