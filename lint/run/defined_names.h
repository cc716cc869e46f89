/* SPDX-License-Identifier: Apache-2.0 */
/* Names, claims, runtimes and policies that objects of the linted files define,
 * and findings about these runtimes. They are read on first use.
 * Thread-safe. */
#ifndef LINT_DEFINED_NAMES_H
#define LINT_DEFINED_NAMES_H

#include <pthread.h>

#include "base/arena.h"
#include "engine/admission_policy.h"
#include "kube/claim.h"
#include "kube/defined_name.h"
#include "kube/runtime.h"
#include "lint/files/files.h"
#include "lint/files/stdin_cache.h"
#include "worker.h"

struct defined_names {
	const struct files *files;
	const struct stdin_cache *stdin_cache;
	pthread_mutex_t lock;
	struct arena arena;
	struct defined_name *items;
	size_t n, size;
	struct claim_table claims;
	uint32_t *claim_files; /* the file of each claim */
	size_t nclaim_files, claim_files_size;
	struct runtime_table runtimes;
	struct admission_policies *mutations; /* may be NULL */
	bool read;
	/* used by defined_runtime_repeats() */
	struct job *job;
	pthread_mutex_t findings_lock;
	struct runtime_file *runtime_files; /* by index */
	size_t nruntime_files, runtime_files_size;
};

void defined_names_init(struct defined_names *names, const struct files *files,
			const struct stdin_cache *stdin_cache);
void defined_names_release(struct defined_names *names);
/* Finds a defined name of this kind that matches text. context is a struct
 * defined_names, and name receives the result. */
bool defined_names_find(void *context, enum defined_kind kind, const char *text,
			struct defined_name *name);
/* Returns the only matching claim in the other files of the file's folder; NULL
 * if there are two. */
const struct claim *defined_claim_find(void *context, uint32_t file,
				       const char *namespace, const char *name,
				       bool template);
/* Returns the only matching runtime in the files; NULL if two differ. */
const struct runtime *defined_runtime_find(void *context,
					   const struct object *object,
					   const char *kind, const char *name);
/*
 * True if the finding repeats one about a runtime of another file, as it was
 * before any fix: a fix of a value that a pod has from a runtime belongs to the
 * runtime.
 */
bool defined_runtime_repeats(void *context, const struct finding *finding);
/* Returns the MutatingAdmissionPolicies and their bindings in the files, or
 * NULL. */
const struct admission_policies *defined_mutations(void *context);

#endif
