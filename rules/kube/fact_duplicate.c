/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same object twice in a set is one object for the cluster: (group, kind,
 * namespace, name), whatever its version. The first by path counts.
 */
#include <stdlib.h>
#include <string.h>

#include "kube/fact.h"

static int cmp_group(const char *a, const char *b)
{
	const char *slash_a = strchr(a, '/'), *slash_b = strchr(b, '/');
	size_t n = slash_a ? (size_t)(slash_a - a) : 0;
	size_t m = slash_b ? (size_t)(slash_b - b) : 0;
	int c = memcmp(a, b, n < m ? n : m);

	return c ? c : (n > m) - (n < m);
}

static int cmp_id(const struct object_id *a, const struct object_id *b)
{
	int c = strcmp(a->name, b->name);

	if (!c)
		c = strcmp(a->namespace, b->namespace);
	if (!c)
		c = strcmp(a->kind, b->kind);
	return c ? c : cmp_group(a->api_version, b->api_version);
}

/* By identity, then by the order of the set. */
static int cmp_workload(const void *a, const void *b)
{
	const struct workload *x = *(struct workload *const *)a;
	const struct workload *y = *(struct workload *const *)b;
	int c = cmp_id(&x->id, &y->id);

	return c ? c : (x > y) - (x < y);
}

static bool identified(const struct workload *w)
{
	return *w->id.name && *w->id.namespace && !w->child;
}

void fact_set_find_duplicates(struct fact_set *set)
{
	struct workload **order = ARENA_ARRAY(&set->arena, struct workload *,
					      set->nworkloads + 1);
	size_t first = 0;

	for (size_t i = 0; i < set->nworkloads; i++)
		order[i] = &set->workloads[i];
	if (set->nworkloads)
		qsort(order, set->nworkloads, sizeof(*order), cmp_workload);
	for (size_t i = 1; i < set->nworkloads; i++) {
		if (cmp_id(&order[i]->id, &order[first]->id)) {
			first = i;
			continue;
		}
		if (identified(order[i]) && identified(order[first]))
			order[i]->duplicate_of =
				(uint32_t)(order[first] - set->workloads) + 1;
	}
}
