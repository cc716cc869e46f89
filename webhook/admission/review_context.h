/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private parts of admission: the contents of struct admission and of its
 * workers, the state of one review (the request, its context, the verdict), and
 * the functions that the files of this folder share. The state of a review
 * belongs to the worker's thread.
 */
#ifndef WEBHOOK_REVIEW_CONTEXT_H
#define WEBHOOK_REVIEW_CONTEXT_H

#include <pthread.h>
#include <time.h>

#include "admission.h"
#include "base/escape.h"
#include "decide.h"
#include "judge.h"
#include "kube/cluster/cluster.h"
#include "verdict.h"

struct reserve;

struct policy_box {
	struct policy *policy;
	char hash[17];
	unsigned references; /* protected by the lock of struct admission */
};

struct admission {
	struct admission_options options;
	pthread_mutex_t lock;
	struct policy_box *box;
	const struct cluster *cluster; /* may be NULL */
	struct reserve *reserve;       /* NULL: reservations are off */
	struct admission_asker asker;
};

struct admission_worker {
	struct admission *admission;
	struct arena arena; /* trees and texts of the review */
	struct judge now;   /* results for the object */
	/* results for the old object, or for the patched one */
	struct judge other;
	struct buf out;
};

/* Objects about which a review asked the API server. */
struct absence_proof {
	struct cluster_absence asked[CLUSTER_ABSENCES];
	size_t n;
	uint32_t answered; /* a bit for each answered object */
	int64_t deadline;  /* monotonic ms (0: nothing was asked yet) */
	/* the API server was asked for the namespace and did not answer */
	bool labels_unknown;
};

struct review_context {
	struct admission_worker *worker;
	const struct admission_options *options;
	struct review review;
	/* Remaining budget for documents inside the review's objects. */
	struct load_cost budget;
	enum tri secrets; /* whether the review's bytes may contain secrets */
	const struct policy *policy;
	const char *hash;
	const struct cluster *cluster; /* may be NULL */
	const struct node *namespace_labels;
	enum mode mode; /* mode for findings whose rule does not set one */
	int64_t now;	/* seconds since the epoch */
	enum admission_path path;
	struct request_context request;
	struct absence_proof proof;
	struct verdict verdict;
	struct timespec began;
	/* Reference to the policy; held until the review ends or is
	 * interrupted. */
	struct policy_box *box;
	/* locked while the review is processed, or NULL */
	struct reserve *reserve;
	struct escape_guard guard;
};

/* -- in_force.c -- */

/* Returns a reference to the effective policy, and sets *cluster to a reference
 * to the state; both are NULL if no policy is loaded. */
struct policy_box *box_take(struct admission *admission,
			    const struct cluster **cluster);
void box_drop(struct admission *admission, struct policy_box *box);
/* Replaces the review's state by the current one; returns true if it is a
 * different state. */
bool review_renew_state(struct review_context *ctx);
const struct admission_asker *review_asker(const struct review_context *ctx);

/* -- absence.c: objects missing from the state -- */

/* Asks the API server for the namespace. Returns true if a newer state was
 * published meanwhile, which may have it. */
bool absence_ask_namespace(struct review_context *ctx);
/* Asks the API server about the missing objects on which a denial depends.
 * Returns true if the object must be checked again: the state is newer, or the
 * API server did not answer about some of them. */
bool absence_judge_again(struct review_context *ctx);
/* Drops findings that would deny the object because of an object missing from
 * the state, if the API server did not confirm that it is missing. Makes the
 * request lenient if the labels of the namespace are unknown. Records rules
 * whose denials are dropped by this as skipped. */
void absence_drop(struct review_context *ctx);

/* -- review_record.c: metrics and log -- */

/* Counts an object that is admitted without a check. */
void record_unjudged(const struct review_context *ctx,
		     enum metrics_counter reason);
void record_findings(struct review_context *ctx);
void record_not_run(struct review_context *ctx);
/* Counts a rule as not run although it ran: its denial was dropped, because it
 * depends on information that is missing. */
void record_rule_not_run(const struct review_context *ctx, const char *rule);
/* Records the metrics and the log line of the review. */
void record_review(struct review_context *ctx);

#endif
