/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the devices that two versions of an object request, per role and
 * resource. Amounts of different resources are never added up.
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
	/* the pods of a role that no user has suspended request more of a
	 * resource */
	bool resumed;
	/* no number increases, and some role requests less of a resource in its
	 * steady state */
	bool fell;
};

struct demand_change demand_compare(struct arena *arena,
				    const struct kube_config *config,
				    const struct doc *now,
				    const struct doc *old);

#endif
