/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubernetes quantities exactly as k8s.io/apimachinery pkg/api/resource parses
 * them: sign, digits with optional dot, then n u m "" k M G T P E, Ki Mi Gi Ti
 * Pi Ei, or e/E with an exponent. Parts finer than nano are rounded up (away
 * from zero); a number with a binary suffix is capped at 2^63-1. Numbers up to
 * 1.7e29 fit in nano units of 128 bits and are exact; larger ones (`1e30`) are
 * capped there, unlike in apimachinery.
 */
#ifndef KUBE_QUANTITY_H
#define KUBE_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "doc/node.h"

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

#endif
