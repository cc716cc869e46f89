/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores the workloads of the input as packed bytes, with a row for each. A
 * thread reads its files in rising order; the rows of all threads are sorted
 * once, when the index is finished.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/text.h"
#include "index_internal.h"
#include "kube/identity.h"

struct workload_index *workload_index_of(struct object_index *set)
{
	if (!set->index) {
		set->index = array_zalloc(1, sizeof(*set->index));
		buf_init(&set->index->packed);
	}
	return set->index;
}

void workload_index_release(struct object_index *set)
{
	if (!set->index)
		return;
	free(set->index->rows);
	arena_release(&set->index->scratch);
	buf_release(&set->index->packed);
	free(set->index);
	set->index = NULL;
}

/* --- rows ---------------------------------------------------------------- */

static bool identified(const struct workload *w)
{
	return *w->id.name && *w->id.namespace && !w->child;
}

/* Returns a hash of 31 bits that is never 0. */
static uint32_t namespace_hash(const char *namespace)
{
	uint32_t hash;

	if (!*namespace)
		return 0;
	hash = (uint32_t)text_keyed_hash(namespace, strlen(namespace));
	hash &= LOOKUP_NAMESPACE;
	return hash ? hash : LOOKUP_FRAGMENT << 1;
}

bool workload_is_part(const struct workload *w)
{
	return w->npods && w->pods[0].fragment;
}

static uint32_t lookup_flags_of(const struct workload *w)
{
	uint32_t lookup_flags = namespace_hash(w->id.namespace);

	for (size_t i = 0; i < w->npods; i++)
		if (w->pods[i].priority_class && *w->pods[i].priority_class)
			lookup_flags |= LOOKUP_CLASS;
	if (workload_is_part(w))
		lookup_flags |= LOOKUP_FRAGMENT;
	return lookup_flags;
}

void workload_index_add(struct object_index *set, const struct workload *w)
{
	struct workload_index *index = workload_index_of(set);
	struct index_row row = {
		.file = w->place.file,
		.lookup_flags = lookup_flags_of(w),
		.order = (uint32_t)set->nworkloads,
	};

	if (identified(w))
		row.id = index_hash_in(object_id_hash(&w->id, &index->packed),
				       w->cluster);
	buf_reset(&index->packed);
	workload_pack(w, &index->packed);
	row.len = (uint32_t)index->packed.len;
	row.data = arena_strndup(&set->arena, index->packed.data, row.len);
	*ARRAY_PUSH(index->rows, set->nworkloads, index->size) = row;
}

void workload_index_join(struct object_index *dst, struct object_index *src)
{
	struct workload_index *index = workload_index_of(dst);

	if (src->nworkloads) {
		index->rows = array_reserve(index->rows,
					    dst->nworkloads + src->nworkloads,
					    &index->size, sizeof(*index->rows));
		memcpy(index->rows + dst->nworkloads, src->index->rows,
		       src->nworkloads * sizeof(*index->rows));
	}
	dst->nworkloads += src->nworkloads;
	workload_index_release(src);
}

/* --- order and duplicates ------------------------------------------------ */

/* Compares by file, then by the order in which a thread read them. */
static int cmp_rows(const void *a, const void *b)
{
	const struct index_row *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* Sorts complete objects before patches of the same object. */
static int cmp_ids(const void *a, const void *b, void *rows)
{
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct index_row *x = (struct index_row *)rows + i;
	const struct index_row *y = (struct index_row *)rows + j;
	uint32_t part = x->lookup_flags & LOOKUP_FRAGMENT;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (part != (y->lookup_flags & LOOKUP_FRAGMENT))
		return part ? 1 : -1;
	return (i > j) - (i < j);
}

/* Marks duplicates. Equal hashes count as equal objects: 64 bits under a random
 * key practically never collide. */
static void find_duplicates(const struct object_index *set,
			    struct index_row *rows, size_t n)
{
	uint32_t *order = array_zalloc(n, sizeof(*order));
	size_t first = 0;

	for (size_t i = 0; i < n; i++) {
		order[i] = (uint32_t)i;
		if (rows[i].id && set->file_sets)
			rows[i].id = index_hash_set(
				rows[i].id, set->file_sets[rows[i].file]);
	}
	qsort_r(order, n, sizeof(*order), cmp_ids, rows);
	for (size_t i = 0; i < n; i++) {
		struct index_row *row = &rows[order[i]];

		row->duplicate_of = 0;
		if (row->id != rows[order[first]].id)
			first = i;
		else if (row->id && i != first)
			row->duplicate_of = order[first] + 1;
	}
	free(order);
}

/* --- look-up flags -------------------------------------------------------- */

static uint64_t *bloom_word(struct bloom_filter *filter, uint32_t hash)
{
	return &filter->bits[hash >> 8 & 31];
}

static uint64_t bloom_bit(uint32_t hash)
{
	return (uint64_t)1 << (hash >> 2 & 63);
}

static void note_namespaces(struct object_index *set,
			    struct bloom_filter *filter)
{
	memset(filter, 0, sizeof(*filter));
	for (size_t i = 0; i < set->nquotas; i++) {
		uint32_t hash = namespace_hash(set->quotas[i].id.namespace);

		if (hash)
			*bloom_word(filter, hash) |= bloom_bit(hash);
	}
}

static bool is_chosen(struct workload_index *index, const struct index_row *row,
		      enum workload_choice choice)
{
	uint32_t hash = row->lookup_flags & LOOKUP_NAMESPACE;

	switch (choice) {
	case WORKLOADS_WITH_QUOTA:
		return hash && *bloom_word(&index->quota_namespaces, hash) &
				       bloom_bit(hash);
	case WORKLOADS_WITH_CLASS:
		return row->lookup_flags & LOOKUP_CLASS;
	case WORKLOADS_ALL:
		break;
	}
	return true;
}

void workload_index_each(const struct object_index *set,
			 void (*each)(void *context, uint64_t what,
				      uint32_t file),
			 void *context)
{
	for (size_t i = 0; i < set->nworkloads; i++) {
		const struct index_row *row = &set->index->rows[i];

		if (row->id && !(row->lookup_flags & LOOKUP_FRAGMENT))
			each(context, row->id, row->file);
	}
}

void workload_index_finish(struct object_index *set)
{
	struct workload_index *index = workload_index_of(set);

	note_namespaces(set, &index->quota_namespaces);
	if (!set->nworkloads)
		return;
	qsort(index->rows, set->nworkloads, sizeof(*index->rows), cmp_rows);
	find_duplicates(set, index->rows, set->nworkloads);
}

/* --- reading ------------------------------------------------------------- */

const struct workload *workload_at(const struct object_index *set, size_t i,
				   struct arena *arena)
{
	const struct index_row *row = &set->index->rows[i];
	struct workload *w = workload_unpack(row->data, row->len, arena);

	if (!w)
		BUG("facts of a workload cannot be unpacked");
	w->duplicate_of = row->duplicate_of;
	return w;
}

const struct workload *workload_next(const struct object_index *set,
				     struct workload_cursor *cursor)
{
	const struct workload *w = NULL;

	arena_reset(&cursor->arena);
	while (cursor->next < set->nworkloads &&
	       !is_chosen(set->index, &set->index->rows[cursor->next],
			  cursor->choice))
		cursor->next++;
	if (cursor->next < set->nworkloads)
		w = workload_at(set, cursor->next++, &cursor->arena);
	if (!w)
		workload_stop(cursor);
	return w;
}

void workload_stop(struct workload_cursor *cursor)
{
	arena_release(&cursor->arena);
}
