/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types of fields as kube-apiserver decodes them: "cannot unmarshal number into
 * Go struct field EnvVar.value of type string" for its own kinds, "must be of
 * type integer" by the schema of a custom resource. Both were observed on
 * kube-apiserver 1.36. The Go types define the expected type, in whole objects
 * of native kinds and in pods and containers of operators' kinds.
 * custom_types.tsv defines the types of other fields of common operators.
 * Fields of a flat spec belong to the operator and are skipped;
 * quantity-invalid checks quantities.
 */
#include "kube/typed.h"

#include <string.h>

#include "base/text.h"
#include "native.h"

const char *node_type_text(const struct node *node)
{
	static const char *const names[] = {
		[NODE_NULL] = "null",	    [NODE_BOOL] = "a boolean",
		[NODE_INT] = "a number",    [NODE_FLOAT] = "a number",
		[NODE_STRING] = "a string", [NODE_MAP] = "a map",
		[NODE_SEQ] = "a list",
	};

	return names[node->type];
}

struct fields {
	struct field_walk *walk;
	struct field_issue issue;
	bool typed; /* the object's types are known and checked */
};

static void found(struct fields *fields, const struct node *at,
		  const char *field, const char *wanted)
{
	fields->issue.at = at;
	fields->issue.field = field;
	fields->issue.wanted = wanted;
	fields->walk->found(fields->walk, &fields->issue);
}

/* The types that are accepted for each form of a field (letters as in
 * native_types.tsv), and for NATIVE_LIST and NATIVE_MAP. */
static const struct {
	unsigned types;
	const char *name;
} forms[] = {
	['s'] = {1 << NODE_STRING, "a string"},
	['t'] = {1 << NODE_STRING, "a string"},
	['y'] = {1 << NODE_STRING | 1 << NODE_SEQ, "a string"},
	['b'] = {1 << NODE_BOOL, "a boolean"},
	['i'] = {1 << NODE_INT, "an integer"},
	['f'] = {1 << NODE_INT | 1 << NODE_FLOAT, "a number"},
	['o'] = {1 << NODE_INT | 1 << NODE_STRING, "an integer or a string"},
	['q'] = {~0u, NULL},
	['x'] = {~0u, NULL},
	['T'] = {1 << NODE_MAP, "a map"},
	[NATIVE_MAP] = {1 << NODE_MAP, "a map"},
	[NATIVE_LIST] = {1 << NODE_SEQ, "a list"},
};

const char *native_wanted_type(const struct node *node, char form)
{
	unsigned i = (unsigned char)form;
	int64_t n;

	if (forms[i].types & 1u << node->type || node_is_unset(node) ||
	    node_is_unknown(node) ||
	    /* 2.0 is accepted as an integer */
	    (forms[i].types & 1 << NODE_INT && node_int(node, &n)))
		return NULL;
	return forms[i].name;
}

static void visit_map(struct fields *fields, const struct node *map,
		      unsigned type);

static void visit_item(struct fields *fields, const struct node *node,
		       const struct native_field *field)
{
	const char *wanted = native_wanted_type(node, field->form);

	if (wanted)
		found(fields, node, field->name, wanted);
	else if (field->form == 'T' && field->type != native_pod_spec &&
		 field->type != native_container)
		visit_map(fields, node, field->type);
}

static void visit_value(struct fields *fields, const struct node *node,
			const struct native_field *field)
{
	unsigned many = field->flags & (NATIVE_LIST | NATIVE_MAP);
	const char *wanted;

	if (!many) {
		visit_item(fields, node, field);
		return;
	}
	/* For a map of lists, only the map is checked. */
	wanted = native_wanted_type(node, many == NATIVE_LIST ? NATIVE_LIST
							      : NATIVE_MAP);
	if (wanted)
		found(fields, node, field->name, wanted);
	else if (many != (NATIVE_LIST | NATIVE_MAP))
		FOR_EACH_CHILD(node, item)
			visit_item(fields, item, field);
}

/* Checks the fields of a map, except pods and containers, which are checked
 * separately. */
static void visit_map(struct fields *fields, const struct node *map,
		      unsigned type)
{
	if (!node_is_map(map))
		return;
	FOR_EACH_CHILD(map, child) {
		const struct native_field *field = native_find(
			native_types + type, child->key, child->key_len);

		if (field)
			visit_value(fields, child, field);
	}
}

/* -- numbers of pods ------------------------------------------------------ */

/* Checks numbers at the paths, which end with NULL. No schema has a minimum for
 * the bounds of an autoscaler: the rules of the operators check them. */
static void check_numbers(struct fields *fields, const struct node *map,
			  const char *const *paths)
{
	for (; *paths; paths++) {
		const struct node *node = node_path(map, *paths);
		bool bound = text_starts(*paths, "min") ||
			     text_starts(*paths, "max");
		int64_t n;

		if (node_is_unset(node) || node_is_unknown(node))
			continue;
		if (node_int(node, &n) ? n < 0 && !bound : !fields->typed)
			found(fields, node, *paths, "an integer of 0 or more");
	}
}

/* Checks numbers of pods in the object's spec or in a group of its pods, and
 * the values of rayStartParams. */
static void check_counts(struct fields *fields, const struct node *map)
{
	static const char *const paths[] = {"replicas",
					    "minReplicas",
					    "maxReplicas",
					    "numOfHosts",
					    "template.spec.parallelism",
					    "template.spec.completions",
					    NULL};
	static const struct native_field params = {
		"rayStartParams", 's', NATIVE_MAP, 0, 0, 0, 0};
	const struct node *start = node_get(map, params.name);

	check_numbers(fields, map, paths);
	if (start && !fields->typed)
		visit_value(fields, start, &params);
}

/* -- objects -------------------------------------------------------------- */

static void check_pod(struct field_walk *walk, const struct pod *pod)
{
	struct fields fields = {
		.walk = walk,
		.issue = {.object = pod->object, .pod = pod},
	};

	if (pod->flat || pod->made)
		return;
	visit_map(&fields, pod->spec, native_pod_spec);
	FOR_EACH_CONTAINER(pod, c) {
		fields.issue.c = c;
		visit_map(&fields, c->node, native_container);
	}
}

/* True if the group of the pod was checked already: it is the object or its
 * spec, or the group of the previous pod. */
static bool same_group(const struct object *object, const struct pod *pod)
{
	return pod->group == object->root ||
	       pod->group == node_get(object->root, "spec") ||
	       (pod > object->pods && pod[-1].group == pod->group);
}

/* Checks the types of all values of a native kind except numbers of pods; in
 * other kinds, those of metadata, of the pods, and of the fields in
 * custom_types.tsv. */
static void check_types(struct fields *fields, const struct object *object,
			const struct native_kind *kind,
			const struct operator_kind *custom)
{
	if (kind)
		visit_map(fields, object->root, kind->type);
	else
		visit_map(fields, node_get(object->root, "metadata"),
			  native_metadata);
	if (custom) {
		fields->walk->custom = true;
		visit_map(fields, object->root, custom->type);
		fields->walk->custom = false;
	}
	FOR_EACH_POD(object, pod)
		check_pod(fields->walk, pod);
}

void field_issues(struct field_walk *walk, const struct object *object)
{
	/* Only in native kinds, because in others `parallelism` may be a
	 * map. */
	static const char *const of_jobs[] = {"parallelism",
					      "completions",
					      "activeDeadlineSeconds",
					      "ttlSecondsAfterFinished",
					      "jobTemplate.spec.parallelism",
					      "jobTemplate.spec.completions",
					      NULL};
	const struct native_kind *kind =
		native_kind(object->group, object->version, object->kind);
	const struct operator_kind *custom =
		kind || walk->defined || walk->counts_only
			? NULL
			: operator_kind(object);
	const struct node *spec = node_get(object->root, "spec");
	struct fields fields = {.walk = walk,
				.issue = {.object = object},
				.typed =
					custom || (kind && !walk->counts_only)};

	if (!walk->counts_only && !walk->valid)
		check_types(&fields, object, kind, custom);
	if (object->npods && !object->pods_inferred)
		check_counts(&fields, spec);
	if (kind)
		check_numbers(&fields, spec, of_jobs);
	FOR_EACH_POD(object, pod) {
		fields.issue.pod = pod;
		if (!object->pods_inferred && !same_group(object, pod))
			check_counts(&fields, pod->group);
	}
}

/* -- quantities ---------------------------------------------------------- */

bool entry_is_zero(const struct container *c,
		   const struct resource_entry *entry)
{
	const struct object *object = c->pod->object;

	if (entry->state == QUANTITY_OK)
		return !entry->quantity.nano;
	return entry->state == QUANTITY_ABSENT && !object->fragment &&
	       typed_group_is_native(object->group);
}
