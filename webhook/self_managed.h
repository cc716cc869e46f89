/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates of our own, kept in one Secret that all replicas share: a
 * thread looks at it, does what certs/rotate.h finds due, loads the pair into
 * the key store and writes the CAs into the webhook configurations.
 *
 * No replica leads: the Secret is written with the resourceVersion that was
 * read, so one of them succeeds and the others read again.
 */
#ifndef WEBHOOK_SELF_MANAGED_H
#define WEBHOOK_SELF_MANAGED_H

#include <stdint.h>

#include "base/err.h"
#include "webhook/key_store.h"
#include "webhook/log.h"
#include "webhook/metrics.h"

struct api;
struct self_managed;

struct self_managed_options {
	struct api *api; /* these four must outlive the thread */
	struct key_store *keys;
	struct log *log;
	struct metrics *metrics;
	const char *namespace, *secret;
	const char *webhook_config; /* of both kinds */
	const char *const *names;   /* of the service; NULL-terminated */
	int64_t ca_life, leaf_life; /* seconds */
	unsigned settle; /* seconds until all API servers know a bundle */
};

struct self_managed *
self_managed_start(const struct self_managed_options *options, struct err *err);
void self_managed_stop(struct self_managed *managed); /* NULL is allowed */

/* NULL: a pair is loaded and the API server has its CA. Any thread. */
const char *self_managed_not_ready(const struct self_managed *managed);

/* "90d", "36h", "20m", "45s", "45"; -1: none of these, or nothing. */
int64_t self_managed_life(const char *text);

#endif
