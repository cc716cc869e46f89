/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The set as a whole, once all files are read: policy objects in an order in
 * which they are found by namespace or name, and what is asked of all
 * workloads together, so that no rule goes over all of them for each one.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "fact.h"
#include "kube/cluster.h"

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
};

#define IS_POLICY_FACT(type)                                                   \
	_Static_assert(offsetof(type, id) == 0 &&                              \
			       offsetof(type, cluster) ==                      \
				       offsetof(struct policy_fact, cluster),  \
		       #type)
IS_POLICY_FACT(struct quota);
IS_POLICY_FACT(struct limit_range);
IS_POLICY_FACT(struct priority_class);

static int by_content(const void *a, const void *b)
{
	const struct policy_fact *x = a, *y = b;

	if (x->content != y->content)
		return x->content < y->content ? -1 : 1;
	return cmp_places(&x->place, &y->place);
}

static int cmp_clusters(const struct policy_fact *a,
			const struct policy_fact *b)
{
	uint64_t x = a->cluster ? cluster_serial(a->cluster) : 0;
	uint64_t y = b->cluster ? cluster_serial(b->cluster) : 0;

	return x != y ? (x > y) - (x < y) : cmp_places(&a->place, &b->place);
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

		if (last->content == next->content)
			continue;
		if (i != kept)
			memcpy(all + kept * size, next, size);
		kept++;
	}
	qsort(items, kept, size, order);
	return kept;
}

static void sort_policies(struct fact_set *set)
{
	set->nquotas = keep_first(set->quotas, set->nquotas,
				  sizeof(*set->quotas), by_namespace);
	set->nlimit_ranges =
		keep_first(set->limit_ranges, set->nlimit_ranges,
			   sizeof(*set->limit_ranges), by_namespace);
	set->nclasses = keep_first(set->classes, set->nclasses,
				   sizeof(*set->classes), by_name);
}

/* --- finding them --------------------------------------------------------- */

struct range {
	const char *first;
	size_t n;
};

struct wanted {
	size_t size; /* of an item */
	const char *(*text)(const struct policy_fact *item);
	const char *is;
	const struct cluster *cluster;
};

/* Those of the range that belong to the cluster stand together. */
static struct range narrow(struct range range, const struct wanted *want)
{
	while (range.n &&
	       ((const struct policy_fact *)(const void *)range.first)
			       ->cluster != want->cluster) {
		range.first += want->size;
		range.n--;
	}
	while (range.n &&
	       ((const struct policy_fact *)(const void *)(range.first +
							   (range.n - 1) *
								   want->size))
			       ->cluster != want->cluster)
		range.n--;
	return range;
}

/* Items whose text is the wanted one; they are sorted by it. */
static struct range find(const void *items, size_t n, const struct wanted *want)
{
	const char *all = items;
	size_t low = 0, high = n;
	struct range range = {NULL, 0};

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

const struct quota *facts_own_quotas(const struct fact_set *set,
				     const struct workload *w, size_t *n)
{
	const struct wanted want = {sizeof(*set->quotas), namespace_of,
				    w->id.namespace, w->cluster};
	struct range range = find(set->quotas, set->nquotas, &want);

	*n = range.n;
	return (const void *)(range.n ? range.first : NULL);
}

const struct limit_range *facts_own_limit_ranges(const struct fact_set *set,
						 const struct workload *w,
						 size_t *n)
{
	const struct wanted want = {sizeof(*set->limit_ranges), namespace_of,
				    w->id.namespace, w->cluster};
	struct range range = find(set->limit_ranges, set->nlimit_ranges, &want);

	*n = range.n;
	return (const void *)(range.n ? range.first : NULL);
}

const struct priority_class *facts_own_class(const struct fact_set *set,
					     const struct workload *w,
					     const char *name)
{
	const struct wanted want = {sizeof(*set->classes), name_of, name,
				    w->cluster};
	struct range range = find(set->classes, set->nclasses, &want);

	return (const void *)(range.n ? range.first : NULL);
}

/* --- queues --------------------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
	const struct queue_fact *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/* Each once. */
static void sort_queues(struct fact_set *set)
{
	size_t kept = 0;

	if (set->nqueues)
		qsort(set->queues, set->nqueues, sizeof(*set->queues), by_id);
	for (size_t i = 0; i < set->nqueues; i++)
		if (!kept || set->queues[kept - 1].id != set->queues[i].id)
			set->queues[kept++] = set->queues[i];
	set->nqueues = kept;
}

bool facts_have_queue(const struct fact_set *set, const struct workload *w,
		      const struct object_id *id)
{
	struct queue_fact want;

	if (!set->nqueues)
		return false;
	want.id =
		fact_hash_in(fact_id_hash(id, &set->index->packed), w->cluster);
	return bsearch(&want, set->queues, set->nqueues, sizeof(want), by_id);
}

/* --- priority classes ----------------------------------------------------- */

/* The view of the cluster that c may come from does not last. */
static void note_server(struct fact_set *set, const struct workload *w,
			const struct priority_class *c)
{
	if (!c || c->value.unknown ||
	    (set->serving_class && c->value.n >= set->serving_value))
		return;
	set->serving_class = fact_text(&set->arena, c->id.name);
	set->serving_value = c->value.n;
	set->serving_cluster = w->cluster;
	set->server.api_version = fact_text(&set->arena, w->id.api_version);
	set->server.kind = fact_text(&set->arena, w->id.kind);
	set->server.namespace = fact_text(&set->arena, w->id.namespace);
	set->server.name = fact_text(&set->arena, w->id.name);
}

static void note_class(struct fact_set *set, const struct workload *w,
		       const struct workload_pod *pod)
{
	const char *name = pod->priority_class;
	const struct priority_class *c =
		name ? facts_own_class(set, w, name) : NULL;

	if (c && pod->gpu)
		set->classes[c - set->classes].used_by_gpu = true;
	if (name && w->serving)
		note_server(set, w, c ? c : facts_class(set, w, name));
}

static void note_classes(struct fact_set *set)
{
	struct workload_cursor cursor = {.choice = WORKLOADS_WITH_CLASS};
	const struct workload *w;
	/* Classes of a cluster matter where one workload has another beside. */
	bool known = set->nclasses || (set->clusters && set->nworkloads > 1);

	while (known && (w = workload_next(set, &cursor)))
		for (size_t i = 0; i < w->npods; i++)
			note_class(set, w, &w->pods[i]);
}

void fact_set_finish(struct fact_set *set)
{
	fact_index_finish(set);
	sort_policies(set);
	sort_queues(set);
	note_classes(set);
}
