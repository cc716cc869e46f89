/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes the cluster state from which quotas are read: its age, and the
 * reason if it contains no quotas.
 */
#include "quota.h"

#include <inttypes.h>

/* Adds an age such as "82 days". */
static void add_age(struct buf *out, int64_t seconds)
{
	static const struct {
		const char *name;
		int64_t seconds;
	} units[] = {{"days", 86400}, {"hours", 3600}, {"minutes", 60}};
	size_t i = 0;

	while (i < 2 && seconds < 2 * units[i].seconds)
		i++;
	buf_addf(out, "%" PRId64 " %s", seconds / units[i].seconds,
		 units[i].name);
}

void quota_add_state(struct buf *out, const struct quota_table *t)
{
	const char *server = cluster_server(t->cluster);

	buf_adds(out, "cluster snapshot is ");
	add_age(out, t->now - cluster_taken_at(t->cluster));
	buf_addf(out, " old%s%s", *server ? ", " : "", server);
}

static const char *age_of(const struct clusters *clusters,
			  const struct cluster *cluster, struct arena *arena)
{
	const char *text;
	struct buf age;

	if (cluster_is_ahead(cluster, clusters->now))
		return "the time of the snapshot is in the future";
	buf_init(&age);
	add_age(&age, clusters->now - cluster_taken_at(cluster));
	text = arena_printf(arena, "the snapshot is %s old", age.data);
	buf_release(&age);
	return text;
}

const char *quota_unknown(const struct clusters *clusters,
			  const struct policy *policy,
			  const struct cluster *cluster, bool wanted,
			  struct arena *arena)
{
	const char *reason;

	if (!cluster)
		return wanted ? "the snapshot could not be read" : NULL;
	if (clusters_is_old(clusters, cluster, policy_max_age(policy)))
		return age_of(clusters, cluster, arena);
	reason = cluster_unreadable(cluster, CLUSTER_QUOTA);
	return reason ? arena_printf(arena,
				     "the snapshot has no resourcequotas: %s",
				     reason)
		      : NULL;
}
