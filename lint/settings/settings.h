/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of a run: policies, snapshots of clusters, and admission
 * policies.
 */
#ifndef LINT_SETTINGS_H
#define LINT_SETTINGS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "engine/admission_policy.h"
#include "engine/policy.h"
#include "engine/run.h"
#include "kube/cluster/cluster.h"
#include "lint/options/options.h"

/*
 * The policies of a run: the nearest .gpugate.yaml of each folder, or the file
 * of --config, combined with the options of the command line and the admission
 * policy of --policy (floor). All are loaded before threads start; only
 * variants with the preset of a `paths:` entry are made later, under a lock.
 */

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

/*
 * Cluster states of a run: the one of --cluster, and those that `paths:` of a
 * policy names. Each file is read once, by the first thread that needs it.
 */

struct clusters {
	pthread_mutex_t lock;
	struct cluster_entry {
		char *path;
		const struct cluster *cluster; /* NULL: it could not be read */
		/* Admission policies of that cluster, or NULL. */
		struct admission_policies *admission;
		bool reported_old;
	} * items;
	size_t n, size;
	/* State of --cluster, or of a cluster that was read; or NULL. */
	const struct cluster *common;
	int64_t now;
	bool failed; /* a state could not be read, which was reported */
	bool quiet;
};

/* Loads the state of --cluster, or takes options->asked. Returns 0, or 2 after
 * a message. */
int clusters_init(struct clusters *clusters, const struct options *options);
void clusters_release(struct clusters *clusters);
/* Returns the snapshot for a file with that policy. This is the snapshot of
 * --cluster, or else the one at path, which the entry of `paths:` for the file
 * names (NULL: none). Returns NULL without a snapshot, or if it cannot be
 * read. */
const struct cluster *clusters_for_file(struct clusters *clusters,
					const struct policies *policies,
					uint32_t policy, const char *path);
/* Returns the admission policies of the cluster, or NULL. */
const struct admission_policies *
clusters_admission(struct clusters *clusters, const struct cluster *cluster);
/*
 * True if the snapshot is older than max seconds (0: no limit), or from the
 * future.
 */
bool clusters_is_old(const struct clusters *clusters,
		     const struct cluster *cluster, int64_t max);
/* Warns about a state for which clusters_is_old() is true, once for each
 * state. */
void clusters_check_age(struct clusters *clusters,
			const struct cluster *cluster, int64_t max);

/*
 * The cluster's admission policies from --admission-policy, and the requesting
 * user from --as and --as-group.
 */

struct admission_settings {
	struct arena arena;
	struct admission_policies *set; /* NULL: the option is not given */
	/* Namespaces in the linted files, or NULL. */
	struct admission_policies *namespaces;
	const char *const *groups;
};

/* Reads the policies and the user. Returns 0, or 2 after messages. */
int admission_settings_open(struct admission_settings *settings,
			    const struct options *options);
/* Compiles the policies, if there are any. Returns 0, or 2 after messages. */
int admission_settings_finish(struct admission_settings *settings,
			      const struct options *options);
void admission_settings_release(struct admission_settings *settings);

#endif
