/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides the outcome of a finding. A pure function of the policy's action for
 * the finding and the context of the request; it also computes the outcome
 * under full enforcement.
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
	bool pod;    /* a Pod itself, not an owner of Pods */
	/* Patches are made for this request: a Pod's CREATE, or an owner's if
	 * the policy allows it. */
	bool patchable;
	bool update;
	/* The object is being deleted, or only metadata changes; and it adds no
	 * use of devices that the scheduler does not count. */
	bool lenient;
	bool demand_grew;
	/* No pod, role or resource increases, and some decrease; and it adds no
	 * use of devices that the scheduler does not count. */
	bool demand_fell;
	bool controller; /* requested by a controller's account */
	/* Created by a controller for a checked owner, or a Pod that a
	 * controller changes: its gates, its placement. */
	bool controlled;
	const char *ticket;	    /* break-glass, or NULL */
	const char *ticket_problem; /* why a ticket is not valid */
};

struct decision {
	enum outcome outcome, would;
};

/* Reads only the facts of the request; the caller sets demand_grew, demand_fell
 * and lenient, except for objects being deleted. */
void request_context_read(struct request_context *c,
			  const struct review *review,
			  const struct policy *policy, bool mutate);
/* True for an UPDATE that changes only metadata (or status). */
bool update_is_metadata(const struct node *now, const struct node *before);

struct decision decide(const struct request_context *c,
		       const struct finding *f);
const char *outcome_name(enum outcome outcome);

#endif
