/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One review while it is processed: the request, what applies to it, and the
 * verdict. It belongs to the worker's thread.
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
	unsigned references; /* under admission's lock */
};

struct admission {
	struct admission_options options;
	pthread_mutex_t lock;
	struct policy_box *box;
	const struct cluster *cluster; /* or NULL */
	struct reserve *reserve;       /* or NULL: none are made */
	struct admission_asker asker;
};

struct admission_worker {
	struct admission *admission;
	struct arena arena; /* of the review: trees, words */
	struct judge now;   /* the object */
	struct judge other; /* the old object, or the patched one */
	struct buf out;
};

/* Objects that the API server was asked for in a review. */
struct absence_proof {
	struct cluster_absence asked[CLUSTER_ABSENCES];
	size_t n;
	uint32_t answered; /* a bit for each */
	int64_t deadline;  /* monotonic ms, 0: nothing was asked yet */
	bool labels_unknown;
};

struct review_context {
	struct admission_worker *worker;
	const struct admission_options *options;
	struct review review;
	struct load_cost budget; /* left for documents in its objects */
	enum tri secrets;	 /* may be in its bytes */
	const struct policy *policy;
	const char *hash;
	const struct cluster *cluster; /* or NULL */
	const struct node *namespace_labels;
	enum mode mode; /* where no finding has one */
	int64_t now;	/* seconds since the epoch */
	enum admission_path path;
	struct request_context request;
	struct absence_proof proof;
	struct verdict verdict;
	struct timespec began;
	/* Held, and dropped at the end or when the review is left. */
	struct policy_box *box;
	struct reserve *reserve; /* locked, or NULL */
	struct escape_guard guard;
};

/* -- in_force.c -- */

/* Returns the policy in force, or NULL; cluster gets a reference too. */
struct policy_box *box_take(struct admission *admission,
			    const struct cluster **cluster);
void box_drop(struct admission *admission, struct policy_box *box);
/* Takes the state in force; true: it is another one. */
bool review_renew_state(struct review_context *ctx);
const struct admission_asker *review_asker(const struct review_context *ctx);

/* -- absence.c: what the state lacks -- */

/* True if the state in force has the namespace now. */
bool absence_ask_namespace(struct review_context *ctx);
/* A denial that rests on an absence is judged again: with a newer state, or
 * without what could not be proven. */
bool absence_judge_again(struct review_context *ctx);
/* Drops what could not be proven. */
void absence_drop(struct review_context *ctx);

/* -- record_review.c: figures and log -- */

/* Everything that is admitted unjudged is counted. */
void record_unjudged(const struct review_context *ctx,
		     enum metrics_counter reason);
void record_findings(struct review_context *ctx);
void record_not_run(struct review_context *ctx);
/* One rule that is not among those of the run. */
void record_rule_not_run(const struct review_context *ctx, const char *rule);
/* The review as a whole. */
void record_review(struct review_context *ctx);

#endif
