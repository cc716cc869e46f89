/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads CustomResourceDefinitions: the versions, schemas and
 * x-kubernetes-validations of a kind.
 */
#include <string.h>

#include "admission_policy_internal.h"
#include "base/text.h"

const struct crd *definition_find(const struct admission_policies *set,
				  const char *group, const char *kind)
{
	const struct crd *d = set->definitions;

	while (d && !(text_eq(d->group, group) && text_eq(d->kind, kind)))
		d = d->next;
	return d;
}

bool admission_policies_define(const struct admission_policies *set,
			       const char *group, const char *kind)
{
	return set && definition_find(set, group, kind);
}

const struct crd_version *definition_version(const struct crd *definition,
					     const char *version)
{
	const struct crd_version *v = definition ? definition->versions : NULL;

	while (v && !text_eq(v->version, version))
		v = v->next;
	return v;
}

static void add_versions(struct admission_policies *set, struct crd *definition,
			 const struct node *versions)
{
	FOR_EACH_CHILD(versions, version) {
		struct crd_version *v;

		if (node_is_false(node_get(version, "served")))
			continue;
		v = ARENA_NEW(&set->arena, struct crd_version);
		v->version = admission_string(version, "name");
		v->schema = node_path(version, "schema.openAPIV3Schema");
		v->has_status =
			node_is_map(node_path(version, "subresources.status"));
		if (v->schema)
			v->schema = definition_schema(&set->arena, v->schema);
		v->next = definition->versions;
		definition->versions = v;
	}
}

void definition_add(struct admission_policies *set,
		    const struct input_object *input)
{
	const struct node *spec = node_get(input->object->root, "spec");
	const struct node *names = node_get(spec, "names");
	struct crd *d = ARENA_NEW(&set->arena, struct crd);

	d->input = input;
	d->left_out = admission_string(input->object->root, "leftOut");
	d->name = text_or_empty(input->object->name);
	d->group = admission_string(spec, "group");
	d->kind = admission_string(names, "kind");
	d->plural = admission_string(names, "plural");
	d->cluster_scoped = node_eq(node_get(spec, "scope"), "Cluster");
	if (!d->group || !d->kind || !d->plural) {
		admission_problem(set, input, NULL,
				  "a definition without group, kind or plural");
		return;
	}
	add_versions(set, d, node_get(spec, "versions"));
	d->next = set->definitions;
	set->definitions = d;
}

/* --- rules ---------------------------------------------------------------- */

struct gathering {
	struct admission_policies *set;
	const struct crd *definition;
	struct crd_version *version;
	const struct cel_type *self;
	/* Old values cannot be matched with new ones at this place. */
	bool uncorrelated;
};

static bool is_optional(const struct node *item)
{
	return node_is_true(node_get(item, "optionalOldSelf"));
}

static const struct cel_env *environment(struct gathering *g,
					 const struct node *item)
{
	struct arena *arena = &g->set->arena;
	struct cel_variable *variables =
		ARENA_ARRAY(arena, struct cel_variable, 3);

	variables[0] = (struct cel_variable){"self", g->self};
	variables[1] = (struct cel_variable){
		"oldSelf",
		is_optional(item)
			? cel_type_with(arena, CEL_OPTIONAL, g->self, NULL)
			: g->self};
	return cel_env_new(arena, variables);
}

/* True for a rule that reads the old object and does not set optionalOldSelf:
 * it applies only to updates. Also reports a wrong use of oldSelf and of
 * optionalOldSelf. */
static bool is_of_update(struct gathering *g, const struct node *item,
			 const struct expression *expression)
{
	const struct input_object *input = g->definition->input;
	bool old = expression->program &&
		   cel_program_reads(expression->program, "oldSelf");

	if (old && g->uncorrelated)
		admission_problem(
			g->set, input, expression->node,
			"`oldSelf` is not available here: the list "
			"around it is not a map list, or the map is atomic");
	if (!old && expression->program && is_optional(item))
		admission_problem(g->set, input,
				  node_get(item, "optionalOldSelf"),
				  "the rule does not use `oldSelf`");
	return old && !is_optional(item);
}

static void gather_rule(struct gathering *g, const struct node *schema,
			const struct node *item)
{
	const struct input_object *input = g->definition->input;
	const struct cel_env *env = environment(g, item);
	struct crd_rule *rule = ARENA_NEW(&g->set->arena, struct crd_rule);

	rule->schema = schema;
	rule->expression = expression_new(g->set, input, env, 1u << CEL_BOOL,
					  node_get(item, "rule"));
	if (!rule->expression)
		return;
	rule->message = admission_string(item, "message");
	rule->message_expr =
		expression_new(g->set, input, env, 1u << CEL_STRING,
			       node_get(item, "messageExpression"));
	rule->field = admission_string(item, "fieldPath");
	if (is_of_update(g, item, rule->expression))
		return;
	rule->next = g->version->rules;
	g->version->rules = rule;
}

static void gather_rules(struct gathering *g, const struct node *schema)
{
	const struct node *items = node_get(schema, "x-kubernetes-validations");

	if (!node_count(items))
		return;
	g->self = definition_type(&g->set->arena, schema, "self");
	if (!g->self)
		admission_problem(g->set, g->definition->input, items,
				  "expressions do not see values of this "
				  "schema: its type, or that of its items, is "
				  "missing");
	for (const struct node *item = items->first; g->self && item;
	     item = item->next)
		gather_rule(g, schema, item);
}

static void gather(struct gathering *g, const struct node *schema)
{
	const struct node *more = node_get(schema, "additionalProperties");
	const struct node *items = node_get(schema, "items");
	bool before = g->uncorrelated;

	gather_rules(g, schema);
	g->uncorrelated |=
		node_eq(node_get(schema, "x-kubernetes-map-type"), "atomic");
	FOR_EACH_CHILD(node_get(schema, "properties"), property)
		gather(g, property);
	if (node_is_map(more))
		gather(g, more);
	g->uncorrelated =
		before ||
		!node_eq(node_get(schema, "x-kubernetes-list-type"), "map");
	if (node_is_map(items))
		gather(g, items);
	g->uncorrelated = before;
}

void definitions_compile(struct admission_policies *set)
{
	struct gathering g = {.set = set};
	struct crd *d;

	for (d = set->definitions; d; d = d->next) {
		g.definition = d;
		for (g.version = d->versions; g.version;
		     g.version = g.version->next)
			gather(&g, g.version->schema);
	}
}
