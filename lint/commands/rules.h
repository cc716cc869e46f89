/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rule as JSON, the same in `gpugate rules` and `gpugate explain`.
 */
#ifndef LINT_RULES_H
#define LINT_RULES_H

#include <jansson.h>

#include "engine/rule.h"

/* A new object; its strings are copies. */
json_t *rule_json(const struct rule *rule);

#endif
