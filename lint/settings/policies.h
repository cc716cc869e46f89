/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policies of a run: the nearest .gpugate.yaml of each folder, or the file
 * of --config, combined with the options of the command line and the admission
 * policy of --policy (floor). All are loaded before threads start; only
 * variants with the preset of a `paths:` entry are made later, under a lock.
 */
#ifndef LINT_POLICIES_H
#define LINT_POLICIES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "engine/policy.h"
#include "lint/options/options.h"

/* Index of the policy of files without a .gpugate.yaml in their folder or above
 * it, and of all files if the command line names a policy. */
enum { POLICY_DEFAULT = 0 };

struct policy_entry {
	const char *path; /* path of the file; "" for the default policy */
	/* absolute path of its folder, to which globs are relative */
	const char *folder;
	struct policy *own;    /* policy as loaded */
	struct policy *policy; /* effective policy */
	/* Variants with presets of `paths:`, as a linked list. */
	struct policy_variant {
		const char *preset;
		struct policy *policy;
		struct policy_variant *next;
	} * variants;
};

struct policies {
	struct arena arena;
	const struct options *options;
	struct rule_set rules;
	const char *cwd;
	struct policy *floor;
	struct policy_entry *items;
	size_t n, size;
	/* paths of .gpugate.yml files that were reported */
	const char **misnamed;
	size_t nmisnamed, misnamed_size;
	bool broken; /* a policy has errors, which were printed */
	pthread_mutex_t lock;
};

/* Prints problems to standard error. */
void problems_print(const struct options *options,
		    const struct policy_problems *problems);
/* Returns 0, or 2 after messages. */
int policies_init(struct policies *policies, const struct options *options,
		  const char *cwd);
void policies_release(struct policies *policies);
/* Returns the effective policy for `own`, with the options of the command line
 * and the floor applied. own must outlive it. Returns NULL after a message. */
struct policy *policies_adjust(struct policies *policies,
			       const struct policy *own, const char *preset);
/* Returns the index of the policy in the file at path (as shown), which is
 * loaded once. */
uint32_t policies_load(struct policies *policies, const char *path);
/* Finds the problems of a text as if it were the policy file of that name. */
void policies_check(struct policies *policies, const struct policy_text *text,
		    struct policy_problems *problems);
/* Reports a .gpugate.yml in the absolute folder, which is not read, once. */
void policies_note_misnamed(struct policies *policies, const char *folder);
/* Returns the index of the policy in the nearest .gpugate.yaml, in the absolute
 * folder or above it; or POLICY_DEFAULT. */
uint32_t policies_find(struct policies *policies, const char *folder);

/* After all policies are loaded: checks the names of rules on the command line.
 * Returns 0, or 2 after messages about them or about a policy. */
int policies_ready(struct policies *policies);

/* True if the policy excludes the file at this absolute path. */
bool policies_exclude(const struct policies *policies, uint32_t index,
		      const char *path);
const struct policy *policies_for_file(struct policies *policies,
				       uint32_t index, const char *path,
				       struct policy_path_rule *rule);

#endif
