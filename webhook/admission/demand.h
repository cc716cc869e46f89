/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demand of an object for devices, per role and resource. Amounts of different
 * resources are never added up.
 */
#ifndef WEBHOOK_DEMAND_H
#define WEBHOOK_DEMAND_H

#include <stdbool.h>

#include "base/arena.h"
#include "doc/load.h"
#include "kube/object.h"

struct demand_change {
	/* a pod requests more of a resource, or a role requests more in its
	 * steady state or at its peak, or an unknown amount */
	bool grew;
	/* the demand of pods that no user has suspended increases */
	bool resumed;
	/* no number increases, and the steady demand for some resource
	 * decreases */
	bool fell;
};

struct demand_change demand_compare(struct arena *arena,
				    const struct kube_config *config,
				    const struct doc *now,
				    const struct doc *old);

#endif
