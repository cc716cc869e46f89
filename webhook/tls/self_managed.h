/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates that gpugated issues itself, in one Secret that all replicas
 * share. A thread reads the Secret, performs the steps that are due by
 * certs/rotate.h, loads the pair into the key store and writes the CAs into the
 * webhook configurations. Replicas need no leader: the Secret is written with
 * the resourceVersion that was read, so only one replica succeeds, and the
 * others read the Secret again.
 */
#ifndef WEBHOOK_SELF_MANAGED_H
#define WEBHOOK_SELF_MANAGED_H

#include <stdint.h>

#include "base/err.h"
#include "key_store.h"
#include "webhook/observe/log.h"
#include "webhook/observe/metrics.h"

struct api;
struct self_managed;

struct self_managed_options {
	struct api *api; /* these four pointers must outlive the thread */
	struct key_store *keys;
	struct log *log;
	struct metrics *metrics;
	const char *namespace, *secret;
	const char *webhook_config; /* name of both webhook configurations */
	const char *const *names;   /* names of the service; NULL-terminated */
	int64_t ca_life, leaf_life; /* seconds */
	unsigned settle; /* seconds until all API servers use a new bundle */
};

struct self_managed *
self_managed_start(const struct self_managed_options *options, struct err *err);
void self_managed_stop(struct self_managed *managed); /* managed may be NULL */

/* Returns NULL once a pair was loaded and its CA was in the webhook
 * configurations; before that, the reason. May be called by any thread. */
const char *self_managed_not_ready(const struct self_managed *managed);

/* Parses "90d", "36h", "20m", "45s" or "45" into seconds; returns -1 for any
 * other text. */
int64_t self_managed_life(const char *text);

#endif
