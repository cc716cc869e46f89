/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AppWrapper of CodeFlare: the wrapped objects are admitted together.
 */
#include "rules/kube/operator.h"

const struct workload_operator operator_appwrapper = {
	.gang = gang_of_children,
};
