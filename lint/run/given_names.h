/* SPDX-License-Identifier: Apache-2.0 */
/* Names that objects of the linted files give: read when first asked for, which
 * few runs do. Any thread may ask. */
#ifndef LINT_GIVEN_NAMES_H
#define LINT_GIVEN_NAMES_H

#include <pthread.h>

#include "base/arena.h"
#include "kube/given_name.h"
#include "lint/files/files.h"
#include "lint/files/stdin_cache.h"

struct given_names {
	const struct files *files;
	const struct stdin_cache *stdin_cache;
	pthread_mutex_t lock;
	struct arena arena;
	struct given_name *items;
	size_t n, size;
	bool read;
};

void given_names_init(struct given_names *names, const struct files *files,
		      const struct stdin_cache *stdin_cache);
void given_names_release(struct given_names *names);
/* context: a struct given_names; name: what was found. */
bool given_names_find(void *context, enum given_kind kind, const char *text,
		      struct given_name *name);

#endif
