/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the devices that two versions of an object request. The number of
 * pods of a role can change without a review (by the scale subresource or
 * autoscalers), so the requests of one pod are compared as well as the sums,
 * even at zero pods. A role or resource that the old object lacks grows from
 * zero.
 */
#include "review_context.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/object.h"
#include "kube/pod.h"

/* Name for all devices of a pod together, also those of claims and of
 * operators' fields. */
#define DEVICES ""

struct demand_row {
	const char *role, *resource;
	struct quantity pod, steady, peak;
	struct quantity awake; /* like steady, without suspended pods */
	bool unknown;
};

struct demand_table {
	struct arena *arena;
	struct demand_row *items;
	size_t n, size;
};

static int cmp_rows(const void *a, const void *b)
{
	const struct demand_row *x = a, *y = b;
	int c = strcmp(x->role, y->role);

	return c ? c : strcmp(x->resource, y->resource);
}

/* Returns the row with the same role and resource from a sorted table. */
static const struct demand_row *find_row(const struct demand_table *demand,
					 const struct demand_row *key)
{
	return demand->n ? bsearch(key, demand->items, demand->n, sizeof(*key),
				   cmp_rows)
			 : NULL;
}

static void add_to(struct demand_row *row, const struct demand_row *more)
{
	if (quantity_cmp(more->pod, row->pod) > 0)
		row->pod = more->pod;
	row->steady = quantity_add(row->steady, more->steady);
	row->awake = quantity_add(row->awake, more->awake);
	row->peak = quantity_add(row->peak, more->peak);
	row->unknown |= more->unknown;
}

/* Sorts the table and merges rows with the same role and resource. */
static void sort_rows(struct demand_table *demand)
{
	size_t last = 0;

	if (!demand->n)
		return;
	qsort(demand->items, demand->n, sizeof(*demand->items), cmp_rows);
	for (size_t i = 1; i < demand->n; i++) {
		if (cmp_rows(&demand->items[last], &demand->items[i]))
			demand->items[++last] = demand->items[i];
		else
			add_to(&demand->items[last], &demand->items[i]);
	}
	demand->n = last + 1;
}

static struct quantity of_pods(struct quantity each, struct amount pods,
			       int64_t copies)
{
	return quantity_mul(quantity_mul(each, pods.n), copies);
}

/* Returns true if a user has stopped the object. A queue suspends and resumes
 * objects that it admitted: their requests count. */
static bool is_stopped(const struct object *object)
{
	return object_is_suspended(object) && !object_is_queued(object);
}

/* Returns the new row. */
static struct demand_row *add_row(struct demand_table *demand,
				  const struct pod *pod, const char *resource,
				  struct quantity each, int64_t copies)
{
	struct quantity steady = of_pods(each, pod->steady, copies);
	struct demand_row *row =
		VEC_PUSH(demand->arena, demand->items, demand->n, demand->size);

	*row = (struct demand_row){
		.role = pod->role,
		.resource = resource,
		.pod = each,
		.steady = steady,
		.awake = is_stopped(pod->object) ? quantity_from(0) : steady,
		.peak = of_pods(each, pod->peak, copies),
		.unknown = pod->steady.unknown};
	return row;
}

/* Returns true if a container before this one in the pod has the resource as
 * well. */
static bool is_counted(const struct pod *pod, const struct container *before,
		       const char *resource)
{
	FOR_EACH_CONTAINER(pod, c) {
		if (c == before)
			return false;
		if (node_get(container_limits(c), resource) ||
		    node_get(container_requests(c), resource))
			return true;
	}
	return false;
}

static void add_resource(struct demand_table *demand, const struct pod *pod,
			 const char *resource, int64_t copies)
{
	bool unknown = false;
	struct quantity each = pod_request(pod, resource, true, &unknown);

	add_row(demand, pod, resource, each, copies)->unknown |= unknown;
}

static void add_pod(struct demand_table *demand, const struct pod *pod,
		    int64_t copies)
{
	add_row(demand, pod, DEVICES, quantity_from(pod->gpus.n), copies)
		->unknown |= pod->gpus.unknown;
	FOR_EACH_CONTAINER(pod, c)
		FOR_EACH_ASKED(c, entry)
			if (entry->accelerator &&
			    !is_counted(pod, c, entry->node->key))
				add_resource(demand, pod, entry->node->key,
					     copies);
}

static void add_object(struct demand_table *demand, const struct object *object,
		       int64_t copies)
{
	FOR_EACH_POD(object, pod)
		add_pod(demand, pod, copies);
	for (size_t i = 0; i < object->nembedded; i++) {
		const struct object *inner = &object->embedded[i];
		int64_t n;

		if (__builtin_mul_overflow(copies, inner->copies.n, &n))
			n = INT64_MAX;
		add_object(demand, inner, n);
	}
}

static struct demand_table read_demand(struct arena *arena,
				       const struct kube_config *config,
				       const struct doc *doc)
{
	struct demand_table demand = {.arena = arena};
	struct object_list objects = {NULL, 0, 0};
	const struct node *nested = NULL;

	object_read(arena, config, doc, &objects, &nested);
	for (size_t i = 0; i < objects.n; i++)
		add_object(&demand, &objects.items[i], 1);
	sort_rows(&demand);
	return demand;
}

static bool is_zero(const struct demand_row *row)
{
	struct quantity zero = quantity_from(0);

	return !row->unknown && !quantity_cmp(row->pod, zero) &&
	       !quantity_cmp(row->steady, zero) &&
	       !quantity_cmp(row->peak, zero);
}

static bool is_more(const struct demand_row *now, const struct demand_row *old)
{
	return quantity_cmp(now->pod, old->pod) > 0 ||
	       quantity_cmp(now->steady, old->steady) > 0 ||
	       quantity_cmp(now->peak, old->peak) > 0 ||
	       (now->unknown && !old->unknown);
}

struct demand_change demand_compare(struct arena *arena,
				    const struct kube_config *config,
				    const struct doc *now,
				    const struct doc *old)
{
	struct demand_table after = read_demand(arena, config, now);
	struct demand_table before = read_demand(arena, config, old);
	struct demand_change change = {false, false, false};

	for (size_t i = 0; i < after.n; i++) {
		const struct demand_row *row = &after.items[i];
		const struct demand_row *was = find_row(&before, row);

		change.grew |= was ? is_more(row, was) : !is_zero(row);
		change.resumed |=
			was && quantity_cmp(row->awake, was->awake) > 0;
	}
	for (size_t i = 0; i < before.n; i++) {
		const struct demand_row *was = &before.items[i];
		const struct demand_row *row = find_row(&after, was);

		change.fell |= row ? quantity_cmp(row->steady, was->steady) < 0
				   : !is_zero(was);
	}
	change.fell &= !change.grew;
	return change;
}
