/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drops duplicate objects: a cluster has only one policy, binding or definition
 * of a name. If the files define it twice with the same content, one is used.
 * If they differ, it is unknown which one the cluster has, and that is a
 * problem.
 */
#include <stdlib.h>
#include <string.h>

#include "admission_policy_internal.h"

static int by_name(const void *left, const void *right)
{
	const struct input_object *const *a = left, *const *b = right;
	const struct object *x = (*a)->object, *y = (*b)->object;
	int order = strcmp(x->kind, y->kind);

	if (!order)
		order = strcmp(x->name, y->name);
	return order ? order : (*a > *b) - (*a < *b);
}

static bool is_one_of_a_name(const struct input_object *input)
{
	return input->object->name &&
	       (input_is(input, admission_group, "ValidatingAdmissionPolicy") ||
		input_is(input, admission_group,
			 "ValidatingAdmissionPolicyBinding") ||
		input_is(input, "apiextensions.k8s.io",
			 "CustomResourceDefinition"));
}

static void report_duplicate(struct admission_policies *set,
			     const struct input_object *copy,
			     const struct input_object *first)
{
	uint32_t start, end;

	node_anchor(first->object->root, &start, &end);
	admission_problem(
		set, copy, node_path(copy->object->root, "metadata.name"),
		"%s `%s` differs from the one at %s:%u; a cluster can have "
		"only one with this name",
		copy->object->kind, copy->object->name, first->source->name,
		source_position(first->source, start).line);
}

void admission_drop_duplicates(struct admission_policies *set)
{
	struct input_object **named = ARENA_ARRAY(
		&set->arena, struct input_object *, set->ninputs + 1);
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < set->ninputs; i++)
		if (is_one_of_a_name(&set->inputs[i]))
			named[n++] = &set->inputs[i];
	qsort(named, n, sizeof(*named), by_name);
	for (size_t i = 1, first = 0; i < n; i++) {
		struct input_object *copy = named[i];

		if (strcmp(copy->object->kind, named[first]->object->kind) ||
		    strcmp(copy->object->name, named[first]->object->name)) {
			first = i;
			continue;
		}
		copy->copy = true;
		if (!node_same(copy->object->root, named[first]->object->root))
			report_duplicate(set, copy, named[first]);
	}
	for (size_t i = 0; i < set->ninputs; i++)
		if (!set->inputs[i].copy)
			set->inputs[kept++] = set->inputs[i];
	set->ninputs = kept;
}
