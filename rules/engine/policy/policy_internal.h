/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a policy, private to this folder and to custom/. A policy is a
 * struct in its own arena. Copies of a policy (policy_adjust(),
 * policy_with_floor()) copy only the struct and keep the memory of the original
 * alive. After policy_build(), a policy is immutable.
 */
#ifndef RULES_ENGINE_POLICY_INTERNAL_H
#define RULES_ENGINE_POLICY_INTERNAL_H

#include "base/arena.h"
#include "base/glob.h"
#include "engine/admission_policy.h"
#include "engine/policy.h"
#include "rules/engine/rule_word.h"

struct policy_memory; /* memory with a reference count */

struct patterns {
	struct path_pattern {
		const char *text;
		struct glob *glob;
	} * items;
	size_t n, size;
};

struct text_list {
	const char **items;
	size_t n, size;
};

enum preset { PRESET_RECOMMENDED, PRESET_STRICT, PRESET_ALL };

/* A preset with an optional pin, such as "recommended@1.0", which makes newer
 * rules audit only. */
struct preset_ref {
	const char *name;
	enum preset preset;
	bool pinned;
	unsigned version[2];
};

struct param_value {
	unsigned index; /* index in rule->params */
	const char *value;
};

/* An entry of `rules:`. */
struct rule_entry {
	struct rule_word word;
	bool off, has_severity, has_action;
	enum severity severity;
	enum action action;
	struct param_value *params;
	size_t nparams, params_size;
	const char *from;
};

struct rule_entries {
	struct rule_entry *items;
	size_t n, size;
};

struct label_want {
	const char *key, *value;
};

struct label_wants {
	struct label_want *items;
	size_t n, size;
};

struct policy_override {
	struct patterns namespaces, kinds;
	struct label_wants labels, namespace_labels;
	bool has_mode, has_preset;
	enum mode mode;
	struct preset_ref preset;
	struct rule_entries rules;
	const char *from;
};

struct exemption {
	struct patterns namespaces, kinds, names;
	/* a bool for each rule; NULL until it is read */
	bool *rules;
	struct rule_word *checks; /* single checks (RULE/CHECK) */
	size_t nchecks, checks_size;
	const char *reason;
	int64_t until; /* DATE_NONE: never expires */
	const char *from;
};

struct path_entry {
	struct path_pattern pattern;
	struct policy_path_rule out;
};

/* A check that the command line turns on or off. `only` also turns off the
 * other checks of its rule. */
struct selected_check {
	struct rule_word word;
	bool off, only;
};

struct selection {
	/* for each rule: -1 turn off, 0 unchanged, 1 turn on */
	signed char *verdict;
	struct selected_check *checks;
	size_t nchecks, checks_size;
	const char *from;
};

struct policy {
	struct policy_memory *memory;
	const struct rule_set
		*rules; /* built-in rules and those of `custom:` */
	uint64_t hash;
	int64_t today; /* day on which the policy was loaded */

	struct preset_ref *extends;
	size_t nextends, extends_size;
	struct rule_entries entries;
	/* Actions that custom rules set themselves, which all other entries
	 * override. */
	struct rule_entries own_entries;
	struct policy_override *overrides;
	size_t noverrides, overrides_size;
	bool *locked; /* per rule */
	struct rule_word *locked_checks;
	size_t nlocked_checks, locked_checks_size;
	struct selection *selections;
	size_t nselections, selections_size;

	struct exemption *exemptions;
	size_t nexemptions, exemptions_size;
	struct path_entry *paths;
	size_t npaths, paths_size;
	struct patterns exclude;
	struct kube_config kube;
	struct platform platform;

	enum mode mode;
	const char *contact;
	bool patch_owners;
	/* has_controller_pods is set if the policy has `controllerPods:`,
	 * controller_pods if the value is to deny. Otherwise the preset
	 * decides. */
	bool has_controller_pods, controller_pods;
	int64_t max_age;
	struct text_list infrastructure; /* NULL-terminated; may be NULL */
	struct text_list controllers;
	struct policy_break_glass break_glass;
	bool has_break_glass;
	struct policy_grant grant;
	struct patterns grant_namespaces;
	bool *grant_rules;
	bool has_grant;

	/* Admission policies of the cluster in `custom:`, or NULL. */
	struct admission_policies *admission;

	/* Set by policy_build(): settings[0] without override, settings[i + 1]
	 * for override i. With a floor, the index is floor's index * (local's
	 * overrides + 1) + local's index. */
	struct setting **settings;
	size_t nsettings;
	const struct policy *floor, *local; /* both set or both NULL */
};

/* -- policy.c -- */
struct policy *policy_new(const struct rule_set *rules);
struct arena *policy_arena(const struct policy *policy);
/* True if `locked:` of the policy has the rule, or this check (NULL: none). */
bool policy_locks(const struct policy *policy, const struct rule *rule,
		  const char *check);
/* Returns a copy that keeps the memory of policy alive. */
struct policy *policy_copy(const struct policy *policy);
/* Keeps the memory of other alive as long as policy. */
void policy_hold(struct policy *policy, const struct policy *other);
/* Makes the policy free glob at its end. glob may be NULL; returns glob. */
struct glob *policy_keep(struct policy *policy, struct glob *glob);
/* Makes the policy free the set at its end. */
void policy_keep_admission(struct policy *policy,
			   struct admission_policies *set);
/* Adds custom rules after the existing ones, except for names that exist
 * already. */
void policy_add_rules(struct policy *policy, const struct rule *const *rules,
		      size_t n);
bool patterns_match(const struct patterns *patterns, const char *text);

/* -- policy_build.c -- */
/* Computes the settings from presets, entries, overrides and selections. */
void policy_build(struct policy *policy);
/* True if the rule needs no parameters, or if one of its parameters without a
 * default is set. */
bool rule_has_params(const struct rule *rule, const char *const *params);
/* Sets the setting of a rule in a set of presets, without entries. With
 * `named`, the policy names the rule, so that a pin does not apply to it. */
void preset_setting(const struct rule *rule, const struct preset_ref *refs,
		    size_t n, bool named, struct setting *out);
/* Parses "strict" or "recommended@1.0". Returns false on an error, and sets
 * *problem to its text, or to NULL if the preset is unknown. */
bool preset_parse(const char *text, struct preset_ref *out,
		  const char **problem);
/* Parses "1.0" into major and minor. Returns -1 on an error. */
int version_parse(const char *text, unsigned version[2]);
bool version_is_after(const unsigned a[2], const unsigned b[2]);
/* Returns the nearest preset for "did you mean", or NULL. */
const char *preset_nearest(const char *text);

#endif
