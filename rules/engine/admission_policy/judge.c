/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluates one policy on one object, for each binding and each of its
 * parameters: matchConditions, validations with their messages, audit
 * annotations (apiserver pkg/admission/plugin/policy/validating,
 * plugin/cel/activation.go).
 */
#include <string.h>

#include "admission_policy_internal.h"
#include "base/array.h"
#include "base/text.h"
#include "doc/build.h"
#include "kube/scheduling/selector.h"

/* Evaluation of a policy with one binding and one parameter. The cache and the
 * budget are those of one group of expressions, such as all matchConditions. */
struct judging {
	struct admission_case *a;
	const struct admission_policy *policy;
	const struct admission_binding *binding;
	const struct node *parameter; /* NULL: the policy has no parameter */
	/* The current group is matchConditions, which cannot read
	 * namespaceObject. */
	bool conditions;
	struct cel_value *cache;
	bool *cached;
	/* evaluations of the variables that were read */
	struct cel_eval *evals;
	/* cost of the current expression, with the variables that it reads
	 * first */
	uint64_t cost;
	uint64_t budget;
	bool spent;
	/* name of a condition with an unknown result, or NULL */
	const char *maybe;
};

/* --- evaluation ----------------------------------------------------------- */

static struct cel_value read_variable(struct cel_eval *eval, void *context,
				      unsigned index);

static struct cel_value start(struct judging *j, const struct expression *e,
			      struct cel_eval *eval)
{
	struct cel_eval_options options = {
		.variable = read_variable,
		.context = j,
		.budget = CEL_EXPRESSION_BUDGET,
		.fragment = j->a->object->fragment,
	};

	if (!e->program)
		return cel_error(j->a->arena, "compilation error");
	cel_eval_init(eval, e->program, j->a->arena, &options);
	return cel_eval_run(eval);
}

static bool read_composited(struct cel_eval *eval, void *context,
			    struct cel_text name, struct cel_value *out)
{
	struct judging *j = context;
	const struct admission_policy *p = j->policy;
	size_t i = 0;

	(void)eval;
	while (i < p->nvariables && !cel_text_eq(name, p->variables[i].name))
		i++;
	if (i == p->nvariables)
		return false;
	if (!j->cached[i]) {
		struct cel_value value =
			start(j, &p->variables[i].expression, &j->evals[i]);

		j->cost += j->evals[i].cost;
		if (cel_is(value, CEL_ERROR))
			value = cel_error(j->a->arena,
					  "composited variable \"%s\" fails to "
					  "evaluate: %.*s",
					  p->variables[i].name,
					  (int)value.text.len, value.text.data);
		j->cache[i] = value;
		j->cached[i] = true;
	}
	*out = j->cache[i];
	return true;
}

static size_t blame_composited(void *context, struct cel_text name,
			       const struct node **nodes, size_t max)
{
	struct judging *j = context;
	const struct admission_policy *p = j->policy;

	for (size_t i = 0; i < p->nvariables; i++)
		if (j->cached[i] && cel_text_eq(name, p->variables[i].name))
			return cel_eval_blame(&j->evals[i], nodes, max);
	return 0;
}

static struct cel_value composited(struct judging *j)
{
	struct cel_items *map = ARENA_NEW(j->a->arena, struct cel_items);

	map->n = j->policy->nvariables;
	map->field = read_composited;
	map->blame = blame_composited;
	map->context = j;
	return (struct cel_value){.kind = CEL_OBJECT, .map = map};
}

static struct cel_value of_node(struct judging *j, const struct node *node)
{
	return cel_from_node(j->a->arena, node, NULL);
}

static struct cel_value old_object(struct judging *j)
{
	const struct admission_request *request = j->a->request;

	return request->old_unknown ? cel_unknown(NULL)
				    : of_node(j, request->old_object);
}

static struct cel_value read_variable(struct cel_eval *eval, void *context,
				      unsigned index)
{
	struct judging *j = context;

	(void)eval;
	switch (index) {
	case VARIABLE_OBJECT:
		return of_node(j, j->a->typed);
	case VARIABLE_OLD_OBJECT:
		return old_object(j);
	case VARIABLE_REQUEST:
		return of_node(j, admission_request_node(j->a));
	case VARIABLE_NAMESPACE:
		return j->conditions
			       ? cel_null()
			       : of_node(j, admission_namespace_node(j->a));
	case VARIABLE_VARIABLES:
		return composited(j);
	case VARIABLE_PARAMS:
		return of_node(j, j->parameter);
	default:
		return cel_unknown(NULL);
	}
}

/* Starts a group of expressions and drops cached variables. */
static void begin(struct judging *j, uint64_t budget)
{
	size_t n = j->policy->nvariables;

	j->cache = ARENA_ARRAY(j->a->arena, struct cel_value, n + 1);
	j->cached = ARENA_ARRAY(j->a->arena, bool, n + 1);
	j->evals = ARENA_ARRAY(j->a->arena, struct cel_eval, n + 1);
	j->budget = budget;
	j->spent = false;
}

/* Evaluates an expression of the group. Sets spent if the budget is
 * exceeded. */
static struct cel_value run(struct judging *j, const struct expression *e,
			    struct cel_eval *eval)
{
	struct cel_value value;

	*eval = (struct cel_eval){0};
	j->cost = 0;
	value = start(j, e, eval);
	j->cost += eval->cost;
	if (j->cost > j->budget)
		j->spent = true;
	else
		j->budget -= j->cost;
	return value;
}

/* --- findings ------------------------------------------------------------- */

const char *admission_line(struct arena *arena, const char *text, size_t len)
{
	char *line = arena_strndup(arena, text, len), *out = line;

	for (size_t i = 0; i < len; i++) {
		bool blank = strchr(" \t\r\n\v\f", line[i]) != NULL;

		if (!blank || (out > line && out[-1] != ' '))
			*out++ = blank ? ' ' : line[i];
	}
	if (out > line && out[-1] == ' ')
		out--;
	*out = '\0';
	return line;
}

const char *admission_message(struct arena *arena, struct cel_value value)
{
	enum { LONGEST = 5 * 1024 };
	static const char blank[] = " \t\r\n\v\f";
	const char *text = value.text.data;
	size_t len = value.text.len;

	if (!cel_is(value, CEL_STRING))
		return NULL;
	while (len && strchr(blank, text[len - 1]))
		len--;
	while (len && strchr(blank, *text)) {
		text++;
		len--;
	}
	if (!len || len > LONGEST || memchr(text, '\n', len))
		return NULL;
	return admission_line(arena, text, len);
}

static const char *trimmed(struct arena *arena, const char *text)
{
	return admission_line(arena, text, strlen(text));
}

size_t admission_blame(struct admission_case *a, struct cel_eval *eval,
		       const struct node **nodes, size_t max)
{
	const struct node *read[4 * BLAMED];
	size_t nread =
		eval->program ? cel_eval_blame(eval, read, 4 * BLAMED) : 0;
	size_t n = 0;

	for (size_t i = 0; i < nread && n < max; i++) {
		const struct node *at =
			typed_origin(read[i], a->typed, a->object->root);
		bool known = false;

		for (size_t k = 0; k < n; k++)
			known |= nodes[k] == at;
		if (at && at != a->object->root && !known)
			nodes[n++] = at;
	}
	return n;
}

void admission_tell(struct admission_case *a, struct admission_result *result)
{
	if (a->mutation) {
		result->severity = SEVERITY_INFO;
		result->message = arena_printf(
			a->arena,
			"unless the MutatingAdmissionPolicy `%s` changes it: %s",
			a->mutation, result->message);
	}
	a->request->found(a->request->context, result);
}

static void report(struct judging *j, const char *expression,
		   const char *message, struct cel_eval *eval)
{
	const struct node *nodes[BLAMED];
	struct admission_result result = {
		.severity = j->binding->severity,
		.policy = j->policy->name,
		.binding = text_or_empty(j->binding->name),
		.expression = expression,
		.message = message,
		.nodes = nodes,
	};

	if (eval)
		result.nnodes = admission_blame(j->a, eval, nodes, BLAMED);
	if (j->maybe) {
		result.severity = SEVERITY_INFO;
		result.message = arena_printf(j->a->arena,
					      "if its condition `%s` holds: %s",
					      j->maybe, message);
	}
	admission_tell(j->a, &result);
}

static void not_run(struct judging *j, const char *reason)
{
	const struct admission_request *request = j->a->request;

	request->not_run(request->context, false, reason);
}

/* Handles an expression that failed: reports a finding unless the failure
 * policy is Ignore. */
static void fail(struct judging *j, const char *expression, const char *message,
		 struct cel_eval *eval)
{
	if (j->policy->fails)
		report(j, expression, message, eval);
}

static const char over_budget[] =
	"validation failed due to running out of cost budget, no further "
	"validation rules will be run";

static const char *error_text(struct judging *j, const struct expression *e,
			      struct cel_value value)
{
	return arena_printf(j->a->arena,
			    "expression '%s' resulted in error: %.*s",
			    trimmed(j->a->arena, e->text), (int)value.text.len,
			    value.text.data);
}

/* --- conditions ----------------------------------------------------------- */

/* Returns false if a matchCondition is false or fails; a failure is reported.
 * Sets j->maybe to a condition whose result is unknown, which counts as
 * true. */
static bool conditions_hold(struct judging *j)
{
	const struct admission_policy *p = j->policy;
	const char *error = NULL, *expression = NULL;
	struct cel_eval eval;

	j->conditions = true;
	begin(j, CEL_MATCH_BUDGET);
	for (size_t i = 0; i < p->nconditions && !j->spent; i++) {
		const struct expression *e = &p->conditions[i].expression;
		struct cel_value value = run(j, e, &eval);

		if (cel_is_false(value) && !j->spent) {
			j->conditions = false;
			return false;
		}
		if (cel_is(value, CEL_UNKNOWN))
			j->maybe = p->conditions[i].name;
		if (!cel_is(value, CEL_ERROR) || error)
			continue;
		error = error_text(j, e, value);
		expression = e->text;
	}
	j->conditions = false;
	if (j->spent)
		error = over_budget;
	if (error)
		fail(j, text_or_empty(expression), error, NULL);
	return !error;
}

/* --- validations ---------------------------------------------------------- */

struct failure {
	const struct validation *validation;
	struct cel_value value;
	struct cel_eval eval;
};

static const char *message_of(struct judging *j, const struct validation *v)
{

	const char *message = NULL;
	struct cel_value value;
	struct cel_eval eval;

	if (v->message_expr && !j->spent) {
		value = run(j, v->message_expr, &eval);
		if (!j->spent)
			message = admission_message(j->a->arena, value);
	}
	if (!message && v->message)
		message = trimmed(j->a->arena, v->message);
	if (!message || !*message)
		message =
			arena_printf(j->a->arena, "failed expression: %s",
				     trimmed(j->a->arena, v->expression.text));
	return message;
}

static void validate(struct judging *j)
{
	const struct admission_policy *p = j->policy;
	struct failure *failures =
		ARENA_ARRAY(j->a->arena, struct failure, p->nvalidations + 1);
	size_t n = 0;

	begin(j, CEL_POLICY_BUDGET);
	for (size_t i = 0; i < p->nvalidations && !j->spent; i++) {
		struct failure *f = &failures[n];

		f->validation = &p->validations[i];
		f->value = run(j, &f->validation->expression, &f->eval);
		if (cel_is(f->value, CEL_UNKNOWN))
			not_run(j, "a value is unknown");
		else
			n += !cel_is_true(f->value);
	}
	if (j->spent) {
		fail(j, "", over_budget, NULL);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const struct validation *v = failures[i].validation;
		const char *text = v->expression.text;

		if (cel_is(failures[i].value, CEL_ERROR))
			fail(j, text,
			     error_text(j, &v->expression, failures[i].value),
			     &failures[i].eval);
		else
			report(j, text, message_of(j, v), &failures[i].eval);
	}
}

/* Evaluates audit annotations, because an expression that fails is a finding.
 * Their values are not used. */
static void annotate(struct judging *j)
{
	const struct admission_policy *p = j->policy;
	struct cel_eval eval;

	begin(j, CEL_POLICY_BUDGET);
	for (size_t i = 0; i < p->nannotations && !j->spent; i++) {
		const struct expression *e = &p->annotations[i].expression;
		struct cel_value value = run(j, e, &eval);

		if (cel_is(value, CEL_ERROR))
			fail(j, e->text, error_text(j, e, value), &eval);
	}
	if (j->spent)
		fail(j, "", over_budget, NULL);
}

static void apply_policy(struct judging *j, const struct node *parameter)
{
	j->parameter = parameter;
	j->maybe = NULL;
	if (!conditions_hold(j))
		return;
	validate(j);
	annotate(j);
}

/* --- parameters ----------------------------------------------------------- */

static bool is_selected(const struct judging *j, const struct node *ref,
			const struct input_object *input, const char *namespace)
{
	const struct parameter_kind *kind = &j->policy->parameter;
	const char *name = admission_string(ref, "name");
	const struct node *selector = node_get(ref, "selector");

	if (!input_is(input, kind->group, kind->kind) ||
	    (kind->namespaced &&
	     !text_eq(text_or_empty(input->object->namespace),
		      text_or_empty(namespace))))
		return false;
	if (name)
		return text_eq(input->object->name, name);
	return label_selector_matches(selector, input->object->labels,
				      LABELS_NO_MORE) == TRI_YES;
}

/* Returns the namespace of the parameters; NULL if it is missing or unknown,
 * which is then reported. */
static const char *parameters_namespace(struct judging *j,
					const struct node *ref)
{
	const struct object *object = j->a->object;
	const char *namespace = admission_string(ref, "namespace");

	if (!namespace)
	namespace = object_is(object, "", "Namespace") ? object->name
						       : object->namespace;
	if (!namespace && j->a->cluster_scoped)
		fail(j, "",
		     "failed to configure binding: cannot use namespaced "
		     "paramRef in policy binding that matches cluster-scoped "
		     "resources",
		     NULL);
	else if (!namespace)
		not_run(j, "the namespace is unknown");
	return namespace;
}

static void judge_selected(struct judging *j, const struct node *ref)
{
	const struct admission_policies *set = j->a->set;
	const struct parameter_kind *kind = &j->policy->parameter;
	const char *namespace = NULL;
	size_t n = 0, of_kind = 0;

	if (kind->namespaced) {
		namespace = parameters_namespace(j, ref);
		if (!namespace)
			return;
	}
	for (size_t i = 0; i < set->ninputs; i++) {
		const struct input_object *input = &set->inputs[i];

		of_kind += input_is(input, kind->group, kind->kind);
		if (!is_selected(j, ref, input, namespace))
			continue;
		n++;
		apply_policy(j, input->typed);
	}
	if (n)
		return;
	if ((!of_kind && !set->saved) ||
	    admission_unread(set, kind->group, kind->kind))
		not_run(j, "needs the policy's parameters");
	else if (node_eq(node_get(ref, "parameterNotFoundAction"), "Deny"))
		fail(j, "",
		     "failed to configure binding: no params found for policy "
		     "binding with `Deny` parameterNotFoundAction",
		     NULL);
}

static void judge_binding(struct judging *j)
{
	const struct node *ref = node_get(j->binding->spec, "paramRef");

	if (!j->policy->parameter.kind)
		/* NOLINTNEXTLINE(bugprone-branch-clone) */
		apply_policy(j, NULL);
	else if (j->binding->parameter)
		apply_policy(j, j->binding->parameter->typed);
	else if (!j->binding->name)
		not_run(j, "needs a binding, or the policy's only parameters");
	else if (!node_is_map(ref))
		apply_policy(j, NULL);
	else
		judge_selected(j, ref);
}

/* --- policies ------------------------------------------------------------- */

/* Removes the status like PrepareForCreate() in
 * registry/customresource/strategy.go. */
static void drop_status(struct node *root)
{
	struct node *field = root->first;

	while (field && !text_eq(field->key, "status"))
		field = field->next;
	if (field)
		node_unlink(root, field);
}

bool admission_make_typed(struct admission_case *a)
{
	const struct object *o = a->object;
	const struct crd_version *version = definition_version(
		definition_find(a->set, o->group, o->kind), o->version);
	struct node *root;

	if (a->typed)
		return true;
	root = typed_object(a->arena, o, version ? version->schema : NULL);
	if (root && version && version->has_status)
		drop_status(root);
	a->typed = root;
	return root != NULL;
}

void policy_judge(struct admission_case *a,
		  const struct admission_policy *policy)
{
	struct judging j = {.a = a, .policy = policy};
	enum tri match =
		resources_match(a, node_get(policy->spec, "matchConstraints"));

	if (match == TRI_NO)
		return;
	for (j.binding = policy->bindings; j.binding;
	     j.binding = j.binding->next) {
		enum tri bound = resources_match(
			a, node_get(j.binding->spec, "matchResources"));

		if (bound == TRI_NO)
			continue;
		if (match == TRI_UNKNOWN || bound == TRI_UNKNOWN)
			not_run(&j, "it is unknown whether the policy matches");
		else if (policy->broken)
			not_run(&j, "an expression of the policy cannot be "
				    "read");
		else if (!admission_make_typed(a))
			not_run(&j, "the version of the kind is unknown");
		else
			judge_binding(&j);
	}
}
