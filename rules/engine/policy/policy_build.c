/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges the layers of a policy into one table of settings for each override:
 * presets, `rules:`, the override's own `rules:`, selections of the command
 * line, locks. Within a layer, the most specific entry applies, whatever the
 * order: rule before category before `all`.
 */
#include <string.h>

#include "base/array.h"
#include "policy_internal.h"

/* Files of custom rules, `rules:` of the policy, and `rules:` of an
 * override. */
enum { LAYERS = 3 };

struct layers {
	const struct preset_ref *presets;
	size_t npresets;
	const char *from; /* "preset recommended@1.0, strict" */
	const struct rule_entries *rules[LAYERS];
};

bool rule_has_params(const struct rule *rule, const char *const *params)
{
	if (!(rule->needs & NEEDS_PARAM))
		return true;
	for (size_t i = 0; rule->params && rule->params[i].name; i++)
		if (!*rule->params[i].value && params && *params[i])
			return true;
	return false;
}

static const char *const *default_params(struct arena *arena,
					 const struct rule *rule)
{
	static const char *const none[1];
	const char **params;
	size_t n = 0;

	if (!rule->params)
		return none;
	while (rule->params[n].name)
		n++;
	params = ARENA_ARRAY(arena, const char *, n + 1);
	for (size_t i = 0; i < n; i++)
		params[i] = rule->params[i].value;
	return params;
}

static void apply_params(struct arena *arena, const struct rule *rule,
			 const struct rule_entry *entry,
			 struct setting *setting)
{
	const char **params;
	size_t n = 0;

	if (!entry->nparams)
		return;
	while (rule->params[n].name)
		n++;
	params = ARENA_ARRAY(arena, const char *, n + 1);
	memcpy(params, setting->params, n * sizeof(*params));
	for (size_t i = 0; i < entry->nparams; i++)
		params[entry->params[i].index] = entry->params[i].value;
	setting->params = params;
}

static bool can_patch(const struct rule *rule)
{
	return rule->flags & (RULE_SAFE_PATCH | RULE_OPT_IN_PATCH);
}

static void apply_entry(struct arena *arena, const struct rule *rule,
			const struct rule_entry *entry, struct setting *setting)
{
	if (entry->has_severity) {
		setting->severity = entry->severity;
		setting->severity_set = true;
	}
	/* `patch` for a category applies only to its rules that can patch. */
	if (entry->has_action &&
	    (entry->action != ACTION_PATCH || can_patch(rule))) {
		setting->action = entry->action;
		setting->action_set = entry->action != ACTION_OFF;
	}
	if (entry->word.scope == SCOPE_RULE) {
		setting->enabled = true;
		apply_params(arena, rule, entry, setting);
	}
	if (entry->off)
		setting->enabled = false;
	setting->from = entry->from;
}

static void apply_layer(struct arena *arena, const struct rule *rule,
			const struct rule_entries *entries,
			struct setting *setting)
{
	for (int scope = SCOPE_ALL; scope <= SCOPE_RULE; scope++)
		for (size_t i = 0; i < entries->n; i++) {
			const struct rule_entry *entry = &entries->items[i];

			if ((int)entry->word.scope != scope ||
			    !rule_word_covers(&entry->word, rule))
				continue;
			if (entry->word.check)
				setting_turn_check(setting, rule,
						   entry->word.check, true);
			else
				apply_entry(arena, rule, entry, setting);
		}
}

static bool is_named_in(const struct layers *layers, const struct rule *rule)
{
	for (size_t k = 0; k < LAYERS; k++) {
		const struct rule_entries *entries = layers->rules[k];

		for (size_t i = 0; entries && i < entries->n; i++)
			if (entries->items[i].word.rule == rule &&
			    !entries->items[i].word.check)
				return true;
	}
	return false;
}

static void select_check(struct setting *setting,
			 const struct selected_check *one)
{
	if (one->only)
		memset(setting->checks_off, 0xff, sizeof(setting->checks_off));
	setting_turn_check(setting, one->word.rule, one->word.check, one->off);
}

static void lock_check(struct setting *setting, const struct rule_word *word)
{
	size_t i = (size_t)(word->check - word->rule->rejections->items);

	setting->checks_locked[i / 64] |= UINT64_C(1) << i % 64;
}

static void apply_selections(const struct policy *policy, size_t index,
			     struct setting *setting)
{
	for (size_t i = 0; i < policy->nselections; i++) {
		const struct selection *selection = &policy->selections[i];

		if (!selection->verdict[index])
			continue;
		setting->enabled = selection->verdict[index] > 0;
		setting->from = selection->from;
		setting->selected = setting->enabled;
	}
	for (size_t i = 0; i < policy->nselections; i++) {
		const struct selection *selection = &policy->selections[i];

		for (size_t k = 0; k < selection->nchecks; k++)
			if (selection->checks[k].word.rule ==
			    policy->rules->items[index])
				select_check(setting, &selection->checks[k]);
	}
}

static const char *preset_from(struct arena *arena, const struct layers *layers)
{
	const char *text = "preset";

	for (size_t i = 0; i < layers->npresets; i++) {
		const struct preset_ref *ref = &layers->presets[i];

		text = arena_printf(arena, "%s%s %s", text, i ? "," : "",
				    ref->name);
		if (ref->pinned)
			text = arena_printf(arena, "%s@%u.%u", text,
					    ref->version[0], ref->version[1]);
	}
	return text;
}

/* True if the rule also denies pods of a controller. They are checked with
 * their owner, so that only rules about uncounted devices check them again, if
 * the policy or preset strict says so. */
static bool denies_controller_pods(const struct policy *policy,
				   const struct layers *layers,
				   const struct rule *rule)
{
	if (!(rule->flags & RULE_TAKES))
		return false;
	if (policy->has_controller_pods)
		return policy->controller_pods;
	for (size_t i = 0; i < layers->npresets; i++)
		if (layers->presets[i].preset == PRESET_STRICT)
			return true;
	return false;
}

static void build_one(const struct policy *policy, const struct layers *layers,
		      size_t index, struct setting *setting)
{
	const struct rule *rule = policy->rules->items[index];
	struct arena *arena = policy_arena(policy);
	bool fixed = rule_is_fixed(rule);

	preset_setting(rule, layers->presets, layers->npresets,
		       is_named_in(layers, rule), setting);
	setting->params = default_params(arena, rule);
	setting->from = layers->from;
	if (!fixed) {
		for (size_t k = 0; k < LAYERS; k++)
			if (layers->rules[k])
				apply_layer(arena, rule, layers->rules[k],
					    setting);
		apply_selections(policy, index, setting);
		if (!rule_has_params(rule, setting->params))
			setting->enabled = false;
	}
	setting->controller_pods = denies_controller_pods(policy, layers, rule);
	setting->locked =
		policy->locked[index] || fixed || rule->flags & RULE_LOCKED;
	for (size_t i = 0; i < policy->nlocked_checks; i++)
		if (policy->locked_checks[i].rule == rule)
			lock_check(setting, &policy->locked_checks[i]);
	if (!setting->enabled)
		setting->action = ACTION_OFF;
	else if (!setting->action_set)
		setting->action = rule_action(rule, setting->severity);
}

static struct setting *build(const struct policy *policy, struct layers *layers)
{
	size_t n = policy->rules->n;
	struct arena *arena = policy_arena(policy);
	struct setting *settings = ARENA_ARRAY(arena, struct setting, n + 1);

	layers->from = preset_from(arena, layers);
	for (size_t i = 0; i < n; i++)
		build_one(policy, layers, i, &settings[i]);
	return settings;
}

static const struct rule_entries *unless_empty(const struct rule_entries *e)
{
	return e->n ? e : NULL;
}

void policy_build(struct policy *policy)
{
	static const struct preset_ref recommended = {.name = "recommended"};
	struct arena *arena = policy_arena(policy);
	struct layers base = {.presets = policy->extends,
			      .npresets = policy->nextends,
			      .rules = {unless_empty(&policy->own_entries),
					unless_empty(&policy->entries), NULL}};

	if (!base.npresets) {
		base.presets = &recommended;
		base.npresets = 1;
	}
	policy->nsettings = policy->noverrides + 1;
	policy->settings =
		ARENA_ARRAY(arena, struct setting *, policy->nsettings);
	policy->settings[0] = build(policy, &base);
	for (size_t i = 0; i < policy->noverrides; i++) {
		const struct policy_override *override = &policy->overrides[i];
		struct layers layers = base;

		if (override->has_preset) {
			layers.presets = &override->preset;
			layers.npresets = 1;
		}
		layers.rules[2] = &override->rules;
		policy->settings[i + 1] = build(policy, &layers);
	}
}
