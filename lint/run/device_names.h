/* SPDX-License-Identifier: Apache-2.0 */
/* Resources that DeviceClasses of the linted files name: read when first asked
 * for, which few runs do. Any thread may ask. */
#ifndef LINT_DEVICE_NAMES_H
#define LINT_DEVICE_NAMES_H

#include <pthread.h>

#include "base/arena.h"
#include "kube/device_name.h"
#include "lint/files/files.h"
#include "lint/files/stdin_cache.h"

struct device_names {
	const struct files *files;
	const struct stdin_cache *stdin_cache;
	pthread_mutex_t lock;
	struct arena arena;
	struct device_name *items;
	size_t n, size;
	bool read;
};

void device_names_init(struct device_names *names, const struct files *files,
		       const struct stdin_cache *stdin_cache);
void device_names_release(struct device_names *names);
/* context: a struct device_names; name: what was found. */
bool device_names_find(void *context, const char *resource,
		       struct device_name *name);

#endif
