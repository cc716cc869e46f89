/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the reservations in a list, because only the few of the last 30 seconds
 * exist at a time. At most RESERVATIONS are kept: beyond that, the oldest one
 * is dropped, which would end soon anyway.
 */
#include "judge.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"

enum { RESERVATIONS = 4096, LIFE = 30, RESOURCES = 8 };

struct reservation {
	uint64_t key; /* hash of the object, from object_id_hash() */
	char *api_version, *kind, *namespace, *name;
	int64_t until;
	struct {
		char *resource;
		struct quantity steady;
	} items[RESOURCES];
	size_t n;
};

struct reserve {
	pthread_mutex_t lock;
	struct reservation *reservations; /* oldest first */
	size_t n, size;
	/* Requests of the review that holds the lock (key 0: none). */
	struct reservation noted;
	int64_t now;
	struct reservations view;
	struct buf scratch;
};

static void *must(void *memory)
{
	if (!memory)
		OUT_OF_MEMORY();
	return memory;
}

static void release(struct reservation *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->items[i].resource);
	free(p->api_version);
	free(p->kind);
	free(p->namespace);
	free(p->name);
	memset(p, 0, sizeof(*p));
}

static void forget(struct reserve *r, size_t i)
{
	release(&r->reservations[i]);
	r->n--;
	memmove(&r->reservations[i], &r->reservations[i + 1],
		(r->n - i) * sizeof(*r->reservations));
}

static void forget_old(struct reserve *r)
{
	while (r->n && r->reservations[0].until <= r->now)
		forget(r, 0);
}

static void forget_key(struct reserve *r, uint64_t key)
{
	for (size_t i = r->n; i-- > 0;)
		if (r->reservations[i].key == key)
			forget(r, i);
}

/* Returns the part of the reserved amount that the Pods of the object do not
 * use yet. */
static struct quantity outstanding(const struct reservation *p, size_t item,
				   const struct cluster *cluster)
{
	const struct object_id id = {p->api_version, p->kind, p->namespace,
				     p->name};
	struct quantity used;

	if (!cluster)
		return p->items[item].steady;
	used = cluster_use_of(cluster, &id, p->items[item].resource);
	if (quantity_cmp(used, p->items[item].steady) >= 0)
		return quantity_from(0);
	return quantity_sub(p->items[item].steady, used);
}

static struct quantity reserved(void *context, const struct workload *w,
				const char *resource)
{
	struct reserve *r = context;
	struct quantity sum = quantity_from(0);
	uint64_t own = object_id_hash(&w->id, &r->scratch);

	for (size_t i = 0; i < r->n; i++) {
		const struct reservation *p = &r->reservations[i];

		if (p->key == own || strcmp(p->namespace, w->id.namespace))
			continue;
		for (size_t j = 0; j < p->n; j++)
			if (!strcmp(p->items[j].resource, resource))
				sum = quantity_add(
					sum, outstanding(p, j, w->cluster));
	}
	return sum;
}

struct reserve *reserve_new(void)
{
	struct reserve *r = must(calloc(1, sizeof(*r)));

	pthread_mutex_init(&r->lock, NULL);
	buf_init(&r->scratch);
	r->view.of = reserved;
	r->view.context = r;
	return r;
}

void reserve_free(struct reserve *r)
{
	if (!r)
		return;
	while (r->n)
		forget(r, r->n - 1);
	free(r->reservations);
	release(&r->noted);
	buf_release(&r->scratch);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

void reserve_begin(struct reserve *r, int64_t now)
{
	pthread_mutex_lock(&r->lock);
	r->now = now;
	release(&r->noted);
	forget_old(r);
}

const struct reservations *reserve_view(struct reserve *r)
{
	return &r->view;
}

static void note_demand(struct reservation *p, const struct pod_demand *demand,
			struct amount pods)
{
	struct quantity q = quantity_mul(demand->quantity, pods.n);

	for (size_t i = 0; i < p->n; i++) {
		if (strcmp(p->items[i].resource, demand->resource))
			continue;
		p->items[i].steady = quantity_add(p->items[i].steady, q);
		return;
	}
	if (p->n == RESOURCES)
		return;
	p->items[p->n].resource = must(strdup(demand->resource));
	p->items[p->n++].steady = q;
}

void reserve_note(struct reserve *r, const struct workload *w)
{
	struct reservation *p = &r->noted;

	/* The first workload is the outer object, which counts; embedded
	 * objects are reported after it. */
	if (p->key || w->child || w->suspended || w->kueue ||
	    !*w->id.namespace || !*w->id.name)
		return;
	p->key = object_id_hash(&w->id, &r->scratch);
	p->api_version = must(strdup(w->id.api_version));
	p->kind = must(strdup(w->id.kind));
	p->namespace = must(strdup(w->id.namespace));
	p->name = must(strdup(w->id.name));
	for (size_t i = 0; i < w->npods; i++)
		for (size_t j = 0; j < w->pods[i].ndemand; j++)
			note_demand(p, &w->pods[i].demand[j],
				    w->pods[i].steady);
}

static void keep_noted(struct reserve *r)
{
	forget_key(r, r->noted.key);
	if (r->n == RESERVATIONS)
		forget(r, 0);
	r->noted.until = r->now + LIFE;
	*ARRAY_PUSH(r->reservations, r->n, r->size) = r->noted;
	memset(&r->noted, 0, sizeof(r->noted));
}

void reserve_end(struct reserve *r, bool keep)
{
	if (keep && r->noted.key)
		keep_noted(r);
	pthread_mutex_unlock(&r->lock);
}

void reserve_drop(struct reserve *r, const struct object_id *id)
{
	pthread_mutex_lock(&r->lock);
	forget_key(r, object_id_hash(id, &r->scratch));
	pthread_mutex_unlock(&r->lock);
}
