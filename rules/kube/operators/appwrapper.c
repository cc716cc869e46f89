/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AppWrapper of CodeFlare: what it wraps is admitted together.
 */
#include "rules/kube/operator.h"

const struct workload_operator operator_appwrapper = {
	.gang = gang_of_children,
};
