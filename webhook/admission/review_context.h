/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One review while it is processed: the request, its context, and the verdict.
 * It belongs to the worker's thread.
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
	struct reserve *reserve;       /* NULL: no reservations are made */
	struct admission_asker asker;
};

struct admission_worker {
	struct admission *admission;
	struct arena arena; /* of the review: trees, texts */
	struct judge now;   /* the object */
	struct judge other; /* the old object, or the patched one */
	struct buf out;
};

/* Objects for which a review asked the API server. */
struct absence_proof {
	struct cluster_absence asked[CLUSTER_ABSENCES];
	size_t n;
	uint32_t answered; /* a bit for each */
	int64_t deadline;  /* monotonic ms; 0: nothing was requested yet */
	bool labels_unknown;
};

struct review_context {
	struct admission_worker *worker;
	const struct admission_options *options;
	struct review review;
	/* The rest of the budget for documents in its objects. */
	struct load_cost budget;
	enum tri secrets; /* may be in its bytes */
	const struct policy *policy;
	const char *hash;
	const struct cluster *cluster; /* or NULL */
	const struct node *namespace_labels;
	enum mode mode; /* the mode for findings without one */
	int64_t now;	/* seconds since the epoch */
	enum admission_path path;
	struct request_context request;
	struct absence_proof proof;
	struct verdict verdict;
	struct timespec began;
	/* Held until the review ends or is interrupted. */
	struct policy_box *box;
	struct reserve *reserve; /* locked, or NULL */
	struct escape_guard guard;
};

/* -- in_force.c -- */

/* Returns the effective policy, or NULL; cluster gets a reference too. */
struct policy_box *box_take(struct admission *admission,
			    const struct cluster **cluster);
void box_drop(struct admission *admission, struct policy_box *box);
/* Takes the current state; true if it is another one. */
bool review_renew_state(struct review_context *ctx);
const struct admission_asker *review_asker(const struct review_context *ctx);

/* -- absence.c: objects missing from the state -- */

/* True if the current state has the namespace now. */
bool absence_ask_namespace(struct review_context *ctx);
/* Asks the API server for the absences on which a denial depends. Returns true
 * if the object must be checked again: the state is newer, or some absences are
 * not proven. */
bool absence_judge_again(struct review_context *ctx);
/* Drops findings that would deny the object because something is missing from
 * the state, if that is not proven. If the labels of the namespace are unknown,
 * makes the request lenient. Records the rules as not run whose denials are
 * prevented by either. */
void absence_drop(struct review_context *ctx);

/* -- review_record.c: metrics and log -- */

/* Counts every object that is admitted without a check. */
void record_unjudged(const struct review_context *ctx,
		     enum metrics_counter reason);
void record_findings(struct review_context *ctx);
void record_not_run(struct review_context *ctx);
/* Records a rule that did not run and is not in the run's list. */
void record_rule_not_run(const struct review_context *ctx, const char *rule);
/* Records the review as a whole. */
void record_review(struct review_context *ctx);

#endif
