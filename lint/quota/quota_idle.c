/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quotas that no manifest asks anything of: rows without workloads, which show
 * what is free.
 */
#include <string.h>

#include "base/vec.h"
#include "quota.h"

/* Index_quotas() answers for a workload. */
static void add_namespace(struct quota_table *t, const struct quota_idle *idle,
			  const char *namespace, uint32_t file)
{
	const struct workload w = {.cluster = idle->cluster,
				   .id = {"", "", namespace, ""},
				   .place.file = file};
	size_t n;
	const struct quota *quotas = index_quotas(idle->index, &w, &n);

	if (t->only && strcmp(t->only, namespace) != 0)
		return;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < quotas[i].nhard; k++) {
			const struct resource_amount *hard = &quotas[i].hard[k];
			const char *resource =
				quota_accelerator(idle->extra, hard);

			if (resource && !hard->unknown)
				quota_table_add_idle(t, &quotas[i], hard, &w,
						     resource);
		}
}

void quota_table_idle(struct quota_table *t, const struct quota_idle *idle)
{
	const struct object_index *index = idle->index;
	const char *namespace;
	size_t cursor = 0;

	for (size_t i = 0; i < index->nquotas; i++)
		add_namespace(t, idle, index->quotas[i].id.namespace,
			      index->quotas[i].place.file);
	if (t->only)
		add_namespace(t, idle, t->only, NO_FILE);
	while (idle->all && idle->cluster &&
	       (namespace = cluster_next_namespace(idle->cluster, &cursor)))
		add_namespace(t, idle, namespace, NO_FILE);
}
