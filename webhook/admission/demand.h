/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demand of an object for devices, by role and resource: different resources
 * are never added up.
 */
#ifndef WEBHOOK_DEMAND_H
#define WEBHOOK_DEMAND_H

#include <stdbool.h>

#include "base/arena.h"
#include "doc/load.h"
#include "kube/object.h"

struct demand_change {
	bool grew;    /* a pod, the steady state or the peak of a role requests
			 more of a resource */
	bool resumed; /* some of it was suspended and is not any more */
	bool fell;    /* nothing increases, and some resource decreases */
};

struct demand_change demand_compare(struct arena *arena,
				    const struct kube_config *config,
				    const struct doc *now,
				    const struct doc *old);

#endif
