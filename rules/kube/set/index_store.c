/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the workloads of the input, and marks duplicates. A thread reads its
 * files in rising order; the workloads of all threads are sorted once, when the
 * index is finished.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "index_internal.h"
#include "kube/object.h"

struct workload_index *workload_index_of(struct object_index *set)
{
	if (!set->index) {
		set->index = array_zalloc(1, sizeof(*set->index));
		buf_init(&set->index->identity);
	}
	return set->index;
}

void workload_index_release(struct object_index *set)
{
	if (!set->index)
		return;
	arena_release(&set->index->scratch);
	buf_release(&set->index->identity);
	free(set->index);
	set->index = NULL;
}

/* --- copies --------------------------------------------------------------- */

static const char *copy_text(struct arena *arena, const char *text)
{
	return text ? index_text(arena, text) : NULL;
}

/* Copies an array of n items, or returns NULL if there are none. */
static void *copy_items(struct arena *arena, const void *items, size_t n,
			size_t size)
{
	return n ? memcpy(arena_alloc(arena, n * size), items, n * size) : NULL;
}

static void copy_pod(struct arena *arena, struct workload_pod *pod)
{
	struct pod_without_class *classless;

	pod->priority_class = copy_text(arena, pod->priority_class);
	if (pod->without_class) {
		pod->without_class = classless = copy_items(
			arena, pod->without_class, 1, sizeof(*classless));
		classless->role = index_text(arena, classless->role);
		classless->place.pointer =
			index_text(arena, classless->place.pointer);
	}
	pod->demand = copy_items(arena, pod->demand, pod->ndemand,
				 sizeof(*pod->demand));
	for (size_t i = 0; i < pod->ndemand; i++)
		pod->demand[i].resource =
			index_text(arena, pod->demand[i].resource);
	pod->labels = copy_items(arena, pod->labels, pod->nlabels,
				 sizeof(*pod->labels));
	for (size_t i = 0; i < pod->nlabels; i++) {
		struct pod_label *label = &pod->labels[i];

		label->key = index_text(arena, label->key);
		label->value = copy_text(arena, label->value);
	}
}

static struct workload *copy_workload(struct arena *arena,
				      const struct workload *w)
{
	struct workload *copy = copy_items(arena, w, 1, sizeof(*w));

	copy->id = object_id_copy(arena, w->id);
	copy->place.pointer = index_text(arena, w->place.pointer);
	copy->queue = copy_text(arena, w->queue);
	copy->kueue_queue = copy_text(arena, w->kueue_queue);
	copy->pods = copy_items(arena, w->pods, w->npods, sizeof(*w->pods));
	for (size_t i = 0; i < w->npods; i++)
		copy_pod(arena, &copy->pods[i]);
	return copy;
}

static bool is_identified(const struct workload *w)
{
	return *w->id.name && *w->id.namespace && !w->child;
}

void workload_index_add(struct object_index *set, const struct workload *w)
{
	struct workload *copy = copy_workload(&set->arena, w);
	struct workload_index *index = workload_index_of(set);

	copy->at = set->nworkloads;
	if (is_identified(w))
		copy->hash = index_hash_in(
			object_id_hash(&w->id, &index->identity), w->cluster);
	*ARRAY_PUSH(set->workloads, set->nworkloads, set->workloads_size) =
		copy;
}

/* --- order and duplicates ------------------------------------------------ */

/* Compares by file, then by the order in which a thread read them. */
static int cmp_places(const void *a, const void *b)
{
	const struct workload *x = *(struct workload *const *)a;
	const struct workload *y = *(struct workload *const *)b;

	if (x->place.file != y->place.file)
		return x->place.file < y->place.file ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* Sorts complete objects before patches of the same object. */
static int cmp_hashes(const void *a, const void *b)
{
	const struct workload *x = *(struct workload *const *)a;
	const struct workload *y = *(struct workload *const *)b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	if (x->fragment != y->fragment)
		return x->fragment ? 1 : -1;
	return (x->at > y->at) - (x->at < y->at);
}

/* Marks duplicates. Equal hashes count as equal objects: 64 bits under a random
 * key practically never collide. */
static void find_duplicates(const struct object_index *set)
{
	size_t n = set->nworkloads, first = 0;
	struct workload **sorted = array_zalloc(n, sizeof(*sorted));

	memcpy(sorted, set->workloads, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), cmp_hashes);
	for (size_t i = 0; i < n; i++) {
		if (sorted[i]->hash != sorted[first]->hash)
			first = i;
		else if (sorted[i]->hash && i != first)
			sorted[i]->duplicate_of = sorted[first];
	}
	free(sorted);
}

void workload_index_each(const struct object_index *set,
			 void (*each)(void *context, uint64_t what,
				      uint32_t file),
			 void *context)
{
	for (size_t i = 0; i < set->nworkloads; i++) {
		const struct workload *w = set->workloads[i];

		if (w->hash && !w->fragment)
			each(context, w->hash, w->place.file);
	}
}

void workload_index_finish(struct object_index *set)
{
	size_t n = set->nworkloads;

	workload_index_of(set);
	if (!n)
		return;
	qsort(set->workloads, n, sizeof(*set->workloads), cmp_places);
	for (size_t i = 0; i < n; i++) {
		struct workload *w = set->workloads[i];

		w->at = i;
		w->next = i + 1 < n ? set->workloads[i + 1] : NULL;
		if (w->hash && set->file_sets)
			w->hash = index_hash_set(w->hash, index_set_of(set, w));
	}
	find_duplicates(set);
}
