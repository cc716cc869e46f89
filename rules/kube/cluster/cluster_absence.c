/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records look-ups that found nothing. The record belongs to the thread, so
 * that look-up functions need no parameter for it.
 */
#include <string.h>

#include "base/text.h"
#include "kube/cluster/cluster.h"

static _Thread_local struct cluster_absences *recorded;

void cluster_absences_record(struct cluster_absences *absences)
{
	recorded = absences;
}

bool cluster_absence_same(const struct cluster_absence *a,
			  const struct cluster_absence *b)
{
	return a->kind == b->kind && !strcmp(a->namespace, b->namespace) &&
	       text_eq(a->name, b->name);
}

/* Returns the index of the absence, which is added if it is new;
 * CLUSTER_ABSENCES if the record is full. */
static size_t record(struct cluster_absences *all,
		     const struct cluster_absence *one)
{
	size_t i = 0;

	while (i < all->n && !cluster_absence_same(&all->items[i], one))
		i++;
	if (i < all->n || i == CLUSTER_ABSENCES)
		return i;
	all->items[i] = (struct cluster_absence){
		one->kind, arena_strdup(all->arena, one->namespace),
		one->name ? arena_strdup(all->arena, one->name) : NULL};
	return all->n++;
}

void cluster_absent(const struct cluster *cluster, enum cluster_kind kind,
		    const char *namespace, const char *name)
{
	const struct cluster_absence one = {kind, namespace, name};

	if (recorded && kind < CLUSTER_NODE &&
	    !cluster_unreadable(cluster, kind))
		recorded->touched |= UINT32_C(1) << record(recorded, &one);
}
