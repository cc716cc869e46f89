/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Few reservations exist at a time (those of 30 seconds), so a list is
 * enough. It is bounded: beyond RESERVATIONS the oldest is dropped, which
 * happens to it soon anyway.
 */
#include "reservation.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"

enum { RESERVATIONS = 4096, LIFE = 30, RESOURCES = 8 };

struct reservation {
	char *key; /* namespace, group, kind, name, each with its NUL */
	size_t key_len;
	char *namespace, *api_version;
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
	struct reservation noted; /* of the review that holds the lock */
	bool has_noted;
	int64_t now;
	struct reservations view;
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
	free(p->key);
	free(p->namespace);
	free(p->api_version);
	memset(p, 0, sizeof(*p));
}

/* The group without its version, so that served versions are one object. */
static char *key_of(const struct object_id *id, size_t *len)
{
	const char *slash = strchr(id->api_version, '/');
	size_t group = slash ? (size_t)(slash - id->api_version) : 0;
	size_t namespace = strlen(id->namespace) + 1;
	size_t kind = strlen(id->kind) + 1, name = strlen(id->name) + 1;
	char *key = must(malloc(namespace + group + 1 + kind + name));
	char *at = key;

	at = (char *)memcpy(at, id->namespace, namespace) + namespace;
	at = (char *)memcpy(at, id->api_version, group) + group;
	*at++ = '\0';
	at = (char *)memcpy(at, id->kind, kind) + kind;
	memcpy(at, id->name, name);
	*len = namespace + group + 1 + kind + name;
	return key;
}

static bool is_key(const struct reservation *p, const char *key, size_t len)
{
	return p->key_len == len && !memcmp(p->key, key, len);
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

static void forget_key(struct reserve *r, const char *key, size_t len)
{
	for (size_t i = r->n; i-- > 0;)
		if (is_key(&r->reservations[i], key, len))
			forget(r, i);
}

/* What the Pods of the reservation do not use yet. */
static struct quantity outstanding(const struct reservation *p, size_t item,
				   const struct cluster *cluster)
{
	const char *kind = p->key + strlen(p->key) + 1;
	struct object_id id = {p->api_version, NULL, p->namespace, NULL};
	struct quantity used;

	kind += strlen(kind) + 1; /* behind the group */
	id.kind = kind;
	id.name = kind + strlen(kind) + 1;
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
	size_t len;
	char *own = key_of(&w->id, &len);

	for (size_t i = 0; i < r->n; i++) {
		const struct reservation *p = &r->reservations[i];

		if (strcmp(p->namespace, w->id.namespace) ||
		    is_key(p, own, len))
			continue;
		for (size_t j = 0; j < p->n; j++)
			if (!strcmp(p->items[j].resource, resource))
				sum = quantity_add(
					sum, outstanding(p, j, w->cluster));
	}
	free(own);
	return sum;
}

struct reserve *reserve_new(void)
{
	struct reserve *r = must(calloc(1, sizeof(*r)));

	pthread_mutex_init(&r->lock, NULL);
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
	pthread_mutex_destroy(&r->lock);
	free(r);
}

void reserve_begin(struct reserve *r, int64_t now)
{
	pthread_mutex_lock(&r->lock);
	r->now = now;
	r->has_noted = false;
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

	/* Embedded objects are reported after it; the outer object counts. */
	if (r->has_noted || w->child || w->suspended || w->kueue ||
	    !*w->id.namespace || !*w->id.name)
		return;
	release(p);
	p->key = key_of(&w->id, &p->key_len);
	p->namespace = must(strdup(w->id.namespace));
	p->api_version = must(strdup(w->id.api_version));
	for (size_t i = 0; i < w->npods; i++)
		for (size_t j = 0; j < w->pods[i].ndemand; j++)
			note_demand(p, &w->pods[i].demand[j],
				    w->pods[i].steady);
	r->has_noted = true;
}

static void keep_noted(struct reserve *r)
{
	forget_key(r, r->noted.key, r->noted.key_len);
	if (r->n == RESERVATIONS)
		forget(r, 0);
	r->noted.until = r->now + LIFE;
	*ARRAY_PUSH(r->reservations, r->n, r->size) = r->noted;
	memset(&r->noted, 0, sizeof(r->noted));
}

void reserve_end(struct reserve *r, bool keep)
{
	if (keep && r->has_noted)
		keep_noted(r);
	r->has_noted = false;
	pthread_mutex_unlock(&r->lock);
}

void reserve_drop(struct reserve *r, const struct object_id *id)
{
	size_t len;
	char *key = key_of(id, &len);

	pthread_mutex_lock(&r->lock);
	forget_key(r, key, len);
	pthread_mutex_unlock(&r->lock);
	free(key);
}
