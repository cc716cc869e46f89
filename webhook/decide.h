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

/* The rule stands beside the hash, which is no secret: names of containers
 * can be chosen such that two rules' findings hash alike. */
struct known_finding {
	uint64_t hash;
	const struct rule *rule;
};

struct circumstances {
	bool mutate; /* /mutate: patches, never denies */
	bool pod;    /* a Pod itself, not what makes Pods */
	/* Patches are made for this request: a Pod's CREATE, or an owner's
	 * where the policy says so. */
	bool patchable;
	bool update;
	bool lenient; /* being deleted, metadata only, or demand falls */
	bool demand_grew;
	bool controlled;    /* made by a controller for a judged owner */
	const char *ticket; /* break-glass, or NULL */
	const struct known_finding *known; /* of the old object, sorted */
	size_t nknown;
};

struct decision {
	enum deed deed, would;
};

/* Facts of the request alone; known, lenient, demand_grew are the caller's. */
void circumstances_read(struct circumstances *c, const struct review *review,
			const struct policy *policy, bool mutate);
/* Does one of them take devices that nobody counts, as the old object did
 * not? */
bool circumstances_take_more(const struct circumstances *c,
			     const struct finding *findings, size_t n);
/* The findings of the old object, which an UPDATE may keep. */
void circumstances_know(struct circumstances *c, struct arena *arena,
			const struct finding *findings, size_t n);
/* An UPDATE that changes nothing but metadata (or status). */
bool update_is_metadata(const struct node *now, const struct node *before);

struct decision decide(const struct circumstances *c, const struct finding *f);
const char *deed_name(enum deed deed);

#endif
