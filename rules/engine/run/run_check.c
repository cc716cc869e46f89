/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selects and calls the rules for an object, its pods, a workload and the
 * input: rules that are selected and whose scope (enum check_scope) matches.
 */
#include "base/escape.h"
#include "kube/purpose/purpose.h"
#include "kube/typed.h"
#include "run_internal.h"

/* True if a finding of the rule can change the result for which the caller
 * asks. */
static bool can_change_verdict(enum run_wanted wanted, const struct rule *rule,
			       const struct setting *setting)
{
	bool raises = rule->flags & RULE_RAISES && !setting->severity_set;

	return setting->enabled &&
	       (setting->action == ACTION_PATCH ||
		(wanted == WANT_OUTCOMES &&
		 (setting->action == ACTION_DENY || raises)));
}

bool run_wants_for(const struct run_state *state, unsigned rule,
		   const struct setting *settings)
{
	const struct yielding_rule *one;

	if (can_change_verdict(state->wanted, state->rules->items[rule],
			       &settings[rule]))
		return true;
	if (rule >= state->nyielding)
		return false;
	for (one = state->yielding[rule]; one; one = one->next)
		if (can_change_verdict(state->wanted,
				       state->rules->items[one->rule],
				       &settings[one->rule]))
			return true;
	return false;
}

/* Forgets the look-ups of the previous rule. */
static inline void forget_absences(const struct run *run)
{
	if (run->options.absences)
		run->options.absences->touched = 0;
}

/* Calls the rule on the pod, or on the object if pod is NULL. */
static inline void call(struct rule_run *rr, const struct pod *pod)
{
	if (pod)
		rr->rule->check_pod(rr, pod);
	else
		rr->rule->check_object(rr, rr->object);
	forget_absences(rr->run);
}

static unsigned scope_of_object(const struct object *object)
{
	unsigned scope = object->fragment ? 0 : SCOPE_WHOLE;

	FOR_EACH_POD(object, pod)
		if (pod_uses_gpu(pod) == TRI_YES)
			scope |= GPU_PODS;
	return scope;
}

static unsigned scope_of_pod(const struct pod *pod)
{
	unsigned scope = pod->object->fragment ? 0 : SCOPE_WHOLE;

	if (pod_uses_gpu(pod) == TRI_YES)
		scope |= GPU_PODS;
	if (!pod_is_infrastructure(pod))
		scope |= SCOPE_OWN;
	if (!pod->flat)
		scope |= PODSPEC;
	return scope;
}

/* Calls the selected rules for the pod, or for the object if pod is NULL. */
static void check_rules(struct rule_run *rr, const struct pod *pod,
			const struct setting *settings, unsigned scope)
{
	const struct run_state *state = rr->run->state;
	const struct called_rule *one =
		pod ? state->pod_rules : state->object_rules;
	size_t n = pod ? state->npod_rules : state->nobject_rules;
	bool all = state->wanted == WANT_ALL;

	escape_check(0);
	if (run_is_spent(rr->run))
		return;
	for (; n; n--, one++) {
		if (one->scope & ~scope || !settings[one->index].enabled ||
		    (!all && !run_wants_for(state, one->index, settings)))
			continue;
		if (run_outgrows_budget(rr->run))
			return;
		rr->rule = one->rule;
		rr->setting = &settings[one->index];
		call(rr, pod);
	}
}

/* Calls the custom rules for objects of that kind (NULL: those for all
 * kinds). */
static void check_added(struct rule_run *rr, const char *kind,
			const struct setting *settings)
{
	const struct rule_set *rules = rr->run->state->rules;
	const struct rule_kind *one;
	size_t n;

	one = rule_set_of_kind(rules, kind, &n);
	for (size_t i = 0; i < n; i++) {
		unsigned index = one[i].rule;

		if ((i && one[i - 1].rule == index) ||
		    !run_wants(rr->run->state, index, settings))
			continue;
		rr->rule = rules->items[index];
		rr->setting = &settings[index];
		call(rr, NULL);
	}
}

static void count_infrastructure(struct run *run, const struct pod *pod)
{
	if (!pod_is_infrastructure(pod))
		return;
	if (pod->object->infrastructure == TRI_YES)
		run->counts.infrastructure++;
	else
		run->counts.infrastructure_unknown++;
}

bool rule_may_find(struct rule_run *rr, unsigned check)
{
	unsigned *survey = &rr->run->state->survey;

	if (!*survey)
		*survey = typed_survey(rule_arena(rr), rr->object);
	return *survey & check;
}

void run_check_object(struct run *run, const struct object *object,
		      const struct setting *settings)
{
	struct rule_run rr = {.run = run, .object = object};

	run->state->sent = NULL;
	run->state->survey = 0;
	FOR_EACH_POD(object, pod) {
		count_infrastructure(run, pod);
		check_rules(&rr, pod, settings, scope_of_pod(pod));
	}
	check_rules(&rr, NULL, settings, scope_of_object(object));
	if (!run->state->rules->added)
		return;
	check_added(&rr, NULL, settings);
	if (object->kind)
		check_added(&rr, object->kind, settings);
}

/* True if the rule reports that another object is absent, but the input is only
 * a part of the manifests and comes without a snapshot. */
static bool set_hides(const struct run *run, const struct rule *rule)
{
	return run->options.partial && !run->state->cluster &&
	       rule->flags & RULE_ABSENCE && rule->needs & NEEDS_SET;
}

void run_check_sets(struct run *run, const struct policy *policy,
		    const struct setting *settings)
{
	const struct rule_set *rules = run->options.rules;

	run->state->file.policy = policy;
	for (size_t i = 0; i < rules->n; i++) {
		struct rule_run rr = {run, rules->items[i], &settings[i], NULL};

		if (!settings[i].enabled)
			continue;
		forget_absences(run);
		if (rr.rule->check_set && !set_hides(run, rr.rule))
			rr.rule->check_set(&rr);
	}
}

void run_workload(struct run *run, const struct workload *w,
		  const struct setting *settings)
{
	const struct run_state *state = run->state;

	for (size_t i = 0; i < state->nworkload_rules; i++) {
		unsigned index = state->workload_rules[i];
		struct rule_run rr = {run, run->options.rules->items[index],
				      &settings[index], NULL};

		if (run->options.admission && run_outgrows_budget(run))
			return;
		if (!run_wants(state, index, settings) ||
		    (w->duplicate_of && rr.rule->needs & NEEDS_SET &&
		     !(rr.rule->flags & RULE_DUPLICATES)))
			continue;
		if (set_hides(run, rr.rule))
			run_not_run_add(run, rr.rule,
					"only part of the manifests was given",
					1);
		else
			rr.rule->check_workload(&rr, w);
		forget_absences(run);
	}
}
