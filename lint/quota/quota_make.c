/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the table of a run from the workloads of its files, and the quotas of
 * these files and of each file's cluster state, which is described.
 */
#include <inttypes.h>
#include <string.h>

#include "lint/term/log.h"
#include "quota.h"

/*
 * Describes the cluster state from which quotas are read: its age, and the
 * reason if it contains no quotas.
 */

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

struct making {
	const struct quota_maker *maker;
	struct quota_table *table;
	struct buf path;
};

static void file_of(void *context, uint32_t file, struct quota_file *out)
{
	struct making *m = context;
	const struct quota_maker *maker = m->maker;
	const struct files *files = maker->files;
	uint32_t index = files->folders[files->items[file].folder].policy;
	struct policy_path_rule rule;
	const struct policy *policy =
		maker->policy_of(maker->context, file, &rule);
	const struct cluster *cluster = clusters_for_file(
		maker->clusters, maker->policies, index, rule.cluster);

	out->unknown = quota_unknown(maker->clusters, policy, cluster,
				     rule.cluster, &m->table->arena);
	buf_reset(&m->path);
	files_path(files, file, &m->path);
	out->path = m->path.data;
	out->changed =
		maker->changed && maker->changed(maker->since, out->path);
}

/* --- quotas without workloads --------------------------------------------- */

/* Adds a row for each quota of the namespace, which shows the free amount.
 * index_quotas() needs a workload, which is empty here. */
static void add_namespace(struct quota_table *t, const struct quota_source *s,
			  const struct cluster *cluster, const char *namespace,
			  uint32_t file)
{
	const struct workload w = {.cluster = cluster,
				   .id = {"", "", namespace, ""},
				   .place.file = file};
	size_t n;
	const struct quota *quotas = index_quotas(s->quotas, &w, &n);

	if (t->only && strcmp(t->only, namespace) != 0)
		return;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < quotas[i].nhard; k++) {
			const struct resource_amount *hard = &quotas[i].hard[k];
			const char *resource = quota_counted(s->extra, hard);

			if (resource && !hard->unknown)
				quota_table_add_idle(t, &quotas[i], hard, &w,
						     resource);
		}
}

/* Adds the quotas of the files, and those of the cluster for the namespace that
 * is shown, or for all. */
static void add_idle(struct making *m, const struct quota_source *source)
{
	const struct quota_maker *maker = m->maker;
	struct policies *policies = maker->policies;
	uint32_t here = policies_find(policies, policies->cwd);
	const struct object_index *index = source->quotas;
	const struct cluster *cluster = maker->clusters->common;
	struct quota_table *t = m->table;
	const char *namespace,
		*reason = quota_unknown(maker->clusters,
					policies->items[here].policy, cluster,
					false, &t->arena);
	size_t cursor = 0;

	if (reason)
		cluster = NULL;
	if (reason && (maker->all || t->only))
		log_line("the quotas of the cluster are not known: %s", reason);
	for (size_t i = 0; i < index->nquotas; i++)
		add_namespace(t, source, cluster, index->quotas[i].id.namespace,
			      index->quotas[i].place.file);
	if (t->only)
		add_namespace(t, source, cluster, t->only, NO_FILE);
	while (maker->all && cluster &&
	       (namespace = cluster_next_namespace(cluster, &cursor)))
		add_namespace(t, source, cluster, namespace, NO_FILE);
}

/* --- the complete table --------------------------------------------------- */

void quota_table_make(struct quota_table *table,
		      const struct quota_maker *maker)
{
	const struct policy *policy = maker->policies->items[0].policy;
	struct making m = {.maker = maker, .table = table};
	struct quota_source source = {
		.index = maker->index,
		.quotas = maker->index,
		.extra = &policy_kube(policy)->accelerators,
		.kubernetes = policy_platform(policy)->kubernetes,
		.file_of = file_of,
		.context = &m,
	};

	buf_init(&m.path);
	table->since = maker->changed != NULL;
	table->cluster = maker->clusters->common;
	table->now = maker->clusters->now;
	quota_table_add(table, &source);
	add_idle(&m, &source);
	buf_release(&m.path);
}
