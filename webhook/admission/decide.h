/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides the outcome of a finding. The outcome depends only on the policy's
 * action for the finding and the context of the request. The outcome that mode
 * enforce would have is computed too.
 */
#ifndef WEBHOOK_DECIDE_H
#define WEBHOOK_DECIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/finding.h"
#include "engine/policy.h"
#include "review.h"

/* From the weakest to the strongest. */
enum outcome {
	OUTCOME_NONE,
	OUTCOME_AUDIT,
	OUTCOME_WARN,
	OUTCOME_PATCH,
	OUTCOME_DENY
};

struct request_context {
	bool mutate; /* request to /mutate, which patches and never denies */
	bool pod;    /* the object is a Pod, not an owner of Pods */
	/* The object may be patched: it is the CREATE of a Pod, or of an owner
	 * if the policy allows patches of owners. */
	bool patchable;
	bool update;
	/* Only metadata changes, or the object is being deleted; and its use of
	 * devices that the scheduler does not count does not grow. */
	bool lenient;
	bool demand_grew;
	/* The number of pods, roles and resources does not increase, and some
	 * number decreases; the use of devices that the scheduler does not
	 * count does not grow either. */
	bool demand_fell;
	bool controller; /* requested by a controller's account */
	/* A controller created the Pod for an owner that is checked, or changes
	 * only its scheduling gates or placement. */
	bool controlled;
	const char *ticket;	    /* break-glass ticket, or NULL */
	const char *ticket_problem; /* why the ticket is not valid */
};

struct decision {
	enum outcome outcome, would;
};

/* Reads the facts from the request only. The caller sets demand_grew,
 * demand_fell and lenient; lenient is set here for objects that are being
 * deleted. */
void request_context_read(struct request_context *c,
			  const struct review *review,
			  const struct policy *policy, bool mutate);
/* Returns true if only metadata or status differ between the two objects. */
bool update_is_metadata(const struct node *now, const struct node *before);

struct decision decide(const struct request_context *c,
		       const struct finding *f);
const char *outcome_name(enum outcome outcome);

#endif
