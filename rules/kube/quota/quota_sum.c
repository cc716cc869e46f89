/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quotas against all workloads of a set: one walk over the workloads adds each
 * to the quotas of its namespace. Embedded objects are counted with their
 * owner, and only the first of two equal objects counts. A workload that is
 * suspended, or waits in a queue of Kueue, does not count because it has no
 * pods yet.
 */
#include "kube/quota/quota.h"

struct sums {
	const struct object_index *index;
	struct quota_sum *items;
	size_t n;
	size_t *first; /* by quota: the index of its first item; one more at the
			  end */
};

static void list_sums(struct sums *sums, const struct accelerator_extra *extra,
		      struct arena *arena)
{
	const struct object_index *index = sums->index;
	size_t most = 0;

	for (size_t q = 0; q < index->nquotas; q++)
		most += index->quotas[q].nhard;
	sums->items = ARENA_ARRAY(arena, struct quota_sum, most);
	sums->first = ARENA_ARRAY(arena, size_t, index->nquotas + 1);
	for (size_t q = 0; q < index->nquotas; q++) {
		const struct quota *quota = &index->quotas[q];

		for (size_t i = 0; i < quota->nhard; i++) {
			const struct resource_amount *hard = &quota->hard[i];
			const char *resource = quota_accelerator(extra, hard);

			if (resource && !hard->unknown)
				sums->items[sums->n++] = (struct quota_sum){
					.quota = quota,
					.hard = hard,
					.resource = resource,
				};
		}
		sums->first[q + 1] = sums->n;
	}
}

static void add_workload(struct quota_sum *sum, const struct workload *w,
			 size_t index)
{
	struct demand demand = workload_demand(w, sum->quota, sum->resource);

	if (demand.peak.nano == 0)
		return;
	sum->steady = quantity_add(sum->steady, demand.steady);
	if (!sum->workloads++ ||
	    quantity_cmp(demand.steady, sum->largest_demand) > 0) {
		sum->largest = index;
		sum->largest_demand = demand.steady;
	}
}

static void add_to_all(struct sums *sums, const struct workload *w,
		       size_t index)
{
	size_t n, at;
	const struct quota *quotas = index_own_quotas(sums->index, w, &n);

	if (!n || w->child || w->duplicate_of || w->suspended || w->kueue)
		return;
	at = (size_t)(quotas - sums->index->quotas);
	for (size_t i = sums->first[at]; i < sums->first[at + n]; i++)
		add_workload(&sums->items[i], w, index);
}

struct quota_sum *quota_sums(const struct object_index *index,
			     const struct accelerator_extra *extra,
			     struct arena *arena, size_t *n)
{
	struct sums sums = {.index = index};
	struct workload_cursor cursor = {.choice = WORKLOADS_WITH_QUOTA};
	const struct workload *w;

	list_sums(&sums, extra, arena);
	while (sums.n && (w = workload_next(index, &cursor)))
		add_to_all(&sums, w, cursor.next - 1);
	*n = sums.n;
	return sums.items;
}
