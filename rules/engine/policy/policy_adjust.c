/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policies derived from policies: options of the command line applied to a
 * file, and a file on top of the admission policy, the floor.
 *
 * The options are combined to one decision for each rule: general words are
 * applied before specific ones, and `ignore` after `select` and `extend`. With
 * a floor, every pair of a floor's override and a file's override has its own
 * table, built once.
 */
#include <string.h>

#include "base/array.h"
#include "kube/object.h"
#include "policy_internal.h"

/* --- overrides ------------------------------------------------------------ */

struct override {
	struct policy *policy;
	struct selection selection;
	bool lenient;
	struct err *err;
};

static int unknown_word(const struct override *override, const char *word)
{
	const char *near = rule_word_nearest(override->policy->rules, word);

	if (near)
		return err_set(override->err, 0,
			       "unknown rule `%s`; did you mean `%s`?", word,
			       near);
	return err_set(override->err, 0, "unknown rule `%s`", word);
}

/* Reports an error if a rule selected by name cannot run for lack of a
 * parameter. */
static int check_params(const struct override *override,
			const struct rule *rule)
{
	const struct policy *policy = override->policy;
	int index = rule_set_find(policy->rules, rule->name);

	for (size_t i = 0; i < policy->nsettings; i++)
		if (rule_has_params(rule, policy->settings[i][index].params))
			return 0;
	return err_set(
		override->err, 0,
		"`%s` reports nothing until a policy sets its parameters",
		rule->name);
}

static void add_check(struct override *override, const struct rule_word *word,
		      signed char verdict)
{
	struct selection *to = &override->selection;
	bool first = true;

	for (size_t i = 0; i < to->nchecks; i++)
		first = first && to->checks[i].word.rule != word->rule;
	*VEC_PUSH(policy_arena(override->policy), to->checks, to->nchecks,
		  to->checks_size) =
		(struct selected_check){*word, verdict<0, verdict> 0 && first};
}

static int apply_word(struct override *override, const char *text,
		      signed char verdict, enum rule_scope scope)
{
	const struct rule_set *rules = override->policy->rules;
	struct rule_word word;

	if (!rule_word_parse(rules, text, &word))
		return override->lenient ? 0 : unknown_word(override, text);
	if (word.scope != scope)
		return 0;
	if (word.rule && verdict > 0 && check_params(override, word.rule))
		return -1;
	if (word.check) {
		add_check(override, &word, verdict);
		if (verdict < 0)
			return 0;
	}
	for (size_t i = 0; i < rules->n; i++)
		if (rule_word_covers(&word, rules->items[i]))
			override->selection.verdict[i] = verdict;
	return 0;
}

static int apply_list(struct override *override, const char *const *list,
		      signed char verdict, enum rule_scope scope)
{
	for (; list && *list; list++)
		if (apply_word(override, *list, verdict, scope))
			return -1;
	return 0;
}

/* True if the list is not empty. An empty list changes nothing. */
static bool is_given(const char *const *list)
{
	return list && *list;
}

static bool selects(const struct policy_overrides *want)
{
	return is_given(want->select) || is_given(want->extend) ||
	       is_given(want->ignore);
}

static int apply_selection(struct override *override,
			   const struct policy_overrides *want)
{
	struct policy *policy = override->policy;
	size_t n = policy->rules->n;
	struct arena *arena = policy_arena(policy);
	struct selection *old = policy->selections;

	if (!selects(want))
		return 0;
	override->selection.verdict = ARENA_ARRAY(arena, signed char, n + 1);
	override->selection.from = "command line";
	if (is_given(want->select))
		memset(override->selection.verdict, -1, n);
	for (int scope = SCOPE_ALL; scope <= SCOPE_RULE; scope++)
		if (apply_list(override, want->select, 1,
			       (enum rule_scope)scope) ||
		    apply_list(override, want->extend, 1,
			       (enum rule_scope)scope) ||
		    apply_list(override, want->ignore, -1,
			       (enum rule_scope)scope))
			return -1;
	/* The array may belong to another policy, so it must not grow in
	 * place. */
	policy->selections =
		ARENA_ARRAY(arena, struct selection, policy->nselections + 1);
	if (policy->nselections)
		memcpy(policy->selections, old,
		       policy->nselections * sizeof(*old));
	policy->selections[policy->nselections++] = override->selection;
	return 0;
}

static int apply_preset(struct policy *policy, const char *name,
			struct err *err)
{
	struct preset_ref *ref =
		ARENA_NEW(policy_arena(policy), struct preset_ref);
	const char *why;

	if (!name)
		return 0;
	if (!preset_parse(name, ref, &why)) {
		const char *near = preset_nearest(name);

		if (why)
			return err_set(err, 0, "%s", why);
		return err_set(err, 0, "unknown preset `%s`%s%s%s", name,
			       near ? "; did you mean `" : "", near ? near : "",
			       near ? "`?" : "");
	}
	policy->extends = ref;
	policy->nextends = policy->extends_size = 1;
	return 0;
}

struct policy *policy_adjust(const struct policy *policy,
			     const struct policy_overrides *overrides,
			     struct err *err)
{
	struct override override = {.lenient = overrides->lenient, .err = err};
	struct policy *result;

	if (policy->floor) {
		struct policy *local =
			policy_adjust(policy->local, overrides, err);

		if (!local)
			return NULL;
		result = policy_with_floor(local, policy->floor);
		policy_free(local);
		return result;
	}
	result = override.policy = policy_copy(policy);
	if (apply_preset(result, overrides->preset, err) ||
	    apply_selection(&override, overrides)) {
		policy_free(result);
		return NULL;
	}
	/* Without such options, its settings are those of the original
	 * policy. */
	if (overrides->preset || selects(overrides))
		policy_build(result);
	return result;
}

/* --- floor ---------------------------------------------------------------- */

/* Returns the floor's setting with each value of the local one that is
 * stricter. If the floor turns the rule off, returns the local setting. */
static struct setting stricter(const struct setting *local,
			       const struct setting *floor)
{
	struct setting result = *floor;

	if (!floor->enabled)
		result = *local;
	else if (local->enabled && local->severity > floor->severity) {
		result.severity = local->severity;
		result.severity_set = local->severity_set;
		result.from = local->from;
	}
	if (floor->enabled && local->enabled && local->action > floor->action) {
		result.action = local->action;
		result.action_set = local->action_set;
	}
	result.locked = floor->locked || local->locked;
	for (size_t i = 0; i < ARRAY_SIZE(result.checks_locked); i++)
		result.checks_locked[i] =
			floor->checks_locked[i] | local->checks_locked[i];
	result.strict |= local->enabled && local->strict;
	result.selected = local->selected;
	return result;
}

/* Returns the setting of a rule; off if it is not in the policy. */
static const struct setting *setting_of(const struct policy *policy, size_t i,
					const struct rule *rule)
{
	static const struct setting off;
	int index = rule_set_find(policy->rules, rule->name);

	return index < 0 ? &off : &policy->settings[i][index];
}

/* Merges override i of the floor with override j of the local file. */
static struct setting *merge(const struct policy *policy, size_t i, size_t j)
{
	const struct rule_set *rules = policy->rules;
	struct setting *merged =
		ARENA_ARRAY(policy_arena(policy), struct setting, rules->n + 1);

	for (size_t k = 0; k < rules->n; k++)
		merged[k] =
			stricter(setting_of(policy->local, j, rules->items[k]),
				 setting_of(policy->floor, i, rules->items[k]));
	return merged;
}

static void merge_settings(struct policy *policy)
{
	const struct policy *floor = policy->floor, *local = policy->local;
	struct arena *arena = policy_arena(policy);
	size_t nfloor = floor->noverrides + 1, nlocal = local->noverrides + 1;

	policy->nsettings = nfloor * nlocal;
	policy->settings =
		ARENA_ARRAY(arena, struct setting *, policy->nsettings);
	for (size_t i = 0; i < nfloor; i++)
		for (size_t j = 0; j < nlocal; j++)
			policy->settings[i * nlocal + j] = merge(policy, i, j);
}

static void merge_locked(struct policy *policy)
{
	const struct rule_set *rules = policy->rules;

	policy->locked = ARENA_ARRAY(policy_arena(policy), bool, rules->n + 1);
	for (size_t i = 0; i < rules->n; i++)
		policy->locked[i] =
			policy_locks(policy->floor, rules->items[i], NULL) ||
			policy_locks(policy->local, rules->items[i], NULL);
}

static void merge_injected(struct policy *policy, const struct kube_config *a,
			   const struct kube_config *b)
{
	size_t n = a->ninjected + b->ninjected;
	struct pod_injection *all =
		ARENA_ARRAY(policy_arena(policy), struct pod_injection, n + 1);

	for (size_t i = 0; i < n; i++)
		all[i] = i < a->ninjected ? a->injected[i]
					  : b->injected[i - a->ninjected];
	policy->kube.injected = all;
	policy->kube.ninjected = n;
}

static void merge_kube(struct policy *policy)
{
	const struct kube_config *a = &policy->floor->kube;
	const struct kube_config *b = &policy->local->kube;
	size_t na = a->accelerators.n, nb = b->accelerators.n;
	struct arena *arena = policy_arena(policy);
	struct accelerator *accelerators =
		ARENA_ARRAY(arena, struct accelerator, na + nb + 1);
	struct policy_kind *kinds = ARENA_ARRAY(arena, struct policy_kind,
						a->nkinds + b->nkinds + 1);

	if (na)
		memcpy(accelerators, a->accelerators.items,
		       na * sizeof(*accelerators));
	if (nb)
		memcpy(accelerators + na, b->accelerators.items,
		       nb * sizeof(*accelerators));
	if (a->nkinds)
		memcpy(kinds, a->kinds, a->nkinds * sizeof(*kinds));
	if (b->nkinds)
		memcpy(kinds + a->nkinds, b->kinds, b->nkinds * sizeof(*kinds));
	policy->kube.accelerators.items = accelerators;
	policy->kube.accelerators.n = na + nb;
	policy->kube.infrastructure = a->infrastructure;
	policy->kube.kinds = kinds;
	policy->kube.nkinds = a->nkinds + b->nkinds;
	merge_injected(policy, a, b);
}

/* Combines the statements about the cluster: those of the floor apply, the
 * local file may add others. */
static void merge_platform(struct policy *policy)
{
	const struct platform *local = &policy->local->platform;
	struct platform *out = &policy->platform;

	if (!out->gpu_taints)
		out->gpu_taints = local->gpu_taints;
	if (!out->gpu_products)
		out->gpu_products = local->gpu_products;
	if (!out->priority_classes)
		out->priority_classes = local->priority_classes;
	if (!out->default_priority_class)
		out->default_priority_class = local->default_priority_class;
	if (out->limit_defaults == TRI_UNKNOWN)
		out->limit_defaults = local->limit_defaults;
	if (out->injection == INJECTION_UNKNOWN)
		out->injection = local->injection;
	if (!out->kubernetes)
		out->kubernetes = local->kubernetes;
	if (!out->karpenter)
		out->karpenter = local->karpenter;
	for (size_t i = 0; i < OPERATORS; i++)
		if (!out->operators[i])
			out->operators[i] = local->operators[i];
}

/* Combines the custom rules. If both have a rule of the same name, that of the
 * floor is used. */
static void merge_rules(struct policy *policy)
{
	const struct rule_set *local = policy->local->rules;

	if (local->added)
		policy_add_rules(policy, local->items + local->n - local->added,
				 local->added);
}

/*
 * Combines the settings of rules, locks, custom rules, accelerators, kinds,
 * injected fields and statements about the cluster of both. Exemptions and
 * admission policies stay with each, and queries use both. `paths:` are those
 * of the local file if it sets them. Everything else is the floor's.
 */
struct policy *policy_with_floor(const struct policy *local,
				 const struct policy *floor)
{
	struct policy *result =
		policy_copy(floor->floor ? floor->floor : floor);

	policy_hold(result, floor);
	policy_hold(result, local);
	result->floor = floor->floor ? floor->floor : floor;
	result->local = local->floor ? local->local : local;
	if (result->local->npaths) {
		result->paths = result->local->paths;
		result->npaths = result->local->npaths;
	}
	merge_rules(result);
	merge_locked(result);
	merge_kube(result);
	merge_platform(result);
	merge_settings(result);
	return result;
}
