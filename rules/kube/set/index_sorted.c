/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts lists after all files are read: policy objects by namespace or name,
 * without duplicates, the others by their places. Finds policy objects, and
 * passes each object that a cluster can contain only once to a function.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "index_internal.h"
#include "kube/cluster/cluster.h"
#include "kube/object.h"

static int cmp_places(const struct place *a, const struct place *b)
{
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return (a->start > b->start) - (a->start < b->start);
}

/* First members of the structs of all policy facts. */
struct policy_fact {
	struct object_id id;
	struct place place;
	uint64_t content;
	const struct cluster *cluster;
	uint32_t set;
};

#define IS_POLICY_FACT(type)                                                   \
	_Static_assert(offsetof(type, id) == 0 &&                              \
			       offsetof(type, set) ==                          \
				       offsetof(struct policy_fact, set),      \
		       #type)
IS_POLICY_FACT(struct quota);
IS_POLICY_FACT(struct limit_range);
IS_POLICY_FACT(struct priority_class);

static int by_content(const void *a, const void *b)
{
	const struct policy_fact *x = a, *y = b;

	if (x->content != y->content)
		return x->content < y->content ? -1 : 1;
	if (x->set != y->set)
		return x->set < y->set ? -1 : 1;
	return cmp_places(&x->place, &y->place);
}

static int cmp_clusters(const struct policy_fact *a,
			const struct policy_fact *b)
{
	uint64_t x = a->cluster ? cluster_serial(a->cluster) : 0;
	uint64_t y = b->cluster ? cluster_serial(b->cluster) : 0;

	return (x > y) - (x < y);
}

static int cmp_sets(const struct policy_fact *a, const struct policy_fact *b)
{
	int c = cmp_clusters(a, b);

	return c ? c : (a->set > b->set) - (a->set < b->set);
}

static int of_namespace(const void *a, const void *b)
{
	const struct policy_fact *x = a, *y = b;
	int c = strcmp(x->id.namespace, y->id.namespace);

	return c ? c : cmp_sets(x, y);
}

static int by_namespace(const void *a, const void *b)
{
	const struct policy_fact *x = a, *y = b;
	int c = of_namespace(a, b);

	return c ? c : cmp_places(&x->place, &y->place);
}

static int of_name_in_any_set(const void *a, const void *b)
{
	const struct policy_fact *x = a, *y = b;
	int c = strcmp(x->id.name, y->id.name);

	return c ? c : cmp_clusters(x, y);
}

static int of_name(const void *a, const void *b)
{
	const struct policy_fact *x = a, *y = b;
	int c = strcmp(x->id.name, y->id.name);

	return c ? c : cmp_sets(x, y);
}

static int by_name(const void *a, const void *b)
{
	const struct policy_fact *x = a, *y = b;
	int c = of_name(a, b);

	return c ? c : cmp_places(&x->place, &y->place);
}

/* --- removing duplicates -------------------------------------------------- */

/* Sets the set of each item, removes items that are equal to an earlier one,
 * and sorts the others. Returns their number. */
static size_t keep_first(const struct object_index *set, void *items, size_t n,
			 size_t size,
			 int (*order)(const void *a, const void *b))
{
	char *all = items;
	size_t kept = 1;

	if (!n)
		return 0;
	for (size_t i = 0; i < n; i++) {
		struct policy_fact *fact = (void *)(all + i * size);

		fact->set = index_file_set(set, fact->place.file);
	}
	qsort(items, n, size, by_content);
	for (size_t i = 1; i < n; i++) {
		const struct policy_fact *last =
			(const void *)(all + (kept - 1) * size);
		const struct policy_fact *next = (const void *)(all + i * size);

		if (last->content == next->content && last->set == next->set)
			continue;
		if (i != kept)
			memcpy(all + kept * size, next, size);
		kept++;
	}
	qsort(items, kept, size, order);
	return kept;
}

/* Compares the places at the offset in two items. */
static int by_place(const void *a, const void *b, void *offset)
{
	const size_t *at = offset;

	return cmp_places((const void *)((const char *)a + *at),
			  (const void *)((const char *)b + *at));
}

static void sort_by_place(void *items, size_t n, size_t size, size_t offset)
{
	if (n)
		qsort_r(items, n, size, by_place, &offset);
}

/* Sorts a list, so that it does not depend on which thread read which file. */
#define SORT_BY_PLACE(set, list, place)                                        \
	sort_by_place((set)->list, (set)->n##list, sizeof(*(set)->list),       \
		      offsetof(__typeof__(*(set)->list), place))

void index_sort_policies(struct object_index *set)
{
	SORT_BY_PLACE(set, requests, place);
	SORT_BY_PLACE(set, scalers, place);
	SORT_BY_PLACE(set, services, selector_place);
	SORT_BY_PLACE(set, configs, place);
	SORT_BY_PLACE(set, groups, place);
	SORT_BY_PLACE(set, routes, name_place);
	for (size_t i = 0; i < set->nnamed; i++)
		set->named[i].set =
			index_file_set(set, set->named[i].place.file);
	set->nquotas = keep_first(set, set->quotas, set->nquotas,
				  sizeof(*set->quotas), by_namespace);
	set->nlimit_ranges =
		keep_first(set, set->limit_ranges, set->nlimit_ranges,
			   sizeof(*set->limit_ranges), by_namespace);
	set->nclasses = keep_first(set, set->classes, set->nclasses,
				   sizeof(*set->classes), by_name);
}

/* --- look-ups ------------------------------------------------------------- */

/* Finds the adjacent items with this key among *n items. Sets *n to their
 * number; returns NULL if there are none. */
static const void *find_fact(const void *items, size_t *n, size_t size,
			     const struct policy_fact *key,
			     int (*of_key)(const void *item, const void *key))
{
	size_t i = *n ? array_first(items, *n, size, key, of_key) : 0;
	size_t end = i;

	while (end < *n && !of_key((const char *)items + end * size, key))
		end++;
	*n = end - i;
	return *n ? (const char *)items + i * size : NULL;
}

static struct policy_fact fact_of(const struct object_index *set,
				  const struct workload *w, const char *name)
{
	return (struct policy_fact){.id.namespace = w->id.namespace,
				    .id.name = name,
				    .cluster = w->cluster,
				    .set = index_set_of(set, w)};
}

const struct quota *index_own_quotas(const struct object_index *set,
				     const struct workload *w, size_t *n)
{
	const struct policy_fact key = fact_of(set, w, "");

	*n = *w->id.namespace ? set->nquotas : 0;
	return find_fact(set->quotas, n, sizeof(*set->quotas), &key,
			 of_namespace);
}

const struct limit_range *index_own_limit_ranges(const struct object_index *set,
						 const struct workload *w,
						 size_t *n)
{
	const struct policy_fact key = fact_of(set, w, "");

	*n = *w->id.namespace ? set->nlimit_ranges : 0;
	return find_fact(set->limit_ranges, n, sizeof(*set->limit_ranges), &key,
			 of_namespace);
}

/* Finds a class in the workload's set, or else in another set: files next to
 * the clusters' folders define objects for all clusters. */
const struct priority_class *index_own_class(const struct object_index *set,
					     const struct workload *w,
					     const char *name)
{
	const struct policy_fact key = fact_of(set, w, name);
	size_t own = *name ? set->nclasses : 0, any = own;
	const struct priority_class *found = find_fact(
		set->classes, &own, sizeof(*set->classes), &key, of_name);

	return found ? found
		     : find_fact(set->classes, &any, sizeof(*set->classes),
				 &key, of_name_in_any_set);
}

/* --- objects that exist once in a cluster --------------------------------- */

static uint64_t hash_of(const struct object_index *set,
			const struct policy_fact *fact)
{
	return object_id_hash(&fact->id, &set->index->identity);
}

void object_index_each(const struct object_index *set,
		       void (*each)(void *context, uint64_t what,
				    uint32_t file),
		       void *context)
{
	static const struct object_id none = {"", "PriorityClass", "", ""};

	workload_index_each(set, each, context);
	for (size_t i = 0; i < set->nquotas; i++)
		each(context, hash_of(set, (const void *)&set->quotas[i]),
		     set->quotas[i].place.file);
	for (size_t i = 0; i < set->nlimit_ranges; i++)
		each(context, hash_of(set, (const void *)&set->limit_ranges[i]),
		     set->limit_ranges[i].place.file);
	for (size_t i = 0; i < set->nclasses; i++)
		if (set->classes[i].global_default)
			each(context,
			     object_id_hash(&none, &set->index->identity),
			     set->classes[i].place.file);
}
