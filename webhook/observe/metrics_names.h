/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers label values that users choose (namespaces, kinds) or that are
 * configured (rules), in the order of their first use. Beyond the limit each
 * new value gets number 0, "other".
 */
#ifndef WEBHOOK_METRICS_NAMES_H
#define WEBHOOK_METRICS_NAMES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/text.h"

enum {
	NAMES_MAX = 400,
	NAME_SLOTS = 1024, /* a power of two, more than twice NAMES_MAX */
	NAME_BYTES = 256,  /* bytes; longer values are cut */
};

struct metric_label {
	unsigned number; /* from 1 */
	size_t len;
	char text[];
};

struct metric_labels {
	unsigned limit;	     /* at most NAMES_MAX */
	struct text_key key; /* key of the hash */
	_Atomic unsigned n;
	struct metric_label *_Atomic slots[NAME_SLOTS];
	/* indexed by number */
	struct metric_label *_Atomic items[NAMES_MAX + 1];
	/* held while a value is added */
	pthread_mutex_t lock;
};

/* names must be zero-filled. */
void names_init(struct metric_labels *names, unsigned limit);
void names_release(struct metric_labels *names);
/* Returns the number of the text; NULL is treated as "". */
unsigned names_number(struct metric_labels *names, const char *text);
/* Returns the text of a number, which is a result of names_number(), or at most
 * names->n. */
const char *names_text(struct metric_labels *names, unsigned number);

#endif
