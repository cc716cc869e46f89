/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Combines facts from the input files with those from a cluster. The last
 * result is cached, by cluster, set and namespace, because rules run for one
 * workload after the other, and workloads of a namespace are usually adjacent.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "index_internal.h"
#include "kube/cluster/cluster.h"

struct namespace_cache {
	uint64_t serial; /* serial number of the cluster */
	uint32_t set;
	const char *namespace;
	struct arena arena;
	bool quotas_known, ranges_known, default_known;
	struct quota *quotas;
	size_t nquotas;
	struct limit_range *ranges;
	size_t nranges;
	const struct priority_class **classes;
	size_t nclasses, classes_size;
	const struct priority_class *default_class;
};

void namespace_cache_release(struct object_index *set)
{
	if (!set->index || !set->index->cache)
		return;
	arena_release(&set->index->cache->arena);
	free(set->index->cache);
	set->index->cache = NULL;
}

static struct namespace_cache *cache_of(const struct object_index *set,
					const struct workload *w)
{
	/* The cache is stored in the set, although the set is otherwise
	 * constant. */
	struct workload_index *index =
		workload_index_of((struct object_index *)(uintptr_t)set);
	struct namespace_cache *cache = index->cache;
	struct arena arena;

	if (!cache)
		cache = index->cache = array_zalloc(1, sizeof(*cache));
	if (cache->namespace && cache->serial == cluster_serial(w->cluster) &&
	    cache->set == index_set_of(set, w) &&
	    !strcmp(cache->namespace, w->id.namespace))
		return cache;
	arena = cache->arena;
	arena_reset(&arena);
	*cache = (struct namespace_cache){.serial = cluster_serial(w->cluster),
					  .set = index_set_of(set, w),
					  .arena = arena};
	cache->namespace = arena_strdup(&cache->arena, w->id.namespace);
	return cache;
}

static struct object object_of(enum cluster_kind kind, const struct workload *w,
			       const struct cluster_object *from)
{
	return (struct object){
		.root = from->root,
		.api_version = kind == CLUSTER_PRIORITY_CLASS
				       ? "scheduling.k8s.io/v1"
				       : "v1",
		.kind = cluster_resource(kind)->kind,
		.namespace =
			kind == CLUSTER_PRIORITY_CLASS ? "" : w->id.namespace,
		.name = from->name,
	};
}

/* --- quotas --------------------------------------------------------------- */

/* Adds the cluster's status to the quota of a file, or adds the cluster's
 * quota. */
static void add_quota(struct namespace_cache *cache, const struct quota *quota)
{
	for (size_t i = 0; i < cache->nquotas; i++) {
		struct quota *own = &cache->quotas[i];

		if (strcmp(own->id.name, quota->id.name) != 0)
			continue;
		own->used = quota->used;
		own->nused = quota->nused;
		return;
	}
	cache->quotas[cache->nquotas++] = *quota;
}

static void make_quotas(struct namespace_cache *cache,
			const struct object_index *set,
			const struct workload *w)
{
	size_t n, own;
	const struct cluster_object *items = cluster_objects(
		w->cluster, CLUSTER_QUOTA, w->id.namespace, &cache->arena, &n);
	const struct quota *first = index_own_quotas(set, w, &own);

	cache->quotas = ARENA_ARRAY(&cache->arena, struct quota, own + n + 1);
	if (own)
		memcpy(cache->quotas, first, own * sizeof(*first));
	cache->nquotas = own;
	for (size_t i = 0; i < n; i++) {
		struct object object = object_of(CLUSTER_QUOTA, w, &items[i]);
		struct quota quota;

		quota_read(&cache->arena, &object, NO_FILE, &quota);
		add_quota(cache, &quota);
	}
	cache->quotas_known = true;
}

const struct quota *index_quotas(const struct object_index *set,
				 const struct workload *w, size_t *n)
{
	struct namespace_cache *cache;

	if (!w->cluster || !*w->id.namespace)
		return index_own_quotas(set, w, n);
	cache = cache_of(set, w);
	if (!cache->quotas_known)
		make_quotas(cache, set, w);
	*n = cache->nquotas;
	return cache->quotas;
}

/* --- limit ranges --------------------------------------------------------- */

static bool has_range(const struct namespace_cache *cache, const char *name)
{
	for (size_t i = 0; i < cache->nranges; i++)
		if (!strcmp(cache->ranges[i].id.name, name))
			return true;
	return false;
}

static void make_ranges(struct namespace_cache *cache,
			const struct object_index *set,
			const struct workload *w)
{
	size_t n, own;
	const struct cluster_object *items =
		cluster_objects(w->cluster, CLUSTER_LIMIT_RANGE,
				w->id.namespace, &cache->arena, &n);
	const struct limit_range *first = index_own_limit_ranges(set, w, &own);

	cache->ranges =
		ARENA_ARRAY(&cache->arena, struct limit_range, own + n + 1);
	if (own)
		memcpy(cache->ranges, first, own * sizeof(*first));
	cache->nranges = own;
	for (size_t i = 0; i < n; i++) {
		struct object object =
			object_of(CLUSTER_LIMIT_RANGE, w, &items[i]);

		if (!has_range(cache, items[i].name))
			limit_range_read(&cache->arena, &object, NO_FILE,
					 &cache->ranges[cache->nranges++]);
	}
	cache->ranges_known = true;
}

const struct limit_range *index_limit_ranges(const struct object_index *set,
					     const struct workload *w,
					     size_t *n)
{
	struct namespace_cache *cache;

	if (!w->cluster || !*w->id.namespace)
		return index_own_limit_ranges(set, w, n);
	cache = cache_of(set, w);
	if (!cache->ranges_known)
		make_ranges(cache, set, w);
	*n = cache->nranges;
	return cache->ranges;
}

/* --- priority classes ----------------------------------------------------- */

static const struct priority_class *
class_read(struct namespace_cache *cache, const struct workload *w,
	   const struct cluster_object *from)
{
	struct object object = object_of(CLUSTER_PRIORITY_CLASS, w, from);
	struct priority_class *class =
		ARENA_NEW(&cache->arena, struct priority_class);

	priority_class_read(&cache->arena, &object, NO_FILE, class);
	return class;
}

const struct priority_class *index_class(const struct object_index *set,
					 const struct workload *w,
					 const char *name)
{
	const struct object_id id = {"scheduling.k8s.io/v1", "PriorityClass",
				     "", name};
	const struct priority_class *own = index_own_class(set, w, name);
	struct cluster_object object = {name, NULL};
	struct namespace_cache *cache;

	if (own || !w->cluster)
		return own;
	cache = cache_of(set, w);
	for (size_t i = 0; i < cache->nclasses; i++)
		if (!strcmp(cache->classes[i]->id.name, name))
			return cache->classes[i];
	object.root = cluster_object(w->cluster, &id, &cache->arena);
	if (!object.root)
		return NULL;
	own = class_read(cache, w, &object);
	*VEC_PUSH(&cache->arena, cache->classes, cache->nclasses,
		  cache->classes_size) = own;
	return own;
}

static const struct priority_class *own_default(const struct object_index *set,
						const struct workload *w)
{
	const struct priority_class *first = NULL;

	for (size_t i = 0; i < set->nclasses; i++) {
		const struct priority_class *c = &set->classes[i];

		if (!c->global_default || c->cluster != w->cluster ||
		    c->set != index_set_of(set, w))
			continue;
		if (!first || c->place.file < first->place.file ||
		    (c->place.file == first->place.file &&
		     c->place.start < first->place.start))
			first = c;
	}
	return first;
}

const struct priority_class *
index_cluster_default(const struct object_index *set, const struct workload *w)
{
	const struct cluster_object *items;
	struct namespace_cache *cache;
	size_t n;

	if (!w->cluster)
		return NULL;
	cache = cache_of(set, w);
	if (cache->default_known)
		return cache->default_class;
	cache->default_known = true;
	items = cluster_objects(w->cluster, CLUSTER_PRIORITY_CLASS, "",
				&cache->arena, &n);
	for (size_t i = 0; i < n; i++)
		if (node_is_true(node_get(items[i].root, "globalDefault")) &&
		    !index_own_class(set, w, items[i].name))
			cache->default_class = class_read(cache, w, &items[i]);
	return cache->default_class;
}

const struct priority_class *index_default_class(const struct object_index *set,
						 const struct workload *w)
{
	const struct priority_class *own = own_default(set, w);

	return own ? own : index_cluster_default(set, w);
}
