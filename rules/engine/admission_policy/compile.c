/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiles the expressions of a policy in the environments of apiserver
 * pkg/admission/plugin/cel/compile.go. Variables are composited: each may use
 * the ones before it, and all other expressions may use all of them.
 */
#include <string.h>

#include "admission_policy_internal.h"
#include "base/text.h"

/* --- types ---------------------------------------------------------------- */

enum { TYPE_REQUEST = 3, TYPE_NAMESPACE = 7 };

static const char *const object_types[] = {
	"kubernetes.GroupVersionKind group:string version:string kind:string",
	"kubernetes.GroupVersionResource group:string version:string "
	"resource:string",
	"kubernetes.UserInfo username:string uid:string groups:list(string) "
	"extra:map(string,list(string))",
	"kubernetes.AdmissionRequest kind:@0 resource:@1 subResource:string "
	"requestKind:@0 requestResource:@1 requestSubResource:string "
	"name:string namespace:string operation:string userInfo:@2 dryRun:bool "
	"options:dyn",
	"kubernetes.NamespaceMetadata name:string generateName:string "
	"namespace:string labels:map(string,string) "
	"annotations:map(string,string) UID:string creationTimestamp:timestamp "
	"deletionGracePeriodSeconds:int deletionTimestamp:timestamp "
	"generation:int resourceVersion:string finalizers:list(string)",
	"kubernetes.NamespaceSpec finalizers:list(string)",
	"kubernetes.NamespaceStatus conditions:list(dyn) phase:string",
	"kubernetes.Namespace metadata:@4 spec:@5 status:@6",
};

static const struct cel_type *named_type(struct arena *arena, const char *text)
{
	return cel_type_parse(arena, &text);
}

/* --- environments --------------------------------------------------------- */

struct compiling {
	struct admission_policies *set;
	const struct input_object *input;
	struct admission_policy *policy;
	const struct cel_type *request, *namespace;
	/* fields of `variables` that were read so far */
	struct cel_field *fields;
	size_t nfields;
};

static const struct cel_env *environment(struct compiling *c, bool authorizer)
{
	struct arena *arena = &c->set->arena;
	const struct cel_type *dyn = cel_type_of_kind(CEL_DYN);
	struct cel_variable *v =
		ARENA_ARRAY(arena, struct cel_variable, VARIABLE_COUNT + 1);
	struct cel_type *variables = ARENA_NEW(arena, struct cel_type);
	struct cel_field *fields =
		ARENA_ARRAY(arena, struct cel_field, c->nfields + 1);
	size_t n = 0;

	if (c->nfields)
		memcpy(fields, c->fields, c->nfields * sizeof(*fields));
	*variables = (struct cel_type){.kind = CEL_OBJECT,
				       .name = "kubernetes.variables",
				       .fields = fields};
	v[n++] = (struct cel_variable){"object", dyn};
	v[n++] = (struct cel_variable){"oldObject", dyn};
	v[n++] = (struct cel_variable){"request", c->request};
	v[n++] = (struct cel_variable){"namespaceObject", c->namespace};
	v[n++] = (struct cel_variable){"variables", variables};
	/* The name "@" hides the variable, because no identifier has it. */
	v[n++] = (struct cel_variable){
		c->policy->parameter.kind ? "params" : "@", dyn};
	if (authorizer) {
		v[n++] = (struct cel_variable){
			"authorizer",
			named_type(arena,
				   "kubernetes.authorization.Authorizer")};
		v[n++] = (struct cel_variable){
			"authorizer.requestResource",
			named_type(arena,
				   "kubernetes.authorization.ResourceCheck")};
	}
	return cel_env_new(arena, v);
}

static void expression_compile(struct admission_policies *set,
			       const struct input_object *input,
			       const struct cel_env *env, unsigned wanted,
			       struct expression *expression)
{
	struct cel_issues issues = {.arena = &set->arena};

	expression->program = cel_compile(&set->arena, env, expression->text,
					  strlen(expression->text), &issues);
	for (size_t i = 0; !expression->program && i < issues.n; i++)
		admission_problem_in(set, input, expression->node,
				     issues.items[i].start,
				     issues.items[i].text);
	if (expression->program && wanted &&
	    !(wanted & 1u << cel_program_type(expression->program)->kind)) {
		admission_problem(
			set, input, expression->node,
			"must evaluate to %s but got %s",
			wanted & 1u << CEL_BOOL ? "bool" : "string",
			cel_type_text(&set->arena,
				      cel_program_type(expression->program)));
		expression->program = NULL;
	}
}

struct expression *expression_new(struct admission_policies *set,
				  const struct input_object *input,
				  const struct cel_env *env, unsigned wanted,
				  const struct node *node)
{
	struct expression *e;

	if (!node_str(node) || !node->len)
		return NULL;
	e = ARENA_NEW(&set->arena, struct expression);
	*e = (struct expression){.text = node->str, .node = node};
	expression_compile(set, input, env, wanted, e);
	return e;
}

static bool read_expression(struct compiling *c, const struct node *map,
			    const char *key, struct expression *out)
{
	const struct node *node = node_get(map, key);

	*out = (struct expression){.text = node_str(node), .node = node};
	if (out->text && *out->text)
		return true;
	admission_problem(c->set, c->input, node ? node : map,
			  "`%s` is missing", key);
	return false;
}

/* --- parts of a policy ---------------------------------------------------- */

static struct named_expression *
read_named(struct compiling *c, const char *list, const char *key, size_t *n)
{
	const struct node *items = node_get(c->policy->spec, list);
	struct named_expression *out = ARENA_ARRAY(
		&c->set->arena, struct named_expression, node_count(items) + 1);
	const char *name = text_eq(list, "auditAnnotations") ? "key" : "name";

	FOR_EACH_CHILD(items, item) {
		struct named_expression *one = &out[*n];

		if (!read_expression(c, item, key, &one->expression))
			continue;
		one->name = text_or_empty(admission_string(item, name));
		(*n)++;
	}
	return out;
}

static void compile_variables(struct compiling *c)
{
	struct admission_policy *p = c->policy;

	p->variables = read_named(c, "variables", "expression", &p->nvariables);
	c->fields = ARENA_ARRAY(&c->set->arena, struct cel_field,
				p->nvariables + 1);
	for (size_t i = 0; i < p->nvariables; i++) {
		struct expression *e = &p->variables[i].expression;

		expression_compile(c->set, c->input, environment(c, true), 0,
				   e);
		c->fields[c->nfields++] = (struct cel_field){
			p->variables[i].name,
			e->program ? cel_program_type(e->program)
				   : cel_type_of_kind(CEL_DYN)};
	}
}

static void compile_named(struct compiling *c, const struct cel_env *env,
			  struct named_expression *items, size_t n,
			  unsigned wanted)
{
	for (size_t i = 0; i < n; i++)
		expression_compile(c->set, c->input, env, wanted,
				   &items[i].expression);
}

static void compile_validation(struct compiling *c, const struct node *item,
			       const struct cel_env *env,
			       const struct cel_env *messages)
{
	struct admission_policy *p = c->policy;
	struct validation *v = &p->validations[p->nvalidations];

	if (!read_expression(c, item, "expression", &v->expression))
		return;
	p->nvalidations++;
	v->message = admission_string(item, "message");
	expression_compile(c->set, c->input, env, 1u << CEL_BOOL,
			   &v->expression);
	v->message_expr =
		expression_new(c->set, c->input, messages, 1u << CEL_STRING,
			       node_get(item, "messageExpression"));
}

static void compile_parts(struct compiling *c)
{
	struct admission_policy *p = c->policy;
	const struct node *validations = node_get(p->spec, "validations");
	const struct cel_env *env, *messages;

	compile_variables(c);
	env = environment(c, true);
	messages = environment(c, false);
	p->conditions =
		read_named(c, "matchConditions", "expression", &p->nconditions);
	compile_named(c, env, p->conditions, p->nconditions, 1u << CEL_BOOL);
	p->annotations = read_named(c, "auditAnnotations", "valueExpression",
				    &p->nannotations);
	compile_named(c, env, p->annotations, p->nannotations,
		      1u << CEL_STRING | 1u << CEL_NULL);
	p->validations = ARENA_ARRAY(&c->set->arena, struct validation,
				     node_count(validations) + 1);
	FOR_EACH_CHILD(validations, item)
		compile_validation(c, item, env, messages);
}

static void read_parameter_kind(struct compiling *c)
{
	const struct node *kind = node_get(c->policy->spec, "paramKind");
	const char *version = admission_string(kind, "apiVersion");
	const char *slash = version ? strchr(version, '/') : NULL;
	struct parameter_kind *p = &c->policy->parameter;

	p->kind = admission_string(kind, "kind");
	if (!version)
		return;
	p->group = slash ? arena_strndup(&c->set->arena, version,
					 (size_t)(slash - version))
			 : "";
	p->version = slash ? slash + 1 : version;
}

struct admission_policy *policy_compile(struct admission_policies *set,
					const struct input_object *input)
{
	struct admission_policy *p =
		ARENA_NEW(&set->arena, struct admission_policy);
	struct compiling c = {
		.set = set,
		.input = input,
		.policy = p,
		.request = cel_type_object(&set->arena, object_types,
					   TYPE_REQUEST),
		.namespace = cel_type_object(&set->arena, object_types,
					     TYPE_NAMESPACE),
	};
	size_t problems = set->problems;

	p->input = input;
	p->name = input->object->name;
	p->spec = node_get(input->object->root, "spec");
	if (!p->name || !node_is_map(p->spec)) {
		admission_problem(set, input, NULL, "a policy without a %s",
				  p->name ? "spec" : "name");
		return NULL;
	}
	p->fails = !node_eq(node_get(p->spec, "failurePolicy"), "Ignore");
	read_parameter_kind(&c);
	if (!set->saved)
		policy_require(set, input, p->spec);
	compile_parts(&c);
	p->broken = set->problems > problems;
	return p;
}
