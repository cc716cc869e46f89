/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creates and frees policies, and answers queries. Queries read tables that
 * were made when the policy was loaded, so that they are fast and need no lock;
 * only the reference count of the memory changes, atomically.
 *
 * With a floor, queries combine both policies: see policy_adjust.c.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "policy_internal.h"

struct policy_memory {
	atomic_uint references;
	struct arena arena;
	struct admission_policies *admission; /* may be NULL */
	struct glob **globs;
	size_t nglobs, globs_size;
	struct policy_memory **held;
	size_t nheld, held_size;
};

static struct policy_memory *memory_new(void)
{
	struct arena arena = ARENA_INIT;
	struct policy_memory *memory = ARENA_NEW(&arena, struct policy_memory);

	/* The struct is in its arena: copy it before the arena is freed. */
	memory->arena = arena;
	atomic_init(&memory->references, 1);
	return memory;
}

static void memory_drop(struct policy_memory *memory)
{
	struct arena arena;

	if (atomic_fetch_sub(&memory->references, 1) != 1)
		return;
	for (size_t i = 0; i < memory->nglobs; i++)
		glob_free(memory->globs[i]);
	for (size_t i = 0; i < memory->nheld; i++)
		memory_drop(memory->held[i]);
	admission_policies_free(memory->admission);
	arena = memory->arena;
	arena_release(&arena);
}

struct policy *policy_new(const struct rule_set *rules)
{
	struct policy_memory *memory = memory_new();
	struct policy *policy = ARENA_NEW(&memory->arena, struct policy);

	policy->memory = memory;
	policy->rules = rules;
	policy->mode = MODE_ENFORCE;
	policy->platform.limit_defaults = TRI_UNKNOWN;
	policy->locked = ARENA_ARRAY(&memory->arena, bool, rules->n + 1);
	return policy;
}

void policy_add_rules(struct policy *policy, const struct rule *const *rules,
		      size_t n)
{
	struct arena *arena = &policy->memory->arena;
	const struct rule_set *old = policy->rules;
	struct rule_set *set = ARENA_NEW(arena, struct rule_set);
	const struct rule **items =
		ARENA_ARRAY(arena, const struct rule *, old->n + n);

	memcpy(items, old->items, old->n * sizeof(*items));
	*set = (struct rule_set){
		.items = items, .n = old->n, .added = old->added};
	for (size_t i = 0; i < n; i++)
		if (rule_set_find(set, rules[i]->name) < 0) {
			items[set->n++] = rules[i];
			set->added++;
		}
	rule_set_index_kinds(set, arena);
	policy->rules = set;
	policy->locked = ARENA_ARRAY(arena, bool, set->n + 1);
}

struct arena *policy_arena(const struct policy *policy)
{
	return &policy->memory->arena;
}

void policy_hold(struct policy *policy, const struct policy *other)
{
	struct policy_memory *memory = policy->memory;

	atomic_fetch_add(&other->memory->references, 1);
	*VEC_PUSH(&memory->arena, memory->held, memory->nheld,
		  memory->held_size) = other->memory;
}

struct policy *policy_copy(const struct policy *policy)
{
	struct policy *copy = policy_new(policy->rules);
	struct policy_memory *memory = copy->memory;

	*copy = *policy;
	copy->memory = memory;
	policy_hold(copy, policy);
	return copy;
}

struct glob *policy_keep(struct policy *policy, struct glob *glob)
{
	struct policy_memory *memory = policy->memory;

	if (glob)
		*VEC_PUSH(&memory->arena, memory->globs, memory->nglobs,
			  memory->globs_size) = glob;
	return glob;
}

void policy_keep_admission(struct policy *policy,
			   struct admission_policies *set)
{
	policy->memory->admission = set;
}

void policy_free(struct policy *policy)
{
	if (policy)
		memory_drop(policy->memory);
}

void policy_problems_release(struct policy_problems *problems)
{
	arena_release(&problems->arena);
	*problems = (struct policy_problems){0};
}

/* --- overrides ------------------------------------------------------------ */

bool patterns_match(const struct patterns *patterns, const char *text)
{
	for (size_t i = 0; i < patterns->n; i++)
		if (glob_match(patterns->items[i].glob, text))
			return true;
	return false;
}

const char *policy_namespace(const struct object *object)
{
	const char *outermost = NULL;

	for (; object; object = object->parent)
		if (object->namespace)
			outermost = object->namespace;
	return outermost;
}

static bool labels_match(const struct label_wants *wants,
			 const struct node *labels)
{
	for (size_t i = 0; i < wants->n; i++)
		if (!node_eq(node_get(labels, wants->items[i].key),
			     wants->items[i].value))
			return false;
	return true;
}

static bool override_holds(const struct policy_override *override,
			   const struct object *object,
			   const struct node *namespace_labels)
{
	const char *namespace = policy_namespace(object);
	const struct node *labels = NULL;

	if (override->namespaces.n &&
	    !(namespace && patterns_match(&override->namespaces, namespace)))
		return false;
	if (override->kinds.n &&
	    !(object->kind && patterns_match(&override->kinds, object->kind)))
		return false;
	if (override->labels.n)
		labels = node_path(object->root, "metadata.labels");
	return labels_match(&override->labels, labels) &&
	       labels_match(&override->namespace_labels, namespace_labels);
}

/* Returns 1 + the index of the first override that matches, or 0. */
static size_t override_of(const struct policy *policy,
			  const struct object *object,
			  const struct node *namespace_labels)
{
	for (size_t i = 0; i < policy->noverrides; i++)
		if (override_holds(&policy->overrides[i], object,
				   namespace_labels))
			return i + 1;
	return 0;
}

static enum mode override_mode(const struct policy *policy, size_t override)
{
	const struct policy_override *o;

	if (!override)
		return policy->mode;
	o = &policy->overrides[override - 1];
	return o->has_mode ? o->mode : policy->mode;
}

const struct setting *policy_settings_in(const struct policy *policy,
					 const struct object *object,
					 const struct node *namespace_labels,
					 enum mode *mode)
{
	const struct policy *judge = policy->floor ? policy->floor : policy;
	size_t i = override_of(judge, object, namespace_labels);

	if (mode)
		*mode = override_mode(judge, i);
	if (policy->floor) {
		i *= policy->local->noverrides + 1;
		i += override_of(policy->local, object, namespace_labels);
	}
	return policy->settings[i];
}

const struct setting *policy_settings(const struct policy *policy,
				      const struct object *object)
{
	if (policy->nsettings == 1)
		return policy->settings[0];
	return policy_settings_in(policy, object, NULL, NULL);
}

const struct setting *policy_base(const struct policy *policy)
{
	return policy->settings[0];
}

const struct setting *policy_setting(const struct policy *policy, unsigned rule)
{
	for (size_t i = 0; i < policy->nsettings; i++)
		if (policy->settings[i][rule].enabled)
			return &policy->settings[i][rule];
	return NULL;
}

/* --- paths ---------------------------------------------------------------- */

/* True if a name in the path matches, for patterns without '/'. Modifies
 * path. */
static bool name_matches(const struct glob *glob, char *path)
{
	char *rest = path, *name;

	while ((name = strsep(&rest, "/")))
		if (*name && glob_match(glob, name))
			return true;
	return false;
}

/* True if the path or a folder above it matches. Modifies path. */
static bool prefix_matches(const struct glob *glob, char *path)
{
	char *slash;

	while (!glob_match(glob, path)) {
		slash = strrchr(path, '/');
		if (!slash || slash == path)
			return false;
		*slash = '\0';
	}
	return true;
}

static bool pattern_excludes(const struct path_pattern *pattern,
			     const char *path)
{
	struct arena arena = ARENA_INIT;
	bool found;

	found = prefix_matches(pattern->glob, arena_strdup(&arena, path));
	if (!found && !strchr(pattern->text, '/'))
		found = name_matches(pattern->glob, arena_strdup(&arena, path));
	arena_release(&arena);
	return found;
}

static const char *without_dot(const char *path)
{
	while (text_starts(path, "./"))
		path += 2;
	return path;
}

bool policy_excludes(const struct policy *policy, const char *path)
{
	const struct patterns *exclude = &policy->exclude;

	for (size_t i = 0; i < exclude->n; i++)
		if (pattern_excludes(&exclude->items[i], without_dot(path)))
			return true;
	return false;
}

bool policy_for_path(const struct policy *policy, const char *path,
		     struct policy_path_rule *out)
{
	path = without_dot(path);
	for (size_t i = 0; i < policy->npaths; i++)
		if (glob_match(policy->paths[i].pattern.glob, path)) {
			*out = policy->paths[i].out;
			return true;
		}
	return false;
}

bool policy_names_sets(const struct policy *policy)
{
	for (size_t i = 0; i < policy->npaths; i++)
		if (policy->paths[i].out.set)
			return true;
	return false;
}

bool policy_names_clusters(const struct policy *policy)
{
	for (size_t i = 0; i < policy->npaths; i++)
		if (policy->paths[i].out.cluster)
			return true;
	return false;
}

/* --- simple queries ------------------------------------------------------- */

const struct platform *policy_platform(const struct policy *policy)
{
	return &policy->platform;
}

const struct kube_config *policy_kube(const struct policy *policy)
{
	return &policy->kube;
}

enum mode policy_mode(const struct policy *policy)
{
	return policy->mode;
}

bool policy_asks_namespaces(const struct policy *policy)
{
	if (policy->floor && policy_asks_namespaces(policy->local))
		return true;
	for (size_t i = 0; i < policy->noverrides; i++)
		if (policy->overrides[i].namespace_labels.n)
			return true;
	return false;
}

bool policy_patches_owners(const struct policy *policy)
{
	return policy->floor ? policy->floor->patch_owners
			     : policy->patch_owners;
}

const char *policy_contact(const struct policy *policy)
{
	return policy->contact;
}

uint64_t policy_hash(const struct policy *policy)
{
	return policy->hash;
}

int64_t policy_max_age(const struct policy *policy)
{
	return policy->max_age;
}

const struct rule_set *policy_rules(const struct policy *policy)
{
	return policy->rules;
}

const struct admission_policies *policy_admission(const struct policy *policy,
						  bool floor)
{
	if (!policy->floor)
		return floor ? NULL : policy->admission;
	return floor ? policy->floor->admission : policy->local->admission;
}

bool setting_check_off(const struct setting *setting, const struct rule *rule,
		       const struct rejection *check)
{
	size_t i = (size_t)(check - rule->rejections->items);

	return setting->checks_off[i / 64] >> i % 64 & 1;
}

bool setting_locks(const struct setting *setting, const struct rule *rule,
		   const char *check)
{
	const struct rejection *of = check ? rule_rejection(rule, check) : NULL;
	size_t i = of ? (size_t)(of - rule->rejections->items) : 0;

	return setting->locked ||
	       (of && setting->checks_locked[i / 64] >> i % 64 & 1);
}

bool policy_locks(const struct policy *policy, const struct rule *rule,
		  const char *check)
{
	const struct rejection *of = check ? rule_rejection(rule, check) : NULL;
	int index = rule_set_find(policy->rules, rule->name);

	if (index >= 0 && policy->locked[index])
		return true;
	for (size_t i = 0; of && i < policy->nlocked_checks; i++)
		if (policy->locked_checks[i].check == of)
			return true;
	return false;
}

void setting_turn_check(struct setting *setting, const struct rule *rule,
			const struct rejection *check, bool off)
{
	size_t i = (size_t)(check - rule->rejections->items);
	uint64_t bit = UINT64_C(1) << i % 64;

	if (off)
		setting->checks_off[i / 64] |= bit;
	else
		setting->checks_off[i / 64] &= ~bit;
}

bool policy_knows(const struct policy *policy, const char *word)
{
	struct rule_word parsed;

	return rule_word_parse(policy->rules, word, &parsed);
}

bool policy_is_controller(const struct policy *policy, const char *account)
{
	for (size_t i = 0; i < policy->controllers.n; i++)
		if (text_eq(policy->controllers.items[i], account))
			return true;
	return false;
}

const struct policy_break_glass *policy_break_glass(const struct policy *policy)
{
	return policy->has_break_glass ? &policy->break_glass : NULL;
}

const struct policy *policy_floor(const struct policy *policy)
{
	return policy->floor;
}

const char *policy_refusal(const struct policy *policy, const struct rule *rule,
			   const char *check, const char *namespace,
			   const struct policy_grant **grant)
{
	const struct policy *of = policy->floor ? policy->floor : policy;
	int index = rule_set_find(of->rules, rule->name);
	bool known = namespace && *namespace;

	if (!policy->has_grant)
		return "the policy grants no suppressions";
	if (index < 0 || policy_locks(of, rule, check) || rule_is_fixed(rule) ||
	    (policy->grant_rules && !policy->grant_rules[index]))
		return "the policy does not grant it";
	if (policy->grant_namespaces.n && !known)
		return "the policy grants it in some namespaces only, and the "
		       "object has no known namespace";
	if (policy->grant_namespaces.n &&
	    !patterns_match(&policy->grant_namespaces, namespace))
		return "the policy does not grant it in this namespace";
	*grant = &policy->grant;
	return NULL;
}
