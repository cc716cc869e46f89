/* SPDX-License-Identifier: Apache-2.0 */
/* Names that objects of the linted files give: read when first asked for, which
 * few runs do. Any thread may ask. */
#ifndef LINT_DEFINED_NAMES_H
#define LINT_DEFINED_NAMES_H

#include <pthread.h>

#include "base/arena.h"
#include "kube/defined_name.h"
#include "lint/files/files.h"
#include "lint/files/stdin_cache.h"

struct defined_names {
	const struct files *files;
	const struct stdin_cache *stdin_cache;
	pthread_mutex_t lock;
	struct arena arena;
	struct defined_name *items;
	size_t n, size;
	bool read;
};

void defined_names_init(struct defined_names *names, const struct files *files,
			const struct stdin_cache *stdin_cache);
void defined_names_release(struct defined_names *names);
/* context: a struct defined_names; name: what was found. */
bool defined_names_find(void *context, enum defined_kind kind, const char *text,
			struct defined_name *name);

#endif
