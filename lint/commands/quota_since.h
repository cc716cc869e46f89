/* SPDX-License-Identifier: Apache-2.0 */
/* Adds the workloads of a git revision to a table of quotas, for `gpugate quota
 * --since`. */
#ifndef LINT_QUOTA_SINCE_H
#define LINT_QUOTA_SINCE_H

#include "lint/run/lint.h"

struct quota_since;
struct quota_since *quota_since_open(struct lint *lint, const char *revision,
				     struct err *err);
/* Implements quota_maker.changed. */
bool quota_since_changed(void *since, const char *path);
/* Adds the workloads of changed files as they are in the revision. Returns 0 or
 * -1. */
int quota_since_add(struct quota_since *since, struct quota_table *table,
		    const struct object_index *quotas, struct err *err);
void quota_since_close(struct quota_since *since);

#endif
