/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks an object of a native kind once to find which of unknown.c,
 * field_type.c and field_value.c may report something, so that valid objects
 * need no other walk. A check may be named that reports nothing; none is
 * missing.
 */
#include "kube/container.h"
#include "native.h"

struct survey {
	struct constraint_check constraints;
	unsigned found; /* bits of enum typed_check */
	size_t reached; /* PodSpecs and containers */
};

static void found_fault(struct constraint_check *check, const struct node *at,
			const char *text)
{
	struct survey *survey = check->context;

	(void)at;
	(void)text;
	survey->found |= TYPED_VALUES;
}

static void visit_map(struct survey *survey, const struct node *map,
		      unsigned number);

static void visit_item(struct survey *survey, const struct node *node,
		       const struct native_field *field)
{
	if (native_wanted_type(node, field->form))
		survey->found |= TYPED_TYPES;
	if (field->values && !native_word_is_allowed(node, field))
		survey->found |= TYPED_VALUES;
	if (field->form == 'T')
		visit_map(survey, node, field->type);
}

static void visit_value(struct survey *survey, const struct node *node,
			const struct native_field *field)
{
	unsigned many = field->flags & (NATIVE_LIST | NATIVE_MAP);

	if (!many) {
		visit_item(survey, node, field);
		return;
	}
	if (native_wanted_type(node,
			       many == NATIVE_LIST ? NATIVE_LIST : NATIVE_MAP))
		survey->found |= TYPED_TYPES;
	FOR_EACH_CHILD(node, item)
		visit_item(survey, item, field);
}

static bool lacks_required(const struct node *map,
			   const struct native_type *type)
{
	const struct native_field *field = native_fields + type->field;
	const struct native_field *end = field + type->nfields;

	for (; field < end; field++)
		if (field->flags & NATIVE_REQUIRED &&
		    node_is_unset(node_get_tagged(map, field->name, field->len,
						  field->tag)))
			return true;
	return false;
}

static void visit_map(struct survey *survey, const struct node *map,
		      unsigned number)
{
	const struct native_type *type = native_types + number;

	if (!node_is_map(map))
		return;
	survey->reached +=
		number == native_pod_spec || number == native_container;
	FOR_EACH_CHILD(map, child) {
		const struct native_field *field = native_field_of(type, child);

		if (field)
			visit_value(survey, child, field);
		else
			survey->found |= TYPED_UNKNOWN;
	}
	if (lacks_required(map, type))
		survey->found |= TYPED_VALUES;
	constraint_check_map(&survey->constraints, map, type);
}

static bool is_below(const struct node *node, const struct node *root)
{
	while (node && node != root)
		node = node->parent;
	return node;
}

/* Returns the number of PodSpecs and containers that the other checks read
 * through the object's pods, or SIZE_MAX if one of them is outside of the
 * object's tree or is skipped. */
static size_t count_parts(const struct object *object)
{
	size_t n = 0;

	FOR_EACH_POD(object, pod) {
		if (pod->flat || pod->made ||
		    !is_below(pod->spec, object->root))
			return SIZE_MAX;
		n++;
		FOR_EACH_CONTAINER(pod, c) {
			if (!is_below(c->node, pod->spec))
				return SIZE_MAX;
			n++;
		}
	}
	return n;
}

unsigned typed_survey(struct arena *arena, const struct object *object)
{
	const struct native_kind *kind =
		native_kind(object->group, object->version, object->kind);
	struct survey survey = {
		.constraints = {.found = found_fault, .arena = arena},
		.found = TYPED_SURVEYED};

	survey.constraints.context = &survey;
	if (!kind || !object_kind_has(object, KIND_NATIVE | KIND_SELECTOR))
		return TYPED_ALL;
	visit_map(&survey, object->root, kind->type);
	return survey.reached == count_parts(object) ? survey.found : TYPED_ALL;
}
