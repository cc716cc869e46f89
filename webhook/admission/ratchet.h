/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings that an UPDATE may keep. A finding of the new object is forgiven if
 * the old object, checked with the effective policy, would be denied for a
 * finding with the same rule and value. A finding about devices that no quota
 * counts must also not affect more pods. A finding of the old object that is
 * only a warning forgives nothing.
 */
#ifndef WEBHOOK_RATCHET_H
#define WEBHOOK_RATCHET_H

#include <stdbool.h>
#include <stddef.h>

#include "decide.h"

struct object_findings {
	struct finding *items;
	size_t n;
};

/*
 * Sets `forgiven` and `had_before` of the findings of now. c is the context of
 * the request. Returns true if a finding about devices that no quota counts is
 * neither forgiven nor suppressed.
 */
bool ratchet(struct arena *arena, const struct request_context *c,
	     const struct object_findings *now,
	     const struct object_findings *old);

#endif
