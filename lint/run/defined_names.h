/* SPDX-License-Identifier: Apache-2.0 */
/* Names, runtimes and policies that objects of the linted files define. They
 * are read on first use. Thread-safe. */
#ifndef LINT_DEFINED_NAMES_H
#define LINT_DEFINED_NAMES_H

#include <pthread.h>

#include "base/arena.h"
#include "engine/admission_policy.h"
#include "kube/defined_name.h"
#include "kube/runtime.h"
#include "lint/files/files.h"
#include "lint/files/stdin_cache.h"

struct defined_names {
	const struct files *files;
	const struct stdin_cache *stdin_cache;
	pthread_mutex_t lock;
	struct arena arena;
	struct defined_name *items;
	size_t n, size;
	struct runtime *runtimes;
	struct admission_policies *mutations; /* may be NULL */
	bool read;
};

void defined_names_init(struct defined_names *names, const struct files *files,
			const struct stdin_cache *stdin_cache);
void defined_names_release(struct defined_names *names);
/* context is a struct defined_names; name receives the result. */
bool defined_names_find(void *context, enum defined_kind kind, const char *text,
			struct defined_name *name);
/* Returns the only matching runtime in the files; NULL if two differ. */
const struct runtime *defined_runtime_find(void *context,
					   const struct object *object,
					   const char *kind, const char *name);
/* Returns the MutatingAdmissionPolicies and their bindings in the files, or
 * NULL. */
const struct admission_policies *defined_mutations(void *context);

#endif
