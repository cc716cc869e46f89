/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes rows of workloads. A workload adds an entry for every quota that counts
 * it, and for each accelerator that no quota counts. After sorting, the entries
 * of a row are adjacent, and within it the entries of a workload in the files
 * and in the revision.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "kube/claim.h"
#include "quota.h"

struct quota_entry {
	/* quota is "" if there is none */
	const char *namespace, *resource, *quota;
	const char *unknown;
	bool used_known;
	struct quantity hard, used;
	struct quota_item item; /* path is NO_ITEM without a workload */
};

#define NO_ITEM ""

static const char *keep_text(struct quota_table *t, const char *text)
{
	return arena_strdup(&t->arena, text);
}

static struct quantity whole(const struct demand *demand, bool peak)
{
	return peak ? demand->peak : demand->steady;
}

/* The requests of one workload for one resource. */
struct request {
	const struct quota_source *source;
	const struct workload *w;
	const char *resource;
	struct demand demand;
};

static void item_of(struct quota_table *t, const struct request *r,
		    const struct quota_file *file, struct quota_item *item)
{
	const struct workload *w = r->w;

	*item = (struct quota_item){
		.id = {keep_text(t, w->id.api_version),
		       keep_text(t, w->id.kind), keep_text(t, w->id.namespace),
		       keep_text(t, w->id.name)},
		.line = w->place.line,
		.column = w->place.column,
		.suspended = w->suspended,
		.queued = w->kueue,
		.unknown = r->demand.unknown,
		.running = quantity_from(0),
		.before = quantity_from(0),
		.steady = quantity_from(0),
		.peak = quantity_from(0),
	};
	item->path = keep_text(t, file->path);
	item->now = !r->source->before;
	item->was = r->source->before || !file->changed;
	if (item->was && !w->suspended)
		item->before = r->demand.steady;
	if (!item->now)
		return;
	if (!w->suspended) {
		item->steady = whole(&r->demand, false);
		item->peak = whole(&r->demand, true);
	}
	if (w->cluster)
		item->running = cluster_use_of(w->cluster, &w->id, r->resource);
}

static struct quota_entry *entry_of(struct quota_table *t,
				    const struct request *r)
{
	struct quota_entry entry = {.namespace =
					    keep_text(t, r->w->id.namespace),
				    .resource = keep_text(t, r->resource),
				    .quota = ""};
	struct quota_file file;

	r->source->file_of(r->source->context, r->w->place.file, &file);
	if (file.unknown)
		entry.unknown = keep_text(t, file.unknown);
	item_of(t, r, &file, &entry.item);
	t->unknown |= r->demand.unknown;
	*VEC_PUSH(&t->arena, t->entries, t->nentries, t->entries_size) = entry;
	return &t->entries[t->nentries - 1];
}

/* True if a quota without scopes counts devices of the class. */
static bool limits_class(const struct quota *quota, const char *key)
{
	for (size_t i = 0; i < quota->nhard && !quota->nscopes; i++)
		if (!strcmp(quota->hard[i].resource, key))
			return true;
	return false;
}

static bool is_limited(const struct quota_source *s, const struct workload *w,
		       const char *resource)
{
	size_t n;
	const struct quota *quotas = index_quotas(s->quotas, w, &n);

	for (size_t i = 0; i < n; i++)
		if (limits_class(&quotas[i], resource) ||
		    (quota_hard_requests(&quotas[i], resource) &&
		     quota_selects(&quotas[i], &w->pods[0]) != TRI_NO))
			return true;
	return false;
}

static void add_limited(struct quota_table *t, struct request *r)
{
	struct quota_case c = {.index = r->source->quotas,
			       .workload = r->w,
			       .classes = {r->source->kubernetes, &t->arena}};

	while (quota_case_next(r->source->extra, &c)) {
		struct quota_entry *entry;

		if (c.demand.peak.nano == 0 && c.demand.steady.nano == 0)
			continue;
		r->resource = c.resource;
		r->demand = c.demand;
		entry = entry_of(t, r);
		entry->quota = keep_text(t, c.quota->id.name);
		entry->hard = c.hard->quantity;
		entry->used = c.room.used;
		entry->used_known = c.room.known;
	}
}

/* True for the first pod of the workload that requests the resource. */
static bool is_first(const struct workload *w, size_t pod, size_t demand)
{
	const char *resource = w->pods[pod].demand[demand].resource;

	for (size_t p = 0; p < pod; p++)
		for (size_t d = 0; d < w->pods[p].ndemand; d++)
			if (!strcmp(w->pods[p].demand[d].resource, resource))
				return false;
	return true;
}

static void add_free(struct quota_table *t, struct request *r)
{
	const struct workload *w = r->w;

	for (size_t p = 0; p < w->npods; p++)
		for (size_t d = 0; d < w->pods[p].ndemand; d++) {
			const char *resource = w->pods[p].demand[d].resource;
			const struct accelerator *known =
				accelerator_find(r->source->extra, resource);

			if ((!accelerator_counts(known) &&
			     !text_ends(resource, CLASS_DEVICES)) ||
			    !is_first(w, p, d) ||
			    is_limited(r->source, w, resource))
				continue;
			r->resource = resource;
			r->demand = workload_demand(w, NULL, resource);
			if (r->demand.peak.nano || r->demand.steady.nano)
				entry_of(t, r);
		}
}

void quota_table_add_idle(struct quota_table *t, const struct quota *quota,
			  const struct resource_amount *hard,
			  const struct workload *any, const char *resource)
{
	struct quota_room room = quota_room(quota, hard, any, resource);

	*VEC_PUSH(&t->arena, t->entries, t->nentries, t->entries_size) =
		(struct quota_entry){
			.namespace = keep_text(t, any->id.namespace),
			.resource = keep_text(t, resource),
			.quota = keep_text(t, quota->id.name),
			.hard = hard->quantity,
			.used = room.used,
			.used_known = room.known,
			.item = {.id = {"", "", "", ""}, .path = NO_ITEM},
		};
}

/* Adds the ResourceClaims of the files. A snapshot does not contain claims, so
 * its used amount may include them. */
static void add_claims(struct quota_table *t, const struct quota_source *source)
{
	struct claim_case c = {.index = source->index,
			       .classes = {source->kubernetes, &t->arena}};

	while (claim_case_next(&c)) {
		struct quantity n = quantity_from(c.claim->counted);
		struct workload w = {.id = c.claim->id,
				     .place = c.claim->place,
				     .cluster = c.claim->cluster};
		const char *key = c.hard->resource;
		size_t skip =
			text_starts(key, "requests.") ? strlen("requests.") : 0;
		struct request r = {source, &w, key + skip,
				    .demand = {n, n, n, false}};
		struct quota_entry *entry;

		if (t->only && strcmp(t->only, w.id.namespace) != 0)
			continue;
		entry = entry_of(t, &r);
		entry->quota = keep_text(t, c.quota->id.name);
		entry->hard = c.hard->quantity;
		if (w.cluster)
			entry->unknown = "a snapshot contains no claims";
	}
}

void quota_table_add(struct quota_table *table,
		     const struct quota_source *source)
{
	struct request r = {.source = source};

	FOR_EACH_WORKLOAD(source->index, w) {
		if (w->child || w->duplicate_of || !w->npods ||
		    (table->only && strcmp(table->only, w->id.namespace)))
			continue;
		r.w = w;
		add_limited(table, &r);
		add_free(table, &r);
	}
	add_claims(table, source);
}

/* --- rows ----------------------------------------------------------------- */

static int cmp_rows(const struct quota_entry *x, const struct quota_entry *y)
{
	int c = strcmp(x->namespace, y->namespace);

	if (!c)
		c = strcmp(x->resource, y->resource);
	return c ? c : strcmp(x->quota, y->quota);
}

/*
 * Compares objects of one row, which have the same namespace.
 */
static int cmp_objects(const struct quota_item *x, const struct quota_item *y)
{
	int c = strcmp(x->id.kind, y->id.kind);

	if (!c)
		c = strcmp(x->id.name, y->id.name);
	return c;
}

static int cmp_entries(const void *a, const void *b)
{
	const struct quota_entry *x = a, *y = b;
	int c = cmp_rows(x, y);

	if (!c)
		c = cmp_objects(&x->item, &y->item);
	if (!c)
		c = y->item.now - x->item.now;
	if (!c)
		c = strcmp(x->item.path, y->item.path);
	return c ? c
		 : (x->item.line > y->item.line) -
			       (x->item.line < y->item.line);
}

static int cmp_items(const void *a, const void *b)
{
	const struct quota_item *x = a, *y = b;
	int c = strcmp(x->path, y->path);

	return c ? c : (x->line > y->line) - (x->line < y->line);
}

static void add_item(struct quota_row *row, const struct quota_item *item)
{
	struct quota_item *last = row->n ? &row->items[row->n - 1] : NULL;

	if (!last || !last->now || item->now || last->was ||
	    cmp_objects(last, item)) {
		row->items[row->n++] = *item;
		return;
	}
	last->was = true;
	last->before = item->before;
}

static void sum_row(struct quota_row *row)
{
	row->adds = row->adds_peak = row->before = quantity_from(0);
	for (size_t i = 0; i < row->n; i++) {
		const struct quota_item *item = &row->items[i];

		row->before = quantity_add(row->before, item->before);
		if (!item->now)
			continue;
		row->adds = quantity_add(
			row->adds, quantity_sub(item->steady, item->running));
		row->adds_peak =
			quantity_add(row->adds_peak,
				     quantity_sub(item->peak, item->running));
	}
	qsort(row->items, row->n, sizeof(*row->items), cmp_items);
}

void quota_table_finish(struct quota_table *t)
{
	if (!t->nentries)
		return;
	qsort(t->entries, t->nentries, sizeof(*t->entries), cmp_entries);
	t->rows = ARENA_ARRAY(&t->arena, struct quota_row, t->nentries);
	for (size_t i = 0; i < t->nentries; i++) {
		const struct quota_entry *e = &t->entries[i];
		struct quota_row *row;

		if (!i || cmp_rows(e, e - 1)) {
			size_t same = i + 1;

			while (same < t->nentries &&
			       !cmp_rows(e, &t->entries[same]))
				same++;
			t->rows[t->n++] = (struct quota_row){
				.namespace = e->namespace,
				.resource = e->resource,
				.quota = *e->quota ? e->quota : NULL,
				.used_known = e->used_known,
				.hard = e->hard,
				.used = e->used,
				.items = ARENA_ARRAY(
					&t->arena, struct quota_item, same - i),
			};
		}
		row = &t->rows[t->n - 1];
		if (e->unknown)
			row->unknown = e->unknown;
		if (strcmp(e->item.path, NO_ITEM) != 0)
			add_item(row, &e->item);
	}
	for (size_t i = 0; i < t->n; i++)
		sum_row(&t->rows[i]);
}

const char *quota_row_unknown(const struct quota_row *row)
{
	if (row->quota || row->unknown || *row->namespace)
		return row->unknown;
	return "the manifest sets no namespace (use -n)";
}

struct quantity quota_row_after(const struct quota_row *row, bool peak)
{
	return quantity_add(row->used, peak ? row->adds_peak : row->adds);
}

struct quantity quota_row_excess(const struct quota_row *row, bool peak)
{
	if (!row->quota)
		return quantity_from(0);
	return quantity_sub(quota_row_after(row, peak), row->hard);
}

enum quota_fit quota_row_fit(const struct quota_row *row)
{
	if (!row->quota)
		return quota_row_unknown(row) ? QUOTA_UNKNOWN : QUOTA_UNLIMITED;
	if (quota_row_excess(row, false).nano > 0)
		return QUOTA_EXCEEDED;
	return quota_row_excess(row, true).nano > 0 ? QUOTA_FITS_NOT_AT_PEAK
						    : QUOTA_FITS;
}

void quota_add_amount(struct buf *out, struct quantity q)
{
	char text[QUANTITY_TEXT];

	buf_adds(out, quantity_text(q, text));
}

void quota_row_words(const struct quota_row *row, struct buf *out)
{
	static const char *const words[] = {
		[QUOTA_UNKNOWN] = "not known",
		[QUOTA_UNLIMITED] = "no quota",
		[QUOTA_FITS] = " left",
		[QUOTA_FITS_NOT_AT_PEAK] = " too many at the peak",
		[QUOTA_EXCEEDED] = " too many",
	};
	enum quota_fit fit = quota_row_fit(row);
	struct quantity q =
		quota_row_excess(row, fit == QUOTA_FITS_NOT_AT_PEAK);

	if (fit == QUOTA_FITS)
		q = quantity_sub(quantity_from(0), q);
	if (row->quota)
		quota_add_amount(out, q);
	buf_adds(out, words[fit]);
}

void quota_row_verdict(const struct quota_row *row, struct buf *out)
{
	const char *unknown = quota_row_unknown(row);

	quota_row_words(row, out);
	if (unknown)
		buf_addf(out, "%s%s",
			 row->quota ? "; the used amount is unknown: " : ": ",
			 unknown);
}
