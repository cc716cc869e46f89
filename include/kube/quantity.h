/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubernetes quantities exactly as k8s.io/apimachinery pkg/api/resource parses
 * them: sign, digits with optional dot, then n u m "" k M G T P E, Ki Mi Gi Ti
 * Pi Ei, or e/E with an exponent. Finer than nano rounds up (away from zero);
 * with a binary suffix, larger than 2^63-1 is capped. Numbers up to 1.7e29 fit
 * in nano units of 128 bits and are exact; larger ones (`1e30`) are capped
 * there, while apimachinery has no limit.
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
	enum quantity_format format; /* as written, for quantity_format() */
};

bool quantity_parse(const char *text, size_t len, struct quantity *out);
struct quantity quantity_from(int64_t value);
int quantity_cmp(struct quantity a, struct quantity b); /* <0, 0, >0 */
struct quantity quantity_add(struct quantity a, struct quantity b);
struct quantity quantity_sub(struct quantity a, struct quantity b);
struct quantity quantity_mul(struct quantity a, int64_t n); /* saturates */
/* Value() and MilliValue() of apimachinery: rounded up, saturating. */
int64_t quantity_value(struct quantity q);
int64_t quantity_milli(struct quantity q);
bool quantity_is_integer(struct quantity q);

#define QUANTITY_TEXT 48
/* Canonical text, as the API server would print it ("1536Mi", "500m"). */
const char *quantity_text(struct quantity q, char out[QUANTITY_TEXT]);

enum quantity_state {
	QUANTITY_ABSENT, /* no node, or null */
	QUANTITY_OK,
	QUANTITY_UNKNOWN, /* placeholder */
	QUANTITY_INVALID, /* the API server rejects this text or type */
};
/*
 * A quantity in a manifest: string or number. Leading and trailing blanks of a
 * string are rejected by ParseQuantity but accepted around JSON strings
 * (Quantity.UnmarshalJSON trims): observed accepted by kube-apiserver.
 */
enum quantity_state node_quantity(const struct node *node,
				  struct quantity *out);

#endif
