/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done about a finding at the door. Pure: from the policy's action for
 * the finding and the circumstances of the request to a deed, and the deed that
 * full enforcement would have been.
 */
#ifndef WEBHOOK_DECIDE_H
#define WEBHOOK_DECIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/finding.h"
#include "engine/policy.h"
#include "webhook/review.h"

/* In order of weight. */
enum deed { DEED_NONE, DEED_AUDIT, DEED_WARN, DEED_PATCH, DEED_DENY };

struct circumstances {
	bool mutate; /* /mutate: patches, never denies */
	bool pod;    /* a Pod itself, not what makes Pods */
	/* Patches are made for this request: a Pod's CREATE, or an owner's
	 * where the policy says so. */
	bool patchable;
	bool update;
	/* Being deleted, metadata only, or demand falls; and none of it takes
	 * devices that nobody counts, as the old object did not. */
	bool lenient;
	bool demand_grew;
	bool controlled;    /* made by a controller for a judged owner */
	const char *ticket; /* break-glass, or NULL */
};

struct decision {
	enum deed deed, would;
};

/* Facts of the request alone; lenient (but for what is being deleted) and
 * demand_grew are the caller's. */
void circumstances_read(struct circumstances *c, const struct review *review,
			const struct policy *policy, bool mutate);
/* An UPDATE that changes nothing but metadata (or status). */
bool update_is_metadata(const struct node *now, const struct node *before);

struct decision decide(const struct circumstances *c, const struct finding *f);
const char *deed_name(enum deed deed);

#endif
