/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of a run: the workloads of its files, the quotas of the same files
 * and of the cluster state of each file.
 */
#include "lint/term/log.h"
#include "quota.h"

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
		maker->changed && maker->changed(maker->context, out->path);
}

static void add_idle(struct making *m, const struct quota_source *source)
{
	const struct quota_maker *maker = m->maker;
	struct policies *policies = maker->policies;
	uint32_t here = policies_find(policies, policies->cwd);
	struct quota_idle idle = {.index = source->quotas,
				  .extra = source->extra,
				  .cluster = maker->clusters->common,
				  .all = maker->all};
	const char *reason =
		quota_unknown(maker->clusters, policies->items[here].policy,
			      idle.cluster, false, &m->table->arena);

	if (reason)
		idle.cluster = NULL;
	if (reason && (idle.all || m->table->only))
		log_line("the quotas of the cluster are not known: %s", reason);
	quota_table_idle(m->table, &idle);
}

void quota_table_make(struct quota_table *table,
		      const struct quota_maker *maker)
{
	const struct policy *policy = maker->policies->items[0].policy;
	struct making m = {.maker = maker, .table = table};
	struct quota_source source = {
		.index = maker->index,
		.quotas = maker->index,
		.extra = &policy_kube(policy)->accelerators,
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
