/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Once all files are read: policy objects, each once, in an order in which they
 * are found by namespace or name.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "index_internal.h"
#include "kube/cluster/cluster.h"
#include "kube/identity.h"

static int cmp_places(const struct place *a, const struct place *b)
{
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return (a->start > b->start) - (a->start < b->start);
}

/* All policy facts begin so. */
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

	if (x != y)
		return (x > y) - (x < y);
	if (a->set != b->set)
		return a->set < b->set ? -1 : 1;
	return cmp_places(&a->place, &b->place);
}

static int by_namespace(const void *a, const void *b)
{
	const struct policy_fact *x = a, *y = b;
	int c = strcmp(x->id.namespace, y->id.namespace);

	return c ? c : cmp_clusters(x, y);
}

static int by_name(const void *a, const void *b)
{
	const struct policy_fact *x = a, *y = b;
	int c = strcmp(x->id.name, y->id.name);

	return c ? c : cmp_clusters(x, y);
}

/* --- once each ------------------------------------------------------------ */

/* Of those that say the same the first, in order; returns their number. */
static size_t keep_first(void *items, size_t n, size_t size,
			 int (*order)(const void *a, const void *b))
{
	char *all = items;
	size_t kept = 1;

	if (!n)
		return 0;
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

static void note_sets(struct object_index *set)
{
	for (size_t i = 0; i < set->nnamed; i++)
		set->named[i].set =
			index_file_set(set, set->named[i].place.file);
	for (size_t i = 0; i < set->nquotas; i++)
		set->quotas[i].set =
			index_file_set(set, set->quotas[i].place.file);
	for (size_t i = 0; i < set->nlimit_ranges; i++)
		set->limit_ranges[i].set =
			index_file_set(set, set->limit_ranges[i].place.file);
	for (size_t i = 0; i < set->nclasses; i++)
		set->classes[i].set =
			index_file_set(set, set->classes[i].place.file);
}

void index_sort_policies(struct object_index *set)
{
	note_sets(set);
	set->nquotas = keep_first(set->quotas, set->nquotas,
				  sizeof(*set->quotas), by_namespace);
	set->nlimit_ranges =
		keep_first(set->limit_ranges, set->nlimit_ranges,
			   sizeof(*set->limit_ranges), by_namespace);
	set->nclasses = keep_first(set->classes, set->nclasses,
				   sizeof(*set->classes), by_name);
}

/* --- finding them --------------------------------------------------------- */

struct row_range {
	const char *first;
	size_t n;
};

struct wanted {
	size_t size; /* of an item */
	const char *(*text)(const struct policy_fact *item);
	const char *is;
	const struct cluster *cluster;
	uint32_t set;
	bool of_any_set;
};

static bool belongs(const char *item, const struct wanted *want)
{
	const struct policy_fact *fact = (const void *)item;

	return fact->cluster == want->cluster &&
	       (want->of_any_set || fact->set == want->set);
}

/* Those of the range that belong to the cluster and the set are adjacent. */
static struct row_range narrow(struct row_range range,
			       const struct wanted *want)
{
	while (range.n && !belongs(range.first, want)) {
		range.first += want->size;
		range.n--;
	}
	while (range.n &&
	       !belongs(range.first + (range.n - 1) * want->size, want))
		range.n--;
	return range;
}

/* Items whose text is the wanted one; they are sorted by it. */
static struct row_range find(const void *items, size_t n,
			     const struct wanted *want)
{
	const char *all = items;
	size_t low = 0, high = n;
	struct row_range range = {NULL, 0};

#define TEXT(i) want->text((const void *)(all + (i)*want->size))
	if (!*want->is)
		return range;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(TEXT(middle), want->is) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	while (low + range.n < n && !strcmp(TEXT(low + range.n), want->is))
		range.n++;
#undef TEXT
	if (range.n)
		range.first = all + low * want->size;
	return narrow(range, want);
}

static const char *namespace_of(const struct policy_fact *fact)
{
	return fact->id.namespace;
}

static const char *name_of(const struct policy_fact *fact)
{
	return fact->id.name;
}

const struct quota *index_own_quotas(const struct object_index *set,
				     const struct workload *w, size_t *n)
{
	const struct wanted want = {sizeof(*set->quotas), namespace_of,
				    w->id.namespace,	  w->cluster,
				    index_set_of(set, w), false};
	struct row_range range = find(set->quotas, set->nquotas, &want);

	*n = range.n;
	return (const void *)(range.n ? range.first : NULL);
}

const struct limit_range *index_own_limit_ranges(const struct object_index *set,
						 const struct workload *w,
						 size_t *n)
{
	const struct wanted want = {sizeof(*set->limit_ranges),
				    namespace_of,
				    w->id.namespace,
				    w->cluster,
				    index_set_of(set, w),
				    false};
	struct row_range range =
		find(set->limit_ranges, set->nlimit_ranges, &want);

	*n = range.n;
	return (const void *)(range.n ? range.first : NULL);
}

/* One of another set too: files beside the clusters' folders hold what all of
 * them have. */
const struct priority_class *index_own_class(const struct object_index *set,
					     const struct workload *w,
					     const char *name)
{
	struct wanted want = {sizeof(*set->classes), name_of, name, w->cluster,
			      index_set_of(set, w),  false};
	struct row_range range = find(set->classes, set->nclasses, &want);

	want.of_any_set = true;
	if (!range.n)
		range = find(set->classes, set->nclasses, &want);
	return (const void *)(range.n ? range.first : NULL);
}

/* --- what one cluster has once -------------------------------------------- */

static uint64_t hash_of(const struct object_index *set,
			const struct policy_fact *fact)
{
	return object_id_hash(&fact->id, &set->index->packed);
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
			     object_id_hash(&none, &set->index->packed),
			     set->classes[i].place.file);
}
