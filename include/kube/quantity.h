/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers in manifests, and truth values, which may be unknown because of
 * placeholders.
 */
#ifndef KUBE_QUANTITY_H
#define KUBE_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "doc/node.h"

/*
 * Three-valued logic: a predicate over a manifest with placeholders returns
 * yes, no or unknown, and a rule reports only certain results.
 */

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

/*
 * Kubernetes quantities exactly as k8s.io/apimachinery pkg/api/resource parses
 * them: sign, digits with optional dot, then n u m "" k M G T P E, Ki Mi Gi Ti
 * Pi Ei, or e/E with an exponent. Parts finer than nano are rounded up (away
 * from zero); a number with a binary suffix is capped at 2^63-1. Numbers up to
 * 1.7e29 fit in nano units of 128 bits and are exact; larger ones (`1e30`) are
 * capped there, unlike in apimachinery.
 */

enum quantity_format { QUANTITY_DECIMAL, QUANTITY_BINARY, QUANTITY_EXPONENT };

struct quantity {
	__extension__ __int128 nano;
	enum quantity_format format; /* as written, for quantity_text() */
};

bool quantity_parse(const char *text, size_t len, struct quantity *out);
struct quantity quantity_from(int64_t value);
int quantity_cmp(struct quantity a, struct quantity b); /* <0, 0, >0 */
struct quantity quantity_add(struct quantity a, struct quantity b);
struct quantity quantity_sub(struct quantity a, struct quantity b);
/* Returns a * n, capped instead of overflowing. */
struct quantity quantity_mul(struct quantity a, int64_t n);
/* Return the whole units, or the thousandths, as Value() and MilliValue() of
 * apimachinery do. They round away from zero, and cap the result instead of
 * overflowing. */
int64_t quantity_value(struct quantity q);
int64_t quantity_milli(struct quantity q);
bool quantity_is_integer(struct quantity q);

#define QUANTITY_TEXT 48
/* Returns the canonical text, as the API server would print it ("1536Mi",
 * "500m"). */
const char *quantity_text(struct quantity q, char out[QUANTITY_TEXT]);

enum quantity_state {
	QUANTITY_ABSENT, /* NULL, or a null node */
	QUANTITY_OK,
	QUANTITY_UNKNOWN, /* a placeholder */
	QUANTITY_INVALID, /* a text or type that the API server rejects */
};
/*
 * Reads a quantity in a manifest: a string or a number. Blanks at both ends of
 * a string are accepted (Quantity.UnmarshalJSON trims them), as observed on
 * kube-apiserver, although ParseQuantity rejects them.
 */
enum quantity_state node_quantity(const struct node *node,
				  struct quantity *out);

/* Arithmetic on numbers, some of which may be unknown, and numbers read from
 * fields, also percentages. */

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
