/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of `gpugate snapshot`. */
#ifndef LINT_SNAPSHOT_H
#define LINT_SNAPSHOT_H

#include <pthread.h>

#include "base/buf.h"
#include "base/err.h"
#include "kube/cluster/cluster.h"
#include "lint/options/options.h"

enum asked {
	ASKED_WELL,
	ASKED_ABSENT,	/* the server does not have the kind */
	ASKED_REFUSED,	/* forbidden, or the response cannot be used */
	ASKED_TOO_LATE, /* the list expired while it was read */
	ASKED_AGAIN,	/* read the list again, in one piece */
	ASKED_NOBODY,	/* kubectl or the server cannot be reached */
};

struct snapshot {
	const struct options *options;
	struct cluster_builder *builder;
	pthread_mutex_t *lock; /* protects the builder */
	struct buf answer, reason;
	size_t read; /* number of kinds that were read */
};

/* Takes a complete snapshot, for `gpugate snapshot` and for a cluster that is
 * named in place of a file. Returns 0, or 2 after messages. */
int snapshot_take(const struct options *options, struct cluster **cluster);

/* -- snapshot_kubectl.c -- */
/* Runs kubectl with these arguments (NULL-terminated). Stores its output in
 * answer, or sets reason after an error. */
enum asked snapshot_run(struct snapshot *snapshot,
			const char *const *arguments);
/* Runs kubectl like snapshot_run(), with `get --raw PATH`. */
enum asked snapshot_get(struct snapshot *snapshot, const char *path);
/* Adds all objects of the list at path to the builder. */
enum asked snapshot_list(struct snapshot *snapshot, enum cluster_kind kind,
			 const char *path);
/* Adds the single object at path to the builder. */
enum asked snapshot_one(struct snapshot *snapshot, const char *path);

/* snapshot_owners.c: reads the owners of GPU pods' owners. */
void snapshot_owners(struct snapshot *snapshot);
/* snapshot_admission.c: reads the cluster's admission policies. */
void snapshot_admission(struct snapshot *snapshot);
/* snapshot_policy.c: reads the admission policy, if possible. Returns 2 after a
 * message if the policy named by the user cannot be read. */
int snapshot_policy(struct snapshot *snapshot, struct buf *out);

/*
 * Calls kubectl as --kubectl, --context and --kubeconfig select it.
 */

/* Runs kubectl with these arguments (NULL-terminated). Appends its standard
 * output to out and its standard error to errors. Returns its exit status, or
 * -1 with err set. */
int kubectl_run(const struct options *options, const char *const *arguments,
		struct buf *out, struct buf *errors, struct err *err);
/* Rejects values that are empty or look like an option: the user forgot a
 * value, and kubectl would take the next option for it. Returns 0, or 2 after a
 * message. */
int kubectl_check(const struct options *options, const char *command);

#endif
