/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks every quantity of an object as the API server does: it must parse, not
 * be negative, and a request must not exceed its limit if the two may differ.
 * CRDs are stricter about the type, because of the pattern that controller-gen
 * writes into them.
 *
 * Sources: apimachinery pkg/api/resource; pkg/apis/core/validation; observed
 * on kube-apiserver 1.36.
 */
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/text.h"
#include "kube/field_type.h"
#include "kube/typed.h"

/* Checks a quantity by a CRD's schema: an integer, or a string without blanks
 * at its ends. */
static bool fits_crd(const struct node *node)
{
	struct quantity q;
	int64_t n;

	if (node->type != NODE_STRING)
		return node_int(node, &n);
	/* The value was read and is valid. */
	if (node->len && node->str[0] > ' ' && node->str[node->len - 1] > ' ')
		return true;
	return quantity_parse(node->str, node->len, &q);
}

static enum quantity_fault fault_of(const struct node *node, bool native,
				    enum quantity_state state,
				    const struct quantity *q)
{
	switch (state) {
	case QUANTITY_INVALID:
		return QUANTITY_NO_QUANTITY;
	case QUANTITY_OK:
		break;
	default:
		return QUANTITY_FINE;
	}
	if (q->nano < 0)
		return QUANTITY_NEGATIVE;
	return native || fits_crd(node) ? QUANTITY_FINE : QUANTITY_NOT_IN_CRD;
}

static void report_fault(struct quantity_walk *walk, const struct node *at,
			 enum quantity_fault fault)
{
	if (fault == QUANTITY_FINE)
		return;
	walk->issue.fault = fault;
	walk->issue.at = at;
	walk->issue.limit = NULL;
	walk->found(walk, &walk->issue);
}

static void check(struct quantity_walk *walk, const struct node *at)
{
	struct quantity q;
	enum quantity_state state;

	if (!at)
		return;
	state = node_quantity(at, &q);
	report_fault(walk, at, fault_of(at, walk->native, state, &q));
}

static void check_map(struct quantity_walk *walk, const struct node *map)
{
	if (node_is_map(map))
		FOR_EACH_CHILD(map, value)
			check(walk, value);
}

/* Extended resources and huge pages, whose request must equal the limit, are
 * left to other rules. */
static void check_order(struct quantity_walk *walk, const struct node *request,
			const struct node *limit)
{
	if (strchr(request->key, '/') ||
	    text_starts(request->key, "hugepages-"))
		return;
	walk->issue.fault = QUANTITY_ABOVE_LIMIT;
	walk->issue.at = request;
	walk->issue.limit = limit;
	walk->found(walk, &walk->issue);
}

static bool is_above(const struct node *request, const struct node *limit)
{
	struct quantity low, high;

	return node_quantity(request, &low) == QUANTITY_OK &&
	       node_quantity(limit, &high) == QUANTITY_OK &&
	       quantity_cmp(low, high) > 0;
}

static void check_resources(struct quantity_walk *walk,
			    const struct node *resources)
{
	const struct node *limits = node_get(resources, "limits");
	const struct node *requests = node_get(resources, "requests");

	check_map(walk, limits);
	check_map(walk, requests);
	if (!node_is_map(requests))
		return;
	FOR_EACH_CHILD(requests, request) {
		const struct node *limit = node_get(limits, request->key);

		if (is_above(request, limit))
			check_order(walk, request, limit);
	}
}

static void check_entry(struct quantity_walk *walk,
			const struct resource_entry *entry)
{
	report_fault(walk, entry->node,
		     fault_of(entry->node, walk->native, entry->state,
			      &entry->quantity));
}

/* Checks a container, whose values are parsed already. */
static void check_container(struct quantity_walk *walk,
			    const struct container *c)
{
	FOR_EACH_LIMIT(c, limit)
		check_entry(walk, limit);
	FOR_EACH_REQUEST(c, request) {
		const struct resource_entry *limit = request->other;

		check_entry(walk, request);
		if (limit && limit->state == QUANTITY_OK &&
		    request->state == QUANTITY_OK &&
		    quantity_cmp(request->quantity, limit->quantity) > 0)
			check_order(walk, request->node, limit->node);
	}
}

static void check_pod(struct quantity_walk *walk, const struct pod *pod)
{
	/* Fields of a flat spec belong to the operator. */
	if (pod->flat || pod->made)
		return;
	walk->issue.pod = pod;
	check_map(walk, node_get(pod->spec, "overhead"));
	if (node_is_seq(node_get(pod->spec, "containers")))
		check_resources(walk, node_get(pod->spec, "resources"));
	FOR_EACH_CHILD(node_get(pod->spec, "volumes"), volume) {
		const struct node *claim = node_get(
			node_get(volume, "ephemeral"), "volumeClaimTemplate");

		check(walk,
		      node_get(node_get(volume, "emptyDir"), "sizeLimit"));
		check_resources(walk,
				node_get(node_get(claim, "spec"), "resources"));
	}
	FOR_EACH_CONTAINER(pod, c) {
		walk->issue.c = c;
		check_container(walk, c);
	}
	walk->issue.c = NULL;
	walk->issue.pod = NULL;
}

static void check_limit_range(struct quantity_walk *walk,
			      const struct node *spec)
{
	static const char *const maps[] = {"max", "min", "default",
					   "defaultRequest",
					   "maxLimitRequestRatio"};

	FOR_EACH_CHILD(node_get(spec, "limits"), item)
		for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
			check_map(walk, node_get(item, maps[i]));
}

void quantity_issues(struct quantity_walk *walk, const struct object *object)
{
	const struct node *spec = node_get(object->root, "spec");

	walk->issue = (struct quantity_issue){.object = object};
	/* The Workflow CRD leaves the templates to the controller. */
	walk->native = typed_group_is_native(object->group) ||
		       object->pods_inferred ||
		       text_eq(object->group, "argoproj.io");
	FOR_EACH_POD(object, pod)
		check_pod(walk, pod);
	FOR_EACH_CHILD(node_get(spec, "volumeClaimTemplates"), claim)
		check_resources(walk, node_path(claim, "spec.resources"));
	if (!text_eq(object->group, ""))
		return;
	if (text_eq(object->kind, "ResourceQuota"))
		check_map(walk, node_get(spec, "hard"));
	else if (text_eq(object->kind, "LimitRange"))
		check_limit_range(walk, spec);
	else if (text_eq(object->kind, "PersistentVolumeClaim"))
		check_resources(walk, node_get(spec, "resources"));
}

/* -- spelling ------------------------------------------------------------ */

bool entry_is_zero(const struct container *c,
		   const struct resource_entry *entry)
{
	const struct object *object = c->pod->object;

	if (entry->state == QUANTITY_OK)
		return !entry->quantity.nano;
	return entry->state == QUANTITY_ABSENT && !object->fragment &&
	       typed_group_is_native(object->group);
}
