/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rejections by operators: CEL over an object of their kinds, or over each pod
 * template. Compiled for a run when the first object of the kind is checked.
 */
#include <string.h>

#include "base/text.h"
#include "cel/cel.h"
#include "engine/finding.h"
#include "run_internal.h"

struct compiled_rejections {
	const struct rule *rule;
	const struct cel_program **rules, **messages;
	struct compiled_rejections *next;
};

static const struct cel_program *
compile(struct arena *arena, const struct cel_env *env, const char *text)
{
	struct cel_issues issues = {.arena = arena};
	const struct cel_program *program =
		cel_compile(arena, env, text, strlen(text), &issues);

	if (!program)
		BUG("%s: %s", text, issues.items[0].text);
	return program;
}

static const struct compiled_rejections *compiled(struct run_state *state,
						  const struct rule *rule)
{
	struct arena *arena = &state->arena;
	struct compiled_rejections *all = state->rejections;
	struct cel_variable *self;
	const struct cel_env *env;
	size_t n = 0;

	while (all && all->rule != rule)
		all = all->next;
	if (all)
		return all;
	self = ARENA_ARRAY(arena, struct cel_variable, 2);
	self[0] = (struct cel_variable){"self", cel_type_of_kind(CEL_DYN)};
	env = cel_env_new(arena, self);
	while (rule->rejections->items[n].id)
		n++;
	all = ARENA_NEW(arena, struct compiled_rejections);
	all->rule = rule;
	all->rules = ARENA_ARRAY(arena, const struct cel_program *, n);
	all->messages = ARENA_ARRAY(arena, const struct cel_program *, n);
	for (size_t i = 0; i < n; i++) {
		const struct rejection *one = &rule->rejections->items[i];

		all->rules[i] = compile(arena, env, one->rule);
		all->messages[i] = compile(arena, env, one->message);
	}
	all->next = state->rejections;
	state->rejections = all;
	return all;
}

static struct cel_value read_self(struct cel_eval *eval, void *context,
				  unsigned index)
{
	(void)index;
	return cel_from_node(eval->arena, context, NULL);
}

static struct cel_value evaluate(struct rule_run *rr, struct cel_eval *eval,
				 const struct cel_program *program,
				 const struct node *self)
{
	struct cel_eval_options options = {
		.variable = read_self,
		.context = (void *)(uintptr_t)self,
		.budget = CEL_EXPRESSION_BUDGET,
		.fragment = rr->object->fragment,
	};

	cel_eval_init(eval, program, rule_arena(rr), &options);
	return cel_eval_run(eval);
}

/* The value at the path, or its nearest present parent. */
static const struct node *nearest_node(const struct node *self,
				       const char *path)
{
	while (*path) {
		size_t len = strcspn(path, ".");
		const struct node *child = node_getn(self, path, len);

		if (!child)
			break;
		self = child;
		path += len + (path[len] == '.');
	}
	return self;
}

/* A value that is unknown, or of another type than the operator's, decides
 * nothing: the API server rejects the latter. */
static void check_rejection(struct rule_run *rr, const struct pod *pod,
			    const struct node *self, size_t i)
{
	const struct compiled_rejections *all =
		compiled(rr->run->state, rr->rule);
	const struct rejections *rejections = rr->rule->rejections;
	struct cel_eval eval, of_message;
	struct cel_value value = evaluate(rr, &eval, all->rules[i], self);
	const struct node *at = NULL;
	struct finding *f;

	if (!cel_is(value, CEL_BOOL) || value.boolean)
		return;
	if (rejections->items[i].field)
		at = nearest_node(self, rejections->items[i].field);
	else
		cel_eval_blame(&eval, &at, 1);
	value = evaluate(rr, &of_message, all->messages[i], self);
	if (!cel_is(value, CEL_STRING))
		return;
	f = pod ? report_pod(rr, pod, at, "%.*s: %s rejects the pod",
			     (int)value.text.len, value.text.data,
			     rejections->by)
		: report_object(
			  rr, rr->object, at, "%.*s: %s rejects the object",
			  (int)value.text.len, value.text.data, rejections->by);
	f->cause = rejections->items[i].id;
}

static bool is_of(const struct object *object,
		  const struct rejections *rejections,
		  const struct rejection *one)
{
	return object_is(object, rejections->group, one->kind) &&
	       (!rejections->version ||
		text_eq(object->version, rejections->version));
}

void rule_check_rejections(struct rule_run *rr, const struct object *object)
{
	const struct rejections *rejections = rr->rule->rejections;

	for (size_t i = 0; rejections->items[i].id; i++)
		if (is_of(object, rejections, &rejections->items[i]))
			check_rejection(rr, NULL, object->root, i);
}

void rule_check_pod_rejections(struct rule_run *rr, const struct pod *pod)
{
	if (!pod->template)
		return;
	for (size_t i = 0; rr->rule->rejections->items[i].id; i++)
		check_rejection(rr, pod, pod->template, i);
}
