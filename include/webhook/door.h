/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door: an AdmissionReview's bytes in, the answer's bytes out. It knows
 * nothing of sockets, so that the server, the self-test, the fuzzer and the
 * parity test stand before the same one.
 *
 * One struct door is shared by all threads. It holds what may be replaced
 * while reviews go on: the policy (and the cluster state). A review takes a
 * reference to each at its beginning and keeps them to its end.
 *
 * One struct door_worker belongs to one thread; its memory is kept from
 * review to review.
 */
#ifndef WEBHOOK_DOOR_H
#define WEBHOOK_DOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/policy.h"
#include "webhook/log.h"
#include "webhook/metrics.h"

struct cluster;
struct door;
struct door_worker;

enum door_path { DOOR_MUTATE, DOOR_VALIDATE };

struct door_options {
	const struct rule_set *rules;
	struct metrics *metrics; /* must outlive the door */
	struct log *log;	 /* must outlive the door */
	bool reservations;	 /* count demand that was just admitted */
	int64_t now;		 /* seconds since the epoch, 0: the clock */
	/* Seconds after which a cluster state is as good as none where the
	 * policy has no maxAge; 0: never. */
	int64_t state_max_age;
};

struct door *door_new(const struct door_options *options);
void door_free(struct door *door);
/* Takes the policy over; the one before is freed when its last review ends.
 * A door without a policy answers 503. */
void door_set_policy(struct door *door, struct policy *policy);
/* One reference is taken over; NULL: there is no state (any more). Rules
 * that need one then do not run, which is counted. */
void door_set_cluster(struct door *door, const struct cluster *cluster);
bool door_has_policy(const struct door *door);
/* hex of the policy in force, "" without one; for logs and metrics. */
void door_policy_hash(struct door *door, char out[17]);

struct door_worker *door_worker_new(struct door *door);
void door_worker_free(struct door_worker *worker);

struct door_reply {
	unsigned status;	  /* HTTP */
	unsigned retry_after;	  /* seconds, 0: no such header */
	const char *content_type; /* "application/json" or "text/plain" */
	const char *body;	  /* the worker's, until its next review */
	size_t len;
};

/*
 * Judge one review. Always fills reply: 200 with an AdmissionReview, 400
 * with a reason where there is no review to answer (no uid, no JSON).
 */
void door_answer(struct door_worker *worker, enum door_path path,
		 const char *body, size_t len, struct door_reply *reply);

/*
 * The same of a review that is longer than may be read, from its beginning:
 * what a user can make so long is denied, since a call that fails may let it
 * in. False, and no reply, where it does not say what it asks.
 */
bool door_answer_long(struct door_worker *worker, enum door_path path,
		      const char *start, size_t len, struct door_reply *reply);

#endif
