/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides the outcome of a finding. A pure function of the policy's action for
 * the finding and the context of the request; also gives the outcome under full
 * enforcement.
 */
#ifndef WEBHOOK_DECIDE_H
#define WEBHOOK_DECIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/finding.h"
#include "engine/policy.h"
#include "review.h"

/* In order of weight. */
enum outcome {
	OUTCOME_NONE,
	OUTCOME_AUDIT,
	OUTCOME_WARN,
	OUTCOME_PATCH,
	OUTCOME_DENY
};

struct request_context {
	bool mutate; /* /mutate: patches, never denies */
	bool pod;    /* a Pod itself, not what makes Pods */
	/* Patches are made for this request: a Pod's CREATE, or an owner's
	 * where the policy says so. */
	bool patchable;
	bool update;
	/* Being deleted, or metadata only; and no new use of devices that the
	 * scheduler does not count. */
	bool lenient;
	bool demand_grew;
	/* No pod, role or resource more, and less of some; and no new use of
	 * devices that the scheduler does not count. */
	bool demand_fell;
	bool controller; /* asked by the account of one */
	/* Created by a controller for a judged owner, or a Pod that a
	 * controller changes: its gates, its placement. */
	bool controlled;
	const char *ticket;	    /* break-glass, or NULL */
	const char *ticket_problem; /* why a given one does not apply */
};

struct decision {
	enum outcome outcome, would;
};

/* Reads the facts of the request alone; the caller sets demand_grew,
 * demand_fell and lenient, except for objects being deleted. */
void request_context_read(struct request_context *c,
			  const struct review *review,
			  const struct policy *policy, bool mutate);
/* An UPDATE that changes nothing but metadata (or status). */
bool update_is_metadata(const struct node *now, const struct node *before);

struct decision decide(const struct request_context *c,
		       const struct finding *f);
const char *outcome_name(enum outcome outcome);

#endif
