/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts from the input files and from a cluster, combined. The last result is
 * kept, by cluster and namespace, because rules query one workload one after
 * the other, and workloads of a namespace are usually adjacent.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "base/vec.h"
#include "index_internal.h"
#include "kube/cluster/cluster.h"

struct index_view {
	uint64_t serial; /* of the cluster */
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

void index_view_release(struct object_index *set)
{
	if (!set->index || !set->index->view)
		return;
	arena_release(&set->index->view->arena);
	free(set->index->view);
	set->index->view = NULL;
}

static struct index_view *view_of(const struct object_index *set,
				  const struct workload *w)
{
	/* Answers of a set that is complete are kept beside it. */
	struct workload_index *index =
		workload_index_of((struct object_index *)(uintptr_t)set);
	struct index_view *view = index->view;
	struct arena arena;

	if (!view)
		view = index->view = array_zalloc(1, sizeof(*view));
	if (view->namespace && view->serial == cluster_serial(w->cluster) &&
	    view->set == index_set_of(set, w) &&
	    !strcmp(view->namespace, w->id.namespace))
		return view;
	arena = view->arena;
	arena_reset(&arena);
	*view = (struct index_view){.serial = cluster_serial(w->cluster),
				    .set = index_set_of(set, w),
				    .arena = arena};
	view->namespace = arena_strdup(&view->arena, w->id.namespace);
	return view;
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

/* Returns the file's spec with the cluster's status, or only the cluster's. */
static void add_quota(struct index_view *view, const struct quota *quota)
{
	for (size_t i = 0; i < view->nquotas; i++) {
		struct quota *own = &view->quotas[i];

		if (strcmp(own->id.name, quota->id.name) != 0)
			continue;
		own->used = quota->used;
		own->nused = quota->nused;
		return;
	}
	view->quotas[view->nquotas++] = *quota;
}

static void make_quotas(struct index_view *view, const struct object_index *set,
			const struct workload *w)
{
	size_t n, own;
	const struct cluster_object *items = cluster_objects(
		w->cluster, CLUSTER_QUOTA, w->id.namespace, &view->arena, &n);
	const struct quota *first = index_own_quotas(set, w, &own);

	view->quotas = ARENA_ARRAY(&view->arena, struct quota, own + n + 1);
	if (own)
		memcpy(view->quotas, first, own * sizeof(*first));
	view->nquotas = own;
	for (size_t i = 0; i < n; i++) {
		struct object object = object_of(CLUSTER_QUOTA, w, &items[i]);
		struct quota quota;

		quota_read(&view->arena, &object, NO_FILE, &quota);
		add_quota(view, &quota);
	}
	view->quotas_known = true;
}

const struct quota *index_quotas(const struct object_index *set,
				 const struct workload *w, size_t *n)
{
	struct index_view *view;

	if (!w->cluster || !*w->id.namespace)
		return index_own_quotas(set, w, n);
	view = view_of(set, w);
	if (!view->quotas_known)
		make_quotas(view, set, w);
	*n = view->nquotas;
	return view->quotas;
}

/* --- limit ranges --------------------------------------------------------- */

static bool has_range(const struct index_view *view, const char *name)
{
	for (size_t i = 0; i < view->nranges; i++)
		if (!strcmp(view->ranges[i].id.name, name))
			return true;
	return false;
}

static void make_ranges(struct index_view *view, const struct object_index *set,
			const struct workload *w)
{
	size_t n, own;
	const struct cluster_object *items =
		cluster_objects(w->cluster, CLUSTER_LIMIT_RANGE,
				w->id.namespace, &view->arena, &n);
	const struct limit_range *first = index_own_limit_ranges(set, w, &own);

	view->ranges =
		ARENA_ARRAY(&view->arena, struct limit_range, own + n + 1);
	if (own)
		memcpy(view->ranges, first, own * sizeof(*first));
	view->nranges = own;
	for (size_t i = 0; i < n; i++) {
		struct object object =
			object_of(CLUSTER_LIMIT_RANGE, w, &items[i]);

		if (!has_range(view, items[i].name))
			limit_range_read(&view->arena, &object, NO_FILE,
					 &view->ranges[view->nranges++]);
	}
	view->ranges_known = true;
}

const struct limit_range *index_limit_ranges(const struct object_index *set,
					     const struct workload *w,
					     size_t *n)
{
	struct index_view *view;

	if (!w->cluster || !*w->id.namespace)
		return index_own_limit_ranges(set, w, n);
	view = view_of(set, w);
	if (!view->ranges_known)
		make_ranges(view, set, w);
	*n = view->nranges;
	return view->ranges;
}

/* --- priority classes ----------------------------------------------------- */

static const struct priority_class *
class_read(struct index_view *view, const struct workload *w,
	   const struct cluster_object *from)
{
	struct object object = object_of(CLUSTER_PRIORITY_CLASS, w, from);
	struct priority_class *class =
		ARENA_NEW(&view->arena, struct priority_class);

	priority_class_read(&view->arena, &object, NO_FILE, class);
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
	struct index_view *view;

	if (own || !w->cluster)
		return own;
	view = view_of(set, w);
	for (size_t i = 0; i < view->nclasses; i++)
		if (!strcmp(view->classes[i]->id.name, name))
			return view->classes[i];
	object.root = cluster_object(w->cluster, &id, &view->arena);
	if (!object.root)
		return NULL;
	own = class_read(view, w, &object);
	*VEC_PUSH(&view->arena, view->classes, view->nclasses,
		  view->classes_size) = own;
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
	struct index_view *view;
	size_t n;

	if (!w->cluster)
		return NULL;
	view = view_of(set, w);
	if (view->default_known)
		return view->default_class;
	view->default_known = true;
	items = cluster_objects(w->cluster, CLUSTER_PRIORITY_CLASS, "",
				&view->arena, &n);
	for (size_t i = 0; i < n; i++)
		if (node_is_true(node_get(items[i].root, "globalDefault")) &&
		    !index_own_class(set, w, items[i].name))
			view->default_class = class_read(view, w, &items[i]);
	return view->default_class;
}

const struct priority_class *index_default_class(const struct object_index *set,
						 const struct workload *w)
{
	const struct priority_class *own = own_default(set, w);

	return own ? own : index_cluster_default(set, w);
}
