/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluates custom rules: matches objects, checks the assertion on each of
 * their pods or containers, and finds the node to report. An unknown result is
 * counted but not reported; an error in an expression is a separate finding,
 * unless the rule has `failurePolicy: Ignore`.
 */
#include <stdlib.h>

#include "base/text.h"
#include "custom_internal.h"
#include "doc/budget.h"
#include "engine/finding.h"
#include "rules/engine/run/run_internal.h"

#define UNKNOWN_VALUE	  "depends on an unknown value"
#define UNKNOWN_NAMESPACE "needs the namespace of the object"
#define UNKNOWN_GPUS	  "it is unknown whether the pod uses a GPU"

enum {
	BLAMED = 8,
	MESSAGE_MAX = 400,
};

size_t custom_tests(const struct rule *rule, const struct custom_test **tests)
{
	const struct custom_rule *custom = (const struct custom_rule *)rule;

	if (rule->check_object != custom_check)
		return 0;
	*tests = custom->tests;
	return custom->ntests;
}

static void spend(struct custom_subject *s, uint64_t cost)
{
	struct load_cost spent = {.cel = cost};

	load_budget_spend(rule_arena(s->run)->budget, &spent);
}

struct cel_value custom_run(struct cel_eval *eval, struct custom_subject *s,
			    const struct cel_program *program)
{
	struct cel_eval_options options = {
		.variable = custom_variable,
		.context = s,
		.budget = CEL_EXPRESSION_BUDGET,
		.fragment = s->object->fragment,
	};
	struct load_budget *budget = rule_arena(s->run)->budget;
	struct cel_value value;

	options.work = load_budget_left(budget).cel;
	if (run_is_spent(s->run->run))
		options.budget = 0;
	if (options.budget > options.work)
		options.budget = options.work;
	cel_eval_init(eval, program, s->arena, &options);
	value = cel_eval_run(eval);
	spend(s, eval->cost + eval->work);
	return value;
}

/* --- places of a finding -------------------------------------------------- */

/*
 * Stores in `out` the nodes of the object to report, each once: two values in
 * the sent object may be one in the file. Returns their number.
 */
static size_t places(struct custom_subject *s, struct cel_eval *eval,
		     const struct node **out)
{
	const struct node *found[BLAMED];
	size_t n = cel_eval_blame(eval, found, BLAMED), kept = 0;

	spend(s, eval->work);
	for (size_t i = 0; i < n; i++) {
		const struct node *place = custom_place(s, found[i]);
		size_t k = 0;

		while (k < kept && out[k] != place)
			k++;
		if (k == kept && place)
			out[kept++] = place;
	}
	return kept;
}

/*
 * Returns the node for the path `at` in the file, or its nearest existing
 * parent.
 */
static const struct node *named_place(struct custom_subject *s)
{
	const struct node *at[BLAMED], *place;
	struct cel_eval eval;

	if (!s->rule->at)
		return NULL;
	s->as_written = true;
	place = custom_place(s, custom_run(&eval, s, s->rule->at).node);
	if (!place && places(s, &eval, at))
		place = at[0];
	s->as_written = false;
	return place;
}

/* --- message -------------------------------------------------------------- */

/* Returns the text as one line, shortened and without control characters. */
static const char *line_of(struct custom_subject *s, const char *text,
			   size_t len)
{
	size_t cut = 0, step;
	char *line;

	for (; cut < len && cut < MESSAGE_MAX; cut += step ? step : 1)
		step = utf8_length(text + cut, len - cut);
	line = arena_printf(s->arena, "%.*s%s", (int)cut, text,
			    cut < len ? "..." : "");
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
	return line;
}

static const char *message_of(struct custom_subject *s)
{
	struct cel_eval eval;
	struct cel_value value = {.kind = CEL_NULL};

	if (s->rule->message)
		value = custom_run(&eval, s, s->rule->message);
	if (cel_is(value, CEL_STRING) && value.text.len)
		return line_of(s, value.text.data, value.text.len);
	return s->rule->rule.summary;
}

static struct finding *report_at(struct custom_subject *s,
				 const struct node *at, const char *text)
{
	struct finding *f;

	if (s->container)
		f = report_container(s->run, s->container, at, "%s", text);
	else if (s->pod && at)
		f = report_pod(s->run, s->pod, at, "%s", text);
	else
		f = report_object(s->run, s->object, at, "%s", text);
	/* Identify the finding by the object, pod or container that was
	 * checked: which node is shown depends on the values. */
	if (custom_base(s, s->rule->each))
		finding_missing(f, s->object, custom_base(s, s->rule->each),
				"");
	return f;
}

static void report_false(struct custom_subject *s, struct cel_eval *eval)
{
	const struct node *nodes[BLAMED], *at = named_place(s);
	size_t n = places(s, eval, nodes);
	struct finding *f = report_at(s,
				      at  ? at
				      : n ? nodes[0]
					  : NULL,
				      message_of(s));

	for (size_t i = !at; i < n; i++)
		if (nodes[i] != at)
			finding_label(s->run, f, nodes[i],
				      "the rule reads this as well");
	for (size_t i = 0; i < n; i++)
		finding_reads(s->run, f, nodes[i]);
	custom_fix(s, f);
}

static void report_error(struct custom_subject *s, struct cel_eval *eval,
			 const char *what, struct cel_value value)
{
	const struct node *nodes[BLAMED];
	const char *why = "its result is not a bool";
	struct finding *f;
	size_t n = 0;

	if (s->rule->fail_ignore)
		return;
	if (eval->over)
		why = "it exceeds the cost limit of an expression";
	else if (cel_is(value, CEL_ERROR)) {
		why = line_of(s, value.text.data, value.text.len);
		n = places(s, eval, nodes);
	}
	f = report_at(s, n ? nodes[0] : NULL,
		      arena_printf(s->arena, "`%s` of rule `%s` fails: %s",
				   what, s->rule->rule.name, why));
	finding_cause(s->run, f, CUSTOM_ERROR);
}

/* --- evaluation ----------------------------------------------------------- */

/* Evaluates a bool. Returns false if the result is something else: an unknown
 * one is recorded as not run, any other one is reported. */
static bool ask(struct custom_subject *s, struct cel_eval *eval,
		const char *what, const struct cel_program *program,
		struct cel_value *out)
{
	*out = custom_run(eval, s, program);
	if (cel_is(*out, CEL_UNKNOWN))
		rule_not_run(s->run, UNKNOWN_VALUE);
	else if (!cel_is(*out, CEL_BOOL))
		report_error(s, eval, what, *out);
	return cel_is(*out, CEL_BOOL);
}

static void check_subject(struct custom_subject *s)
{
	const struct custom_rule *rule = s->rule;
	struct cel_value value;
	struct cel_eval eval;

	if ((!rule->when || (ask(s, &eval, "when", rule->when, &value) &&
			     !cel_is_false(value))) &&
	    ask(s, &eval, "assert", rule->assert, &value) &&
	    cel_is_false(value))
		report_false(s, &eval);
	arena_reset(s->arena);
}

/* --- objects to check ----------------------------------------------------- */

static bool is_of_kind(const struct custom_rule *rule,
		       const struct object *object)
{
	for (size_t i = 0; i < rule->nkinds; i++) {
		const struct custom_kind *kind = &rule->kinds[i];

		if (text_eq(kind->kind, object->kind) &&
		    (!kind->group ||
		     !strcmp(kind->group, text_or_empty(object->group))))
			return true;
	}
	return !rule->nkinds;
}

static bool is_in_namespace(struct rule_run *run,
			    const struct custom_rule *rule,
			    const struct object *object)
{
	if (!rule->namespaces.n)
		return true;
	if (object->cluster_scoped)
		return false;
	if (!object->namespace)
		rule_not_run(run, UNKNOWN_NAMESPACE);
	return object->namespace &&
	       patterns_match(&rule->namespaces, object->namespace);
}

static enum tri uses_gpus(const struct object *object)
{
	enum tri found = TRI_NO;

	FOR_EACH_POD(object, pod) {
		enum tri one = pod_uses_gpu(pod);

		if (one == TRI_YES)
			return one;
		if (one == TRI_UNKNOWN)
			found = one;
	}
	return found;
}

static void judge_gpus(struct custom_subject *s)
{
	enum tri uses = !s->rule->gpus ? TRI_YES
			: s->pod       ? pod_uses_gpu(s->pod)
				       : uses_gpus(s->object);

	if (uses == TRI_UNKNOWN)
		rule_not_run(s->run, UNKNOWN_GPUS);
	if (uses != TRI_YES)
		return;
	if (s->rule->each != EACH_CONTAINER) {
		check_subject(s);
		return;
	}
	FOR_EACH_CONTAINER(s->pod, c) {
		s->container = c;
		check_subject(s);
	}
	s->container = NULL;
}

void custom_check(struct rule_run *run, const struct object *object)
{
	const struct custom_rule *rule = (const struct custom_rule *)run->rule;
	struct custom_subject subject = {
		.run = run,
		.rule = rule,
		.object = object,
		.arena = &run->run->state->values,
	};

	if (!is_of_kind(rule, object) || !is_in_namespace(run, rule, object))
		return;
	if (rule->each == EACH_OBJECT) {
		judge_gpus(&subject);
	} else {
		FOR_EACH_POD(object, pod) {
			subject.pod = pod;
			judge_gpus(&subject);
		}
	}
}
