/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission: reads the bytes of an AdmissionReview and writes the bytes of the
 * response. The code does not use sockets, so that the server, the self-test,
 * the fuzzer and unit tests can all call it.
 *
 * All threads share one struct admission. It holds the policy and the cluster
 * state, which may be replaced while reviews are in flight. A review takes a
 * reference to each at its start and drops both at its end.
 *
 * One struct admission_worker belongs to one thread and keeps its memory from
 * review to review.
 */
#ifndef WEBHOOK_ADMISSION_H
#define WEBHOOK_ADMISSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/policy.h"
#include "webhook/observe/log.h"
#include "webhook/observe/metrics.h"

struct cluster;
struct cluster_absence;
struct admission;
struct admission_worker;

enum admission_path { ADMISSION_MUTATE, ADMISSION_VALIDATE };

struct admission_options {
	const struct rule_set *rules;
	struct metrics *metrics; /* must outlive admission */
	struct log *log;	 /* must outlive admission */
	/* count requests admitted a moment ago (reservation.c) */
	bool reservations;
	int64_t now; /* seconds since the epoch (0: read the clock) */
	/* Maximum age of a cluster state in seconds if the policy does not set
	 * maxAge (0: unlimited). */
	int64_t state_max_age;
};

struct admission *admission_new(const struct admission_options *options);
void admission_free(struct admission *admission);
/* Takes ownership of the policy; the previous policy is freed when the last
 * review that uses it ends. Without a policy, reviews are answered with 503. */
void admission_set_policy(struct admission *admission, struct policy *policy);
/* Takes over one reference. NULL means that the state is unknown: rules that
 * need it are skipped and counted. */
void admission_set_cluster(struct admission *admission,
			   const struct cluster *cluster);
/*
 * A function that asks the API server for n <= CLUSTER_ABSENCES objects that
 * the state lacks, for at most ms milliseconds. It returns a bit for each
 * object that was answered: the current state then has the object, or the
 * object does not exist. If `ask` is NULL, the API server is not asked.
 */
struct admission_asker {
	uint32_t (*ask)(void *context, const struct cluster_absence *items,
			size_t n, unsigned ms);
	void *context;
};
/* Must be called before the first review. */
void admission_set_asker(struct admission *admission,
			 const struct admission_asker *asker);
/* Returns the maximum age of the cluster state in seconds, or 0 if it is
 * unlimited. */
int64_t admission_max_age(struct admission *admission);
/* Returns the reason why the state is not used, a constant string; NULL if it
 * is used. */
const char *admission_state_unused(struct admission *admission, int64_t now);
bool admission_has_policy(const struct admission *admission);

struct admission_worker *admission_worker_new(struct admission *admission);
void admission_worker_free(struct admission_worker *worker);

struct admission_reply {
	unsigned status; /* HTTP status */
	/* seconds for the header Retry-After (0: no such header) */
	unsigned retry_after;
	const char *content_type; /* "application/json" or "text/plain" */
	/* memory of the worker, valid until its next review */
	const char *body;
	size_t len;
};

/*
 * Checks one review. Always fills reply. The status is 200 with an
 * AdmissionReview, 400 with a reason if the body is not a review (not JSON, or
 * without a uid), or 503 if no policy is loaded.
 */
void admission_review(struct admission_worker *worker, enum admission_path path,
		      const char *body, size_t len,
		      struct admission_reply *reply);

/* The first bytes of a review that is not read to its end. */
struct review_start {
	const char *text;
	size_t len;
	const char *problem; /* reason */
};

/*
 * Like admission_review(), for the first bytes of a review that exceeds
 * --max-body or takes too much processor time or memory. In mode enforce the
 * object is denied, with the problem as the reason: users can make a call fail,
 * and a failed call may admit the object. Returns false, without a reply, if no
 * policy is loaded or those bytes do not contain the fields that describe the
 * request.
 */
bool admission_review_start(struct admission_worker *worker,
			    enum admission_path path,
			    const struct review_start *start,
			    struct admission_reply *reply);

#endif
