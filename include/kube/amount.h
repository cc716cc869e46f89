/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic on numbers, some of which may be unknown, and numbers read from
 * fields, also percentages. */
#ifndef KUBE_AMOUNT_H
#define KUBE_AMOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "doc/node.h"

struct amount {
	/* sum of the known numbers (a lower bound if unknown is set) */
	int64_t n;
	bool unknown;
	/* A number of pods in which each pod counts together with its
	 * replacement. */
	bool replaced;
};

/* Converts a number that is not negative. Large numbers are capped far below
 * overflow. */
struct amount amount_of(int64_t n);
struct amount amount_add(struct amount a, struct amount b);
struct amount amount_mul(struct amount a, struct amount b);
struct amount amount_max(struct amount a, struct amount b);
/* Returns the smaller of two amounts; unknown if either is unknown. */
struct amount amount_min(struct amount a, struct amount b);
/* Reads an int-or-percent field such as maxSurge. A percentage is taken of n
 * and rounded up. A field that is not set counts as `percent` percent. The
 * result is unknown for any other text, and for percentages above 1,000,000. */
struct amount amount_share(const struct node *node, struct amount n,
			   int percent);
/* Reads an integer field: returns `unset` if it is not set, 0 for a negative
 * number, unknown for anything else. */
struct amount amount_int(const struct node *node, int64_t unset);

#endif
