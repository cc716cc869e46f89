/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enumerations and required fields of the native types (data/native_types.tsv):
 * anywhere in objects of native kinds, and in the pods and containers of
 * operators' kinds. Operators may add containers and name them.
 */
#include "kube/field_value.h"

#include <string.h>

#include "native.h"

struct values {
	struct value_walk *walk;
	struct value_issue issue;
	bool native;
};

/* True for a field that an operator may set. */
static bool is_set_later(const struct values *values, const struct node *map)
{
	const struct value_issue *issue = &values->issue;

	return !values->native && issue->pod &&
	       (map == issue->pod->spec || (issue->c && map == issue->c->node));
}

static void found(struct values *values, const struct node *at,
		  const struct native_field *field, const char *const *allowed)
{
	values->issue.at = at;
	values->issue.field = field->name;
	values->issue.values = allowed;
	values->walk->found(values->walk, &values->issue);
}

static void check_word(struct values *values, const struct node *node,
		       const struct native_field *field)
{
	const char *const *allowed = native_enums[field->values];
	const char *const *word = allowed;

	/* An empty text is as good as none. */
	if (node->type != NODE_STRING || !node->len || node_is_unknown(node))
		return;
	while (*word && strcmp(*word, node->str))
		word++;
	if (!*word)
		found(values, node, field, allowed);
}

static void visit(struct values *values, const struct node *map, unsigned type);

static void visit_item(struct values *values, const struct node *node,
		       const struct native_field *field)
{
	if (field->values && !values->walk->missing)
		check_word(values, node, field);
	else if (field->form == 'T' && field->type != native_pod_spec &&
		 field->type != native_container)
		visit(values, node, field->type);
}

static void visit_field(struct values *values, const struct node *map,
			const struct native_field *field)
{
	const struct node *node =
		node_get_tagged(map, field->name, field->len, field->tag);
	unsigned many = field->flags & (NATIVE_LIST | NATIVE_MAP);

	if (node_is_unset(node)) {
		if (field->flags & NATIVE_REQUIRED && values->walk->missing &&
		    !is_set_later(values, map))
			found(values, map, field, NULL);
	} else if (!many) {
		visit_item(values, node, field);
	} else if (many == NATIVE_LIST ? node_is_seq(node)
				       : node_is_map(node)) {
		FOR_EACH_CHILD(node, item)
			visit_item(values, item, field);
	}
}

static void visit_words(struct values *values, const struct node *map,
			const struct native_type *type)
{
	const unsigned short *word = native_word_fields + type->word;
	const unsigned short *end = word + type->nwords;

	if (!(map->tags & type->word_tags))
		return;
	for (; word < end; word++) {
		const struct native_field *field = &native_fields[*word];

		if (map->tags & node_tag_bit(field->tag))
			visit_field(values, map, field);
	}
}

static void visit(struct values *values, const struct node *map,
		  unsigned number)
{
	const struct native_type *type = &native_types[number];
	const struct native_field *field = native_fields + type->field;
	const struct native_field *end = field + type->nfields;

	if (!node_is_map(map) || node_is_unknown(map))
		return;
	if (!values->walk->missing) {
		visit_words(values, map, type);
		return;
	}
	for (; field < end; field++)
		if (field->flags & NATIVE_REQUIREMENTS)
			visit_field(values, map, field);
}

static void check_pod(struct values *values, const struct pod *pod)
{
	values->issue.pod = pod;
	values->issue.c = NULL;
	if (pod->flat || pod->made)
		return;
	visit(values, pod->spec, native_pod_spec);
	FOR_EACH_CONTAINER(pod, c) {
		values->issue.c = c;
		visit(values, c->node, native_container);
	}
}

void value_issues(struct value_walk *walk, const struct object *object)
{
	struct values values = {.walk = walk, .issue = {.object = object}};

	values.native =
		object_is_known_for(object, KIND_NATIVE | KIND_SELECTOR);
	if (object->guessed || (values.native && walk->custom_only))
		return;
	if (!walk->custom_only) {
		const struct native_kind *kind = native_kind(
			object->group, object->version, object->kind);

		if (kind)
			visit(&values, object->root, kind->type);
	}
	FOR_EACH_POD(object, pod)
		check_pod(&values, pod);
}
