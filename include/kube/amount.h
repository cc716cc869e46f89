/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums that know whether they are complete.
 */
#ifndef KUBE_AMOUNT_H
#define KUBE_AMOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "doc/node.h"

struct amount {
	int64_t n; /* known part (a lower bound while unknown is set) */
	bool unknown;
	/* Number of pods, where each counts together with the pod that replaces
	 * it. */
	bool replaced;
};

/* Negative numbers become 0; large ones stop far below overflow. */
struct amount amount_of(int64_t n);
struct amount amount_add(struct amount a, struct amount b);
struct amount amount_mul(struct amount a, struct amount b);
struct amount amount_max(struct amount a, struct amount b);
/* The smaller of two amounts; unknown if either is unknown. */
struct amount amount_min(struct amount a, struct amount b);
/* An int-or-percent of n (percentages rounded up), as maxSurge is. */
struct amount amount_share(const struct node *node, struct amount n,
			   int percent);
/* An integer field: unset gives the default, a negative number 0, anything else
 * unknown. */
struct amount amount_int(const struct node *node, int64_t unset);

#endif
