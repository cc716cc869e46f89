/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three values: a predicate over a manifest with placeholders says yes, no
 * or unknown, and a rule fires only on yes (or on a known no). An amount is
 * a sum with a known lower bound and a flag that something in it is unknown.
 */
#ifndef KUBE_TRI_H
#define KUBE_TRI_H

#include <stdbool.h>
#include <stdint.h>

enum tri { TRI_NO, TRI_YES, TRI_UNKNOWN };

static inline enum tri tri_from(bool yes)
{
	return yes ? TRI_YES : TRI_NO;
}

/* Yes wins over unknown, unknown over no. */
static inline enum tri tri_or(enum tri a, enum tri b)
{
	if (a == TRI_YES || b == TRI_YES)
		return TRI_YES;
	return a == TRI_UNKNOWN || b == TRI_UNKNOWN ? TRI_UNKNOWN : TRI_NO;
}

struct amount {
	int64_t n; /* known part (a lower bound while unknown is set) */
	bool unknown;
};

/* Negative numbers are 0; large ones stop far below overflow (count.c). */
struct amount amount_of(int64_t n);
struct amount amount_add(struct amount a, struct amount b);
struct amount amount_mul(struct amount a, struct amount b);

#endif
