/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cluster states of a run: the one of --cluster, and those that `paths:` of a
 * policy names. Each file is read once, by the first thread that needs it.
 */
#ifndef LINT_CLUSTERS_H
#define LINT_CLUSTERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/admission_policy.h"
#include "kube/cluster/cluster.h"
#include "policies.h"

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

#endif
