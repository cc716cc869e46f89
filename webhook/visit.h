/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One review on its way through the door: what came, what holds for it, what
 * is answered. It belongs to the worker's thread.
 */
#ifndef WEBHOOK_VISIT_H
#define WEBHOOK_VISIT_H

#include <time.h>

#include "decide.h"
#include "judge.h"
#include "verdict.h"
#include "webhook/door.h"

struct door_worker {
	struct door *door;
	struct arena arena; /* of the review: trees, words */
	struct judge now;   /* the object */
	struct judge other; /* the old object, or the patched one */
	struct buf out;
};

struct visit {
	struct door_worker *worker;
	const struct door_options *options;
	struct review review;
	const struct policy *policy;
	const char *hash;
	const struct cluster *cluster; /* or NULL */
	const struct node *namespace_labels;
	enum mode mode; /* where no finding tells it */
	int64_t now;	/* seconds since the epoch */
	enum door_path path;
	struct circumstances circumstances;
	struct verdict verdict;
	struct timespec began;
};

/* -- visit_record.c: figures and log -- */

/* Nothing is let through in silence. */
void visit_count_unjudged(const struct visit *visit,
			  enum metrics_counter reason);
void visit_count_findings(struct visit *visit);
void visit_count_not_run(struct visit *visit);
/* The review as a whole. */
void visit_record(struct visit *visit);

#endif
