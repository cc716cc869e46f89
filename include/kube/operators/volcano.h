/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rules about Volcano Jobs ask.
 */
#ifndef KUBE_VOLCANO_H
#define KUBE_VOLCANO_H

#include "doc/node.h"

/* Is an entry of `policies` about that event, by `event` or `events`? `*` is
 * any (pkg/controllers/job/job_controller_util.go, applyPolicies). */
bool volcano_policy_is(const struct node *policy, const char *event);

#endif
