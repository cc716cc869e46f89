/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for rules about Volcano Jobs. */
#ifndef KUBE_VOLCANO_H
#define KUBE_VOLCANO_H

#include "doc/node.h"

/* True if an entry of `policies` handles the event, by `event` or `events`. `*`
 * matches any event (pkg/controllers/job/job_controller_util.go,
 * applyPolicies). */
bool volcano_policy_is(const struct node *policy, const char *event);

#endif
