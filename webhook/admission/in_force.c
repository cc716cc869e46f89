/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds the effective policy and cluster state. The policy is in a
 * reference-counted box: a review takes a reference under a lock that is held
 * only for a moment, and drops it at the end, so that neither a reload nor a
 * review waits for the other.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "judge.h"
#include "review_context.h"

struct admission *admission_new(const struct admission_options *options)
{
	struct admission *admission = calloc(1, sizeof(*admission));

	if (!admission)
		OUT_OF_MEMORY();
	/* jansson creates its hash seed on first use, which two threads must
	 * not do at the same time. */
	json_object_seed(0);
	admission->options = *options;
	pthread_mutex_init(&admission->lock, NULL);
	if (options->reservations)
		admission->reserve = reserve_new();
	return admission;
}

/* --- the policy ----------------------------------------------------------- */

void box_drop(struct admission *admission, struct policy_box *box)
{
	unsigned left;

	if (!box)
		return;
	pthread_mutex_lock(&admission->lock);
	left = --box->references;
	pthread_mutex_unlock(&admission->lock);
	if (left)
		return;
	policy_free(box->policy);
	free(box);
}

struct policy_box *box_take(struct admission *admission,
			    const struct cluster **cluster)
{
	struct policy_box *box;

	pthread_mutex_lock(&admission->lock);
	box = admission->box;
	if (box)
		box->references++;
	*cluster = box ? cluster_get(admission->cluster) : NULL;
	pthread_mutex_unlock(&admission->lock);
	return box;
}

void admission_set_cluster(struct admission *admission,
			   const struct cluster *cluster)
{
	const struct cluster *old;

	pthread_mutex_lock(&admission->lock);
	old = admission->cluster;
	admission->cluster = cluster;
	pthread_mutex_unlock(&admission->lock);
	cluster_put(old);
}

bool review_renew_state(struct review_context *ctx)
{
	struct admission *admission = ctx->worker->admission;
	const struct cluster *old = ctx->cluster;
	bool newer;

	pthread_mutex_lock(&admission->lock);
	ctx->cluster = cluster_get(admission->cluster);
	pthread_mutex_unlock(&admission->lock);
	newer = ctx->cluster &&
		(!old || cluster_serial(ctx->cluster) != cluster_serial(old));
	cluster_put(old);
	return newer;
}

void admission_set_asker(struct admission *admission,
			 const struct admission_asker *asker)
{
	admission->asker = *asker;
}

const struct admission_asker *review_asker(const struct review_context *ctx)
{
	return &ctx->worker->admission->asker;
}

void admission_set_policy(struct admission *admission, struct policy *policy)
{
	struct policy_box *box = calloc(1, sizeof(*box)), *old;

	if (!box)
		OUT_OF_MEMORY();
	box->policy = policy;
	box->references = 1;
	snprintf(box->hash, sizeof(box->hash), "%016llx",
		 (unsigned long long)policy_hash(policy));
	pthread_mutex_lock(&admission->lock);
	old = admission->box;
	__atomic_store_n(&admission->box, box, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&admission->lock);
	box_drop(admission, old);
}

/* Returns the maximum age of the state in seconds, or 0 if it is unlimited. The
 * caller holds the lock. */
static int64_t max_age(const struct admission *admission)
{
	int64_t wanted =
		admission->box ? policy_max_age(admission->box->policy) : 0;

	return wanted ? wanted : admission->options.state_max_age;
}

int64_t admission_max_age(struct admission *admission)
{
	int64_t age;

	pthread_mutex_lock(&admission->lock);
	age = max_age(admission);
	pthread_mutex_unlock(&admission->lock);
	return age;
}

const char *admission_state_unused(struct admission *admission, int64_t now)
{
	const struct cluster *cluster;
	const char *reason = NULL;
	int64_t most;

	pthread_mutex_lock(&admission->lock);
	cluster = admission->cluster;
	most = max_age(admission);
	if (!cluster)
		reason = "there is none yet";
	else if (cluster_is_ahead(cluster, now))
		reason = "its time is in the future";
	else if (most && now - cluster_taken_at(cluster) > most)
		reason = "it is too old";
	pthread_mutex_unlock(&admission->lock);
	return reason;
}

bool admission_has_policy(const struct admission *admission)
{
	/* A policy can be replaced but never removed. */
	return __atomic_load_n(&admission->box, __ATOMIC_ACQUIRE) != NULL;
}

void admission_free(struct admission *admission)
{
	if (!admission)
		return;
	box_drop(admission, admission->box);
	cluster_put(admission->cluster);
	reserve_free(admission->reserve);
	pthread_mutex_destroy(&admission->lock);
	free(admission);
}
