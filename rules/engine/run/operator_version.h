/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of operators, as the snapshot or the policy gives them. */
#ifndef RULES_ENGINE_RUN_OPERATOR_VERSION_H
#define RULES_ENGINE_RUN_OPERATOR_VERSION_H

#include <stdbool.h>

#include "engine/rule.h"
#include "kube/tri.h"

struct version {
	int major, minor;
	int patch; /* -1 if it is not given */
};

struct version version_read(const char *text);

/* Returns yes if a is b or a later version. A version without a patch may have
 * any patch. */
enum tri version_is_at_least(struct version a, struct version b);

bool version_is_later_minor(struct version a, struct version b);

/* True if the code of this minor version was read: versions is "1.9, 2.2 to
 * 2.3". */
bool version_was_read(const char *versions, struct version v);

/* Returns the version of the operator in the cluster, as the snapshot or the
 * policy gives it; NULL if unknown. */
const char *operator_version(struct rule_run *run, enum operator_name name);

#endif
