/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One review while it is processed: the request, what applies to it, and the
 * verdict. It belongs to the worker's thread.
 */
#ifndef WEBHOOK_REVIEW_CONTEXT_H
#define WEBHOOK_REVIEW_CONTEXT_H

#include <time.h>

#include "admission.h"
#include "base/escape.h"
#include "decide.h"
#include "judge.h"
#include "verdict.h"

struct policy_box;
struct reserve;

struct admission_worker {
	struct admission *admission;
	struct arena arena; /* of the review: trees, words */
	struct judge now;   /* the object */
	struct judge other; /* the old object, or the patched one */
	struct buf out;
};

struct review_context {
	struct admission_worker *worker;
	const struct admission_options *options;
	struct review review;
	struct load_cost budget; /* left for documents in its objects */
	const struct policy *policy;
	const char *hash;
	const struct cluster *cluster; /* or NULL */
	const struct node *namespace_labels;
	enum mode mode; /* where no finding has one */
	int64_t now;	/* seconds since the epoch */
	enum admission_path path;
	struct request_context request;
	struct verdict verdict;
	struct timespec began;
	/* Held, and dropped at the end or when the review is left. */
	struct policy_box *box;
	struct reserve *reserve; /* locked, or NULL */
	struct escape_guard guard;
};

/* -- record_review.c: figures and log -- */

/* Everything that is admitted unjudged is counted. */
void record_unjudged(const struct review_context *ctx,
		     enum metrics_counter reason);
void record_findings(struct review_context *ctx);
void record_not_run(struct review_context *ctx);
/* The review as a whole. */
void record_review(struct review_context *ctx);

#endif
