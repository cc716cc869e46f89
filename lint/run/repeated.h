/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about a runtime of one file that its users in other files repeat. */
#ifndef LINT_REPEATED_H
#define LINT_REPEATED_H

#include "engine/run.h"
#include "lint/run/collect.h"

/* Drops them and their counts, after the set rules. */
void repeated_drop(struct collection *collection, struct run_counts *counts);

#endif
