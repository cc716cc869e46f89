/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts of a set: which objects are kept, and how sets of several threads
 * become one. Only what a rule asks for is kept: policy objects, each once,
 * and workloads with GPU pods.
 */
#include "kube/fact.h"

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

static bool is_kind(const struct object *o, const char *group, const char *kind)
{
	return text_eq(o->kind, kind) && text_eq(o->group, group);
}

static bool has_gpu_pods(const struct object *o)
{
	FOR_EACH_POD(o, pod)
		if (pod->gpu_by)
			return true;
	return false;
}

static bool add_policy(struct fact_set *set, const struct object *o,
		       uint32_t file)
{
	bool quota = is_kind(o, "", "ResourceQuota");
	bool range = is_kind(o, "", "LimitRange");
	struct arena *arena = &set->arena;
	uint64_t content;

	if (!quota && !range &&
	    !is_kind(o, "scheduling.k8s.io", "PriorityClass"))
		return false;
	if (fact_seen(set, o, &content))
		return true;
	if (quota) {
		struct quota *q = VEC_PUSH(arena, set->quotas, set->nquotas,
					   set->quotas_size);

		quota_read(arena, o, file, q);
		q->content = content;
	} else if (range) {
		struct limit_range *r =
			VEC_PUSH(arena, set->limit_ranges, set->nlimit_ranges,
				 set->limit_ranges_size);

		limit_range_read(arena, o, file, r);
		r->content = content;
	} else {
		struct priority_class *c = VEC_PUSH(
			arena, set->classes, set->nclasses, set->classes_size);

		priority_class_read(arena, o, file, c);
		c->content = content;
	}
	return true;
}

void fact_set_add(struct fact_set *set, const struct object *o, uint32_t file)
{
	struct arena *scratch;

	if (add_policy(set, o, file) || !o->npods || !has_gpu_pods(o))
		return;
	scratch = &fact_index_of(set)->scratch;
	fact_index_add(set, workload_read(scratch, o, file));
	arena_reset(scratch);
}

/* --- joining -------------------------------------------------------------- */

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

void fact_set_join(struct fact_set *dst, struct fact_set *src)
{
	APPEND(quotas);
	APPEND(limit_ranges);
	APPEND(classes);
	fact_index_join(dst, src);
	arena_adopt(&dst->arena, &src->arena);
	memset(src, 0, sizeof(*src));
}

void fact_set_release(struct fact_set *set)
{
	fact_index_release(set);
	arena_release(&set->arena);
	memset(set, 0, sizeof(*set));
}
