/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CustomResourceDefinitions: what they say of a kind, and the
 * x-kubernetes-validations of their schemas.
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
		v->next = definition->versions;
		definition->versions = v;
	}
}

void definition_add(struct admission_policies *set, const struct given *given)
{
	const struct node *spec = node_get(given->object->root, "spec");
	const struct node *names = node_get(spec, "names");
	struct crd *d = ARENA_NEW(&set->arena, struct crd);

	d->given = given;
	d->name = text_or_empty(given->object->name);
	d->group = admission_string(spec, "group");
	d->kind = admission_string(names, "kind");
	d->plural = admission_string(names, "plural");
	d->cluster_scoped = node_eq(node_get(spec, "scope"), "Cluster");
	if (!d->group || !d->kind || !d->plural) {
		admission_problem(set, given, NULL,
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
	const struct cel_env *env;
};

static struct expression *message_expression(struct gathering *g,
					     const struct node *item)
{
	const struct node *node = node_get(item, "messageExpression");
	struct expression *e;

	if (!node_str(node) || !node->len)
		return NULL;
	e = ARENA_NEW(&g->set->arena, struct expression);
	*e = (struct expression){.text = node->str, .node = node};
	expression_compile(g->set, g->definition->given, g->env, 0, e);
	return e;
}

/* A rule that looks at the old object waits for an update, unless it says that
 * there need be none. */
static bool is_of_update(const struct node *item,
			 const struct expression *expression)
{
	return expression->program &&
	       cel_program_reads(expression->program, "oldSelf") &&
	       !node_is_true(node_get(item, "optionalOldSelf"));
}

static void gather_rule(struct gathering *g, const struct node *schema,
			const struct node *item)
{
	const struct node *node = node_get(item, "rule");
	struct crd_rule *rule = ARENA_NEW(&g->set->arena, struct crd_rule);

	if (!node_str(node) || !node->len)
		return;
	rule->schema = schema;
	rule->expression = (struct expression){.text = node->str, .node = node};
	expression_compile(g->set, g->definition->given, g->env, 0,
			   &rule->expression);
	if (is_of_update(item, &rule->expression))
		return;
	rule->message = admission_string(item, "message");
	rule->message_expr = message_expression(g, item);
	rule->field = admission_string(item, "fieldPath");
	rule->next = g->version->rules;
	g->version->rules = rule;
}

static void gather(struct gathering *g, const struct node *schema)
{
	const struct node *more = node_get(schema, "additionalProperties");

	FOR_EACH_CHILD(node_get(schema, "x-kubernetes-validations"), item)
		gather_rule(g, schema, item);
	FOR_EACH_CHILD(node_get(schema, "properties"), property)
		gather(g, property);
	if (node_is_map(node_get(schema, "items")))
		gather(g, node_get(schema, "items"));
	if (node_is_map(more))
		gather(g, more);
}

void definitions_compile(struct admission_policies *set)
{
	const struct cel_type *dyn = cel_type_of_kind(CEL_DYN);
	struct cel_variable *variables =
		ARENA_ARRAY(&set->arena, struct cel_variable, 3);
	struct gathering g = {.set = set};
	struct crd *d;

	variables[0] = (struct cel_variable){"self", dyn};
	variables[1] = (struct cel_variable){"oldSelf", dyn};
	g.env = cel_env_new(&set->arena, variables);
	for (d = set->definitions; d; d = d->next) {
		g.definition = d;
		for (g.version = d->versions; g.version;
		     g.version = g.version->next)
			gather(&g, g.version->schema);
	}
}
