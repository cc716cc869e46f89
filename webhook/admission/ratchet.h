/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings that an UPDATE may keep. A finding of the new object is forgiven if
 * the old object, checked by the effective policy, would itself be denied for
 * it with the same value: a finding that only warned before forgives nothing.
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
 * Sets `forgiven` on the findings of now. Returns true if one of the others
 * uses devices that the scheduler does not count. c: the context of the
 * request.
 */
bool ratchet(struct arena *arena, const struct request_context *c,
	     const struct object_findings *now,
	     const struct object_findings *old);

#endif
