/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selects and calls the rules for an object, its pods, a workload and the
 * input: rules that are selected and whose scope (enum check_scope) matches.
 */
#include "base/err.h"
#include "base/escape.h"
#include "kube/purpose/class.h"
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

/* Test builds set this, to call rules with NEW_TEMPLATES for repeated templates
 * as well. */
#ifndef CHECK_TEMPLATES
#define CHECK_TEMPLATES 0
#endif

/* Returns the number of findings and of skips of rules, which shows whether a
 * rule had an effect. */
static uint64_t run_left_behind(const struct run_state *state)
{
	uint64_t n = state->nfindings;

	for (size_t i = 0; i < state->nnot_run; i++)
		n += state->not_run[i].count;
	return n;
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

/* Calls a rule for a repeated template. It is a defect if the rule has an
 * effect. */
static void call_expecting_nothing(struct rule_run *rr, const struct pod *pod)
{
	uint64_t before = run_left_behind(rr->run->state);

	call(rr, pod);
	if (run_left_behind(rr->run->state) != before)
		BUG("%s depends on more than the template", rr->rule->name);
}

static unsigned scope_of_object(const struct object *object)
{
	unsigned scope = object->fragment ? 0 : SCOPE_WHOLE;

	FOR_EACH_POD(object, pod)
		if (pod_uses_gpu(pod) == TRI_YES)
			scope |= GPU_PODS;
	return scope;
}

static unsigned scope_of_pod(const struct pod *pod, bool repeats)
{
	unsigned scope = pod->object->fragment ? 0 : SCOPE_WHOLE;

	if (pod_uses_gpu(pod) == TRI_YES)
		scope |= GPU_PODS;
	if (!pod_is_infrastructure(pod))
		scope |= SCOPE_OWN;
	if (!pod->flat)
		scope |= PODSPEC;
	if (!repeats)
		scope |= NEW_TEMPLATES;
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
		unsigned missing = one->scope & ~scope;

		if (missing & ~(CHECK_TEMPLATES ? NEW_TEMPLATES : 0u) ||
		    !settings[one->index].enabled ||
		    (!all && !run_wants_for(state, one->index, settings)))
			continue;
		if (run_outgrows_budget(rr->run))
			return;
		rr->rule = one->rule;
		rr->setting = &settings[one->index];
		if (missing)
			call_expecting_nothing(rr, pod);
		else
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

void run_check_object(struct run *run, const struct object *object,
		      const struct setting *settings)
{
	struct rule_run rr = {.run = run, .object = object};
	size_t before = run->state->nfindings;

	run->state->sent = NULL;
	FOR_EACH_POD(object, pod) {
		bool repeats = pod != object->pods &&
			       run->state->nfindings == before &&
			       pod_repeats(pod, pod - 1);

		count_infrastructure(run, pod);
		check_rules(&rr, pod, settings, scope_of_pod(pod, repeats));
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
