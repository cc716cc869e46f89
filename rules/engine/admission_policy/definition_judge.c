/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The validation rules of a definition over an object of its kind (apiserver
 * pkg/apiserver/schema/cel/validation.go of apiextensions): each rule is held
 * against every value of the schema that holds it.
 */
#include <string.h>

#include "admission_policy_internal.h"
#include "base/text.h"

struct checking {
	struct admission_case *a;
	const struct crd *definition;
	const struct crd_rule *rules; /* of the version */
	const struct node *self;      /* the value, and its schema */
	const struct node *schema;
	uint64_t budget;
};

static struct cel_value read_self(struct cel_eval *eval, void *context,
				  unsigned index)
{
	struct checking *c = context;

	if (index)
		return cel_optional_none();
	return cel_from_node(eval->arena, c->self, c->schema);
}

static struct cel_value run(struct checking *c, const struct expression *e,
			    struct cel_eval *eval)
{
	struct cel_eval_options options = {
		.variable = read_self,
		.context = c,
		.budget = CEL_EXPRESSION_BUDGET,
		.fragment = c->a->object->fragment,
	};

	cel_eval_init(eval, e->program, c->a->arena, &options);
	return cel_eval_run(eval);
}

static const char *message_of(struct checking *c, const struct crd_rule *rule,
			      struct cel_value value)
{
	struct arena *arena = c->a->arena;
	const char *message = NULL;
	struct cel_eval eval;

	if (cel_is(value, CEL_ERROR))
		return arena_printf(arena, "rule '%s' resulted in error: %.*s",
				    rule->expression.text, (int)value.text.len,
				    value.text.data);
	if (rule->message_expr && rule->message_expr->program)
		message = admission_message(arena,
					    run(c, rule->message_expr, &eval));
	if (!message)
		message = rule->message;
	return message ? message
		       : arena_printf(arena, "failed rule: %s",
				      rule->expression.text);
}

/* fieldPath names what the rule is about: `.spec.replicas`, `.x['a.b']`. */
static const struct node *field_of(struct checking *c,
				   const struct crd_rule *rule)
{
	const struct node *at =
		typed_origin(c->self, c->a->typed, c->a->object->root);
	const struct node *field = rule->field && *rule->field == '.'
					   ? node_path(c->self, rule->field + 1)
					   : NULL;

	return field ? typed_origin(field, c->a->typed, c->a->object->root)
		     : at;
}

static void report(struct checking *c, const struct crd_rule *rule,
		   struct cel_value value, struct cel_eval *eval)
{
	const struct admission_request *request = c->a->request;
	const struct node *nodes[BLAMED];
	const char *message = message_of(c, rule, value);
	struct admission_result result = {
		.definition = true,
		.severity = SEVERITY_ERROR,
		.policy = c->definition->name,
		.binding = "",
		.expression = rule->expression.text,
		.message =
			admission_line(c->a->arena, message, strlen(message)),
		.nodes = nodes,
	};

	if (!rule->field)
		result.nnodes = admission_blame(c->a, eval, nodes, BLAMED);
	if (!result.nnodes && c->self != c->a->typed)
		nodes[result.nnodes++] = field_of(c, rule);
	request->found(request->context, &result);
}

static void check(struct checking *c, const struct crd_rule *rule)
{
	const struct admission_request *request = c->a->request;
	struct cel_eval eval = {0};
	struct cel_value value;

	if (!rule->expression.program) {
		request->not_run(request->context, true,
				 "a rule of the definition cannot be read");
		return;
	}
	value = run(c, &rule->expression, &eval);
	if (cel_is(value, CEL_UNKNOWN))
		request->not_run(request->context, true,
				 "a value is not known");
	else if (!cel_is_true(value))
		report(c, rule, value, &eval);
}

static void walk(struct checking *c, const struct node *value,
		 const struct node *schema)
{
	const struct node *properties = node_get(schema, "properties");
	const struct node *more = node_get(schema, "additionalProperties");
	const struct crd_rule *rule;

	if (node_is_unknown(value) || !node_is_map(schema))
		return;
	for (rule = c->rules; rule; rule = rule->next) {
		if (rule->schema != schema)
			continue;
		c->self = value;
		c->schema = schema;
		check(c, rule);
	}
	FOR_EACH_CHILD(value, child) {
		const struct node *one =
			child->key ? node_getn(properties, child->key,
					       child->key_len)
				   : node_get(schema, "items");

		walk(c, child, one ? one : more);
	}
}

void definition_judge(struct admission_case *a, const struct crd *definition)
{
	const struct crd_version *version =
		definition_version(definition, a->object->version);
	struct checking c = {.a = a, .definition = definition};

	if (!version || !version->rules)
		return;
	if (!a->typed)
		a->typed = typed_object(a->arena, a->object, version->schema);
	c.rules = version->rules;
	walk(&c, a->typed, version->schema);
}
