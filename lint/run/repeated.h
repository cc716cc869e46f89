/* SPDX-License-Identifier: Apache-2.0 */
/* Findings that repeat one about a runtime of another file. */
#ifndef LINT_REPEATED_H
#define LINT_REPEATED_H

#include "engine/run.h"
#include "lint/run/collect.h"

/* Drops them and their counts, after the set rules. */
void repeated_drop(struct collection *collection, struct run_counts *counts);

#endif
