/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluates the validation rules of a definition on an object of its kind
 * (apiserver pkg/apiserver/schema/cel/validation.go of apiextensions). Each
 * rule is evaluated for every value of its schema.
 */
#include <string.h>

#include "admission_policy_internal.h"
#include "base/text.h"

struct checking {
	struct admission_case *a;
	const struct crd *definition;
	const struct crd_rule *rules; /* rules of the version */
	const struct node *self;      /* the value and its schema */
	const struct node *schema;
	uint64_t budget; /* shared by all rules */
	bool spent;
};

static const char over_budget[] =
	"validation failed due to running out of cost budget, no further "
	"validation rules will be run";

static struct cel_value read_self(struct cel_eval *eval, void *context,
				  unsigned index)
{
	struct checking *c = context;
	const struct admission_request *request = c->a->request;

	/* In an update, the value has an old value, which is not searched. */
	if (index)
		return request->old_object || request->old_unknown
			       ? cel_unknown(NULL)
			       : cel_optional_none();
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

static const char *error_of(struct arena *arena, const struct crd_rule *rule,
			    struct cel_text error)
{
	const char *what =
		rule->message ? rule->message : rule->expression->text;

	if (cel_text_eq(error, "no such overload"))
		return arena_printf(arena,
				    "'no such overload': call arguments did "
				    "not match a supported operator, function "
				    "or macro signature for rule: %s",
				    what);
	if (cel_text_eq(error, "operation cancelled: actual cost limit "
			       "exceeded"))
		return arena_printf(arena,
				    "'%.*s': no further validation rules will "
				    "be run due to call cost exceeds limit for "
				    "rule: %s",
				    (int)error.len, error.data, what);
	return arena_printf(arena, "%.*s evaluating rule: %s", (int)error.len,
			    error.data, what);
}

static const char *message_of(struct checking *c, const struct crd_rule *rule,
			      struct cel_value value)
{
	struct arena *arena = c->a->arena;
	const char *message = NULL;
	struct cel_eval eval;

	if (cel_is(value, CEL_ERROR))
		return error_of(arena, rule, value.text);
	if (rule->message_expr && rule->message_expr->program)
		message = admission_message(arena,
					    run(c, rule->message_expr, &eval));
	if (!message)
		message = rule->message;
	return message ? message
		       : arena_printf(arena, "failed rule: %s",
				      rule->expression->text);
}

/* Returns the node at fieldPath (`.spec.replicas`, `.x['a.b']`), or else the
 * node that the rule checks. */
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
		   const char *message, struct cel_eval *eval)
{
	const struct node *nodes[BLAMED];
	struct admission_result result = {
		.definition = true,
		.severity = SEVERITY_ERROR,
		.policy = c->definition->name,
		.binding = "",
		.expression = rule->expression->text,
		.message =
			admission_line(c->a->arena, message, strlen(message)),
		.nodes = nodes,
	};

	if (!rule->field)
		result.nnodes = admission_blame(c->a, eval, nodes, BLAMED);
	if (!result.nnodes && c->self != c->a->typed)
		nodes[result.nnodes++] = field_of(c, rule);
	admission_tell(c->a, &result);
}

static void check(struct checking *c, const struct crd_rule *rule)
{
	const struct admission_request *request = c->a->request;
	struct cel_eval eval = {0};
	struct cel_value value;

	if (c->spent)
		return;
	if (!rule->expression->program) {
		request->not_run(request->context, true,
				 "a rule of the definition cannot be read");
		return;
	}
	value = run(c, rule->expression, &eval);
	c->spent = eval.cost > c->budget || eval.over;
	if (eval.cost > c->budget) {
		report(c, rule, over_budget, &eval);
		return;
	}
	c->budget -= eval.cost;
	if (cel_is(value, CEL_UNKNOWN))
		request->not_run(request->context, true, "a value is unknown");
	else if (!cel_is_true(value))
		report(c, rule, message_of(c, rule, value), &eval);
}

static void walk(struct checking *c, const struct node *value,
		 const struct node *schema)
{
	const struct node *properties = node_get(schema, "properties");
	const struct node *more = node_get(schema, "additionalProperties");
	const struct crd_rule *rule;

	/* Rules are evaluated for values only, not for null, even if it is
	 * allowed. */
	if (node_is_unset(value) || node_is_unknown(value) ||
	    !node_is_map(schema))
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
	struct checking c = {
		.a = a, .definition = definition, .budget = CEL_POLICY_BUDGET};

	if (!version || !version->rules)
		return;
	admission_make_typed(a);
	c.rules = version->rules;
	walk(&c, a->typed, version->schema);
}
