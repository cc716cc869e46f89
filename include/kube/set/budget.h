/* SPDX-License-Identifier: Apache-2.0 */
/* PodDisruptionBudgets, evaluated as in the disruption controller. */
#ifndef KUBE_BUDGET_H
#define KUBE_BUDGET_H

#include "base/arena.h"
#include "kube/amount.h"
#include "kube/set/index.h"

enum budget_blocks {
	BUDGET_ALLOWS, /* allows an eviction, or may allow one */
	/* blocks all evictions for this number of pods */
	BUDGET_BLOCKS_SO_MANY,
	BUDGET_BLOCKS_ALL, /* blocks all evictions for any number of pods */
};

/* Returns whether the budget blocks evictions when all pods are healthy. */
enum budget_blocks budget_blocks(const struct node *budget, struct amount pods);

#endif
