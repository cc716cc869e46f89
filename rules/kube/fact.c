/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts of a set: which objects are kept, and how sets of several threads
 * become one. Only what a rule asks for is kept: policy objects, names of
 * objects that others refer to, and workloads with GPU pods.
 */
#include "kube/fact.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/text.h"
#include "base/vec.h"
#include "fact.h"

const char *fact_text(struct arena *arena, const char *text)
{
	return text && *text ? arena_strdup(arena, text) : "";
}

struct object_id fact_id(struct arena *arena, const struct object *o)
{
	return (struct object_id){
		fact_text(arena, o->api_version), fact_text(arena, o->kind),
		fact_text(arena, o->namespace), fact_text(arena, o->name)};
}

const struct node *fact_name_node(const struct object *object)
{
	const struct node *name = node_path(object->root, "metadata.name");

	return name ? name : object->root;
}

struct place place_of(struct arena *arena, const struct object *object,
		      const struct node *node, uint32_t file)
{
	const struct doc *doc = object->doc;
	struct place place = {.file = file};
	struct position from, to;
	struct buf pointer;

	while (doc->host) {
		node = doc->host_node;
		doc = doc->host;
	}
	node_anchor(node, &place.start, &place.end);
	from = source_position(doc->source, place.start);
	to = source_position(doc->source, place.end);
	place.document = doc->number;
	place.line = from.line;
	place.column = from.column;
	place.end_line = to.line;
	place.end_column = to.column;
	buf_init(&pointer);
	node_pointer(node, &pointer);
	place.pointer = arena_strndup(arena, pointer.data, pointer.len);
	buf_release(&pointer);
	return place;
}

/* Kinds that others refer to by name. */
static const struct {
	const char *group, *kind;
	int sort;
} named_kinds[] = {
	{"", "Service", NAMED_SERVICE},
	{"", "ConfigMap", NAMED_CONFIG_MAP},
	{"", "Namespace", NAMED_NAMESPACE},
	{"kueue.x-k8s.io", "LocalQueue", NAMED_QUEUE},
	{"kueue.x-k8s.io", "ClusterQueue", NAMED_QUEUE},
	{"scheduling.volcano.sh", "Queue", NAMED_QUEUE},
	{"scheduling.run.ai", "Queue", NAMED_QUEUE},
	{"trainer.kubeflow.org", "TrainingRuntime", NAMED_RUNTIME},
	{"trainer.kubeflow.org", "ClusterTrainingRuntime", NAMED_RUNTIME},
	{"serving.kserve.io", "ServingRuntime", NAMED_RUNTIME},
	{"serving.kserve.io", "ClusterServingRuntime", NAMED_RUNTIME},
};

static bool is_kind(const struct object *o, const char *group, const char *kind)
{
	return text_eq(o->kind, kind) && text_eq(o->group, group);
}

static void add_named(struct fact_set *set, const struct object *o,
		      uint32_t file)
{
	for (size_t i = 0; i < sizeof(named_kinds) / sizeof(*named_kinds);
	     i++) {
		struct named_object *named;

		if (!is_kind(o, named_kinds[i].group, named_kinds[i].kind))
			continue;
		named = VEC_PUSH(&set->arena, set->named, set->nnamed,
				 set->named_size);
		memset(named, 0, sizeof(*named));
		named->id = fact_id(&set->arena, o);
		named->place =
			place_of(&set->arena, o, fact_name_node(o), file);
		named->sort = named_kinds[i].sort;
		return;
	}
}

static bool has_gpu_pods(const struct object *o)
{
	FOR_EACH_POD(o, pod)
		if (pod->gpu_by)
			return true;
	return false;
}

void fact_set_add(struct fact_set *set, const struct object *o, uint32_t file)
{
	struct arena *arena = &set->arena;

	if (is_kind(o, "", "ResourceQuota"))
		quota_read(arena, o, file,
			   VEC_PUSH(arena, set->quotas, set->nquotas,
				    set->quotas_size));
	else if (is_kind(o, "", "LimitRange"))
		limit_range_read(arena, o, file,
				 VEC_PUSH(arena, set->limit_ranges,
					  set->nlimit_ranges,
					  set->limit_ranges_size));
	else if (is_kind(o, "scheduling.k8s.io", "PriorityClass"))
		priority_class_read(arena, o, file,
				    VEC_PUSH(arena, set->classes, set->nclasses,
					     set->classes_size));
	else if (o->npods && has_gpu_pods(o))
		*VEC_PUSH(arena, set->workloads, set->nworkloads,
			  set->workloads_size) = *workload_read(arena, o, file);
	else
		add_named(set, o, file);
}

/* --- joining ---------------------------------------------------------------
 */

static void *append(struct arena *arena, void *to, size_t *nto,
		    const void *from, size_t nfrom, size_t size)
{
	char *all;

	if (!nfrom)
		return to;
	all = arena_alloc(arena, (*nto + nfrom) * size);
	if (*nto)
		memcpy(all, to, *nto * size);
	memcpy(all + *nto * size, from, nfrom * size);
	*nto += nfrom;
	return all;
}

#define APPEND(list)                                                           \
	do {                                                                   \
		dst->list =                                                    \
			append(&dst->arena, dst->list, &dst->n##list,          \
			       src->list, src->n##list, sizeof(*dst->list));   \
		dst->list##_size = dst->n##list;                               \
	} while (0)

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

/* Every kept struct has its place right behind its id. */
#define SORT(list)                                                             \
	sort_facts(dst->list, dst->n##list, sizeof(*dst->list),                \
		   (size_t)((char *)&dst->list->place - (char *)dst->list))

static int by_fact(const void *a, const void *b, void *offset)
{
	size_t at = *(size_t *)offset;

	return by_place((const char *)a + at, (const char *)b + at);
}

static void sort_facts(void *items, size_t n, size_t size, size_t offset)
{
	if (n > 1)
		qsort_r(items, n, size, by_fact, &offset);
}

void fact_set_join(struct fact_set *dst, struct fact_set *src)
{
	APPEND(quotas);
	APPEND(limit_ranges);
	APPEND(classes);
	APPEND(workloads);
	APPEND(named);
	/* Threads finish in any order; rules see the order of the files. */
	if (dst->nquotas)
		SORT(quotas);
	if (dst->nlimit_ranges)
		SORT(limit_ranges);
	if (dst->nclasses)
		SORT(classes);
	if (dst->nworkloads)
		SORT(workloads);
	if (dst->nnamed)
		SORT(named);
	arena_adopt(&dst->arena, &src->arena);
	memset(src, 0, sizeof(*src));
}

void fact_set_release(struct fact_set *set)
{
	arena_release(&set->arena);
	memset(set, 0, sizeof(*set));
}
