/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three-valued logic: a predicate over a manifest with placeholders returns
 * yes, no or unknown, and a rule reports only certain results.
 */
#ifndef KUBE_TRI_H
#define KUBE_TRI_H

#include <stdbool.h>

enum tri { TRI_NO, TRI_YES, TRI_UNKNOWN };

static inline enum tri tri_from(bool yes)
{
	return yes ? TRI_YES : TRI_NO;
}

/* Returns yes if either is yes, else unknown if either is unknown. */
static inline enum tri tri_or(enum tri a, enum tri b)
{
	if (a == TRI_YES || b == TRI_YES)
		return TRI_YES;
	return a == TRI_UNKNOWN || b == TRI_UNKNOWN ? TRI_UNKNOWN : TRI_NO;
}

#endif
