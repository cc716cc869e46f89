/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks enumerations and required fields of the native types
 * (data/native_types.tsv), and their constraints (constraint.c): everywhere in
 * objects of native kinds, and in the pods and containers of operators' kinds,
 * whose operators may add and name containers. For other fields of common
 * operators, data/custom_types.tsv has the enumerations, required fields and
 * constraints of all releases.
 */
#include "kube/typed.h"

#include <string.h>

#include "base/text.h"
#include "native.h"

struct values {
	struct value_walk *walk;
	struct value_issue issue;
	bool native;
};

/* True for the handler of a probe whose port Knative copies from the container
 * (knative.dev/serving pkg/reconciler/revision/resources/deploy.go,
 * rewriteUserProbe). KServe's definitions do not require the port either. */
static bool is_probe_of_server(const struct object *object,
			       const struct node *map)
{
	static const char *const handlers[] = {"httpGet", "tcpSocket", "grpc",
					       NULL};

	return text_starts(object->group, "serving.") &&
	       text_any(map->key, handlers, text_eq);
}

/* True if an operator may set fields that the map lacks. */
static bool is_set_later(const struct values *values, const struct node *map)
{
	const struct value_issue *issue = &values->issue;

	return !values->native && issue->pod &&
	       (map == issue->pod->spec ||
		(issue->c && map == issue->c->node) ||
		is_probe_of_server(issue->object, map));
}

static void found(struct values *values, const struct node *at,
		  const char *field, const char *const *allowed,
		  const char *text)
{
	values->issue.at = at;
	values->issue.field = field;
	values->issue.values = allowed;
	values->issue.text = text;
	values->walk->found(values->walk, &values->issue);
}

static void found_fault(struct constraint_check *check, const struct node *at,
			const char *text)
{
	struct values *values = check->context;

	/* One constraint of a value is enough. */
	if (values->walk->custom && at == values->issue.at)
		return;
	values->issue.since = check->constraint->since;
	found(values, at, "", NULL, text);
	values->issue.since = NULL;
}

static bool mismatches(struct constraint_check *check, const char *pattern,
		       const struct node *text)
{
	struct values *values = check->context;

	return values->walk->mismatches(values->walk, pattern, text);
}

bool native_word_is_allowed(const struct node *node,
			    const struct native_field *field)
{
	const char *const *word = native_enums[field->values];

	/* An empty string counts as unset. */
	if (node->type != NODE_STRING || !node->len || node_is_unknown(node))
		return true;
	while (*word && strcmp(*word, node->str))
		word++;
	return *word;
}

static void visit_map(struct values *values, const struct node *map,
		      unsigned type);

static void visit_item(struct values *values, const struct node *node,
		       const struct native_field *field)
{
	if (field->values && values->walk->check == VALUE_WORDS) {
		if (!native_word_is_allowed(node, field))
			found(values, node, field->name,
			      native_enums[field->values], NULL);
	} else if (field->form == 'T' && field->type != native_pod_spec &&
		   field->type != native_container) {
		visit_map(values, node, field->type);
	}
}

/* True if field-unknown reports the fields that the types lack: always outside
 * of pods, and in most pod templates. */
static bool reports_unknown(const struct values *values)
{
	const struct pod *pod = values->issue.pod;

	return !pod || (!pod->inner && pod->template &&
			(pod->object->class != KIND_SERVING ||
			 object_kind_has(pod->object, KIND_PLAIN)));
}

/* True if field-unknown reports another field, and that this one was probably
 * meant. */
static bool is_misspelled(const struct values *values, const struct node *map,
			  const struct native_type *type,
			  const struct native_field *field)
{
	if (!reports_unknown(values))
		return false;
	FOR_EACH_CHILD(map, child)
		if (child->key_len &&
		    !native_find(type, child->key, child->key_len) &&
		    text_nearest(child->key, &field->name, 1))
			return true;
	return false;
}

static void visit_field(struct values *values, const struct node *map,
			const struct native_type *type,
			const struct native_field *field)
{
	const struct node *node =
		node_get_tagged(map, field->name, field->len, field->tag);
	unsigned many = field->flags & (NATIVE_LIST | NATIVE_MAP);

	if (node_is_unset(node)) {
		if (field->flags & NATIVE_REQUIRED &&
		    values->walk->check == VALUE_MISSING &&
		    !is_set_later(values, map) &&
		    !is_misspelled(values, map, type, field))
			found(values, map, field->name, NULL, NULL);
	} else if (!many) {
		visit_item(values, node, field);
	} else if (many == NATIVE_LIST ? node_is_seq(node)
				       : node_is_map(node)) {
		FOR_EACH_CHILD(node, item)
			visit_item(values, item, field);
	}
}

static void check_constraints(struct values *values, const struct node *map,
			      const struct native_type *type)
{
	const struct object *object = values->issue.object;
	struct constraint_check check = {
		.found = found_fault,
		.mismatches = mismatches,
		.arena = values->walk->arena,
		.context = values,
		.reports_unknown = reports_unknown(values),
		/* The operator merges their containers into others. */
		.partial = object->fragment ||
			   (!values->native && !values->walk->custom &&
			    (object->class == KIND_SERVING ||
			     object->class == KIND_TEMPLATE)),
	};

	constraint_check_map(&check, map, type);
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
			visit_field(values, map, type, field);
	}
}

static void visit_map(struct values *values, const struct node *map,
		      unsigned number)
{
	const struct native_type *type = &native_types[number];
	const struct native_field *field = native_fields + type->field;
	const struct native_field *end = field + type->nfields;
	unsigned wanted = 0;

	if (!node_is_map(map) || node_is_unknown(map))
		return;
	switch (values->walk->check) {
	case VALUE_WORDS:
		visit_words(values, map, type);
		return;
	case VALUE_CONSTRAINTS:
		check_constraints(values, map, type);
		wanted = NATIVE_CONSTRAINTS;
		break;
	case VALUE_MISSING:
		wanted = NATIVE_REQUIREMENTS;
		break;
	}
	for (; field < end; field++)
		if (field->flags & wanted &&
		    (field->flags & NATIVE_REQUIRED ||
		     map->tags & node_tag_bit(field->tag)))
			visit_field(values, map, type, field);
}

static void check_pod(struct values *values, const struct pod *pod)
{
	values->issue.pod = pod;
	values->issue.c = NULL;
	if (pod->flat || pod->made)
		return;
	if (!values->native && values->walk->check == VALUE_CONSTRAINTS)
		visit_map(values, pod->metadata, native_metadata);
	visit_map(values, pod->spec, native_pod_spec);
	FOR_EACH_CONTAINER(pod, c) {
		values->issue.c = c;
		visit_map(values, c->node, native_container);
	}
}

/* Checks the fields of a native kind, or those of a custom kind outside of its
 * pods. */
static void check_object(struct values *values, const struct object *object)
{
	struct value_walk *walk = values->walk;
	const struct native_kind *kind =
		native_kind(object->group, object->version, object->kind);
	const struct operator_kind *custom =
		kind || walk->defined ? NULL : operator_kind(object);

	walk->custom = custom;
	if (kind || custom)
		visit_map(values, object->root,
			  kind ? kind->type : custom->type);
	walk->custom = false;
}

void value_issues(struct value_walk *walk, const struct object *object)
{
	struct values values = {.walk = walk, .issue = {.object = object}};

	values.native = object_kind_has(object, KIND_NATIVE | KIND_SELECTOR);
	if (object->pods_inferred || (values.native && walk->custom_only))
		return;
	if (!walk->custom_only)
		check_object(&values, object);
	if (!values.native && walk->check == VALUE_CONSTRAINTS)
		visit_map(&values, node_get(object->root, "metadata"),
			  native_metadata);
	FOR_EACH_POD(object, pod)
		check_pod(&values, pod);
}
