/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PodDisruptionBudgets, computed as in the disruption controller.
 */
#ifndef KUBE_BUDGET_H
#define KUBE_BUDGET_H

#include "base/arena.h"
#include "kube/amount.h"
#include "kube/set/index.h"

enum budget_blocks {
	BUDGET_ALLOWS,	       /* allows an eviction, or it is unknown */
	BUDGET_BLOCKS_SO_MANY, /* blocks unless there are more pods */
	BUDGET_BLOCKS_ALL,     /* blocks for any number of pods */
};

/* Computes it for the state in which all pods are healthy. */
enum budget_blocks budget_blocks(const struct node *budget, struct amount pods);

#endif
