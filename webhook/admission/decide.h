/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides the outcome of a finding, from the action and mode that the policy
 * gives it, its severity, and the context of the request. The outcome that mode
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
	/* request to /mutate, which patches, and never denies for a finding */
	bool mutate;
	bool pod; /* the object is a Pod, not an owner of Pods */
	/* The object may be patched: it is the CREATE of a Pod, or of an owner
	 * if the policy allows patches of owners. Static Pods, and owners that
	 * Argo CD or Flux manages, are not patched. */
	bool patchable;
	bool update;
	/* A denial becomes a warning. True if the labels of the namespace are
	 * unknown, or if only metadata or status changes and the use of devices
	 * that no quota counts does not grow. For an object that is being
	 * deleted, this use does not matter. */
	bool lenient;
	/* an UPDATE requests more devices, or a user resumes pods */
	bool demand_grew;
	/* an UPDATE requests fewer devices of a resource and more of none; the
	 * use of devices that no quota counts does not grow either */
	bool demand_fell;
	bool controller; /* requested by a controller's account */
	/* A controller sends the request, and the object belongs to an owner
	 * that is checked itself, or is a Pod that is updated. Little except
	 * scheduling gates and placement can change in an update of a Pod. */
	bool controlled;
	const char *ticket; /* break-glass ticket, or NULL */
	/* reason why the ticket is not valid, or NULL */
	const char *ticket_problem;
};

struct decision {
	enum outcome outcome;
	enum outcome would; /* the outcome in mode enforce */
};

/* Reads the facts that the request itself shows. The caller sets demand_grew
 * and demand_fell, and may set lenient; here lenient is set only if the object
 * is being deleted and only metadata or status changes. */
void request_context_read(struct request_context *c,
			  const struct review *review,
			  const struct policy *policy, bool mutate);
/* Returns true if only metadata or status differ between the two objects. */
bool update_is_metadata(const struct node *now, const struct node *before);

struct decision decide(const struct request_context *c,
		       const struct finding *f);
const char *outcome_name(enum outcome outcome);

#endif
