/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Label values that users choose (namespaces, kinds) or that are configured
 * (rules), numbered in the order of their first use. Beyond the limit every new
 * one is number 0, "other".
 */
#ifndef WEBHOOK_METRICS_NAMES_H
#define WEBHOOK_METRICS_NAMES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/text.h"

enum {
	NAMES_MAX = 400,
	NAME_SLOTS = 1024, /* a power of two, over twice NAMES_MAX */
	NAME_BYTES = 256,  /* longer values are cut */
};

struct metric_label {
	unsigned number; /* 1 ... */
	size_t len;
	char text[];
};

struct metric_labels {
	unsigned limit;	     /* at most NAMES_MAX */
	struct text_key key; /* of the hash */
	_Atomic unsigned n;
	struct metric_label *_Atomic slots[NAME_SLOTS];
	struct metric_label *_Atomic items[NAMES_MAX + 1]; /* by number */
	pthread_mutex_t lock;				   /* for adding */
};

/* names is zero-filled. */
void names_init(struct metric_labels *names, unsigned limit);
void names_release(struct metric_labels *names);
/* NULL is "". */
unsigned names_number(struct metric_labels *names, const char *text);
/* number: a result of names_number(), or at most names->n. */
const char *names_text(struct metric_labels *names, unsigned number);

#endif
