/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy file, gpugate-policy(5): which rules run, their severity and
 * parameters, and which objects are exempt. A policy is immutable once loaded
 * and may be used by several threads. Loading collects every problem with its
 * position; a policy with an error is not used.
 */
#ifndef ENGINE_POLICY_H
#define ENGINE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "engine/registry.h"
#include "engine/rule.h"

/* Largest number of checks of a rule (rule.rejections). */
enum { CHECKS_MAX = 128 };

/* The settings of one rule. */
struct setting {
	bool enabled;
	bool locked;	   /* comments and annotations cannot suppress it */
	bool severity_set; /* set by the policy: findings cannot change it */
	bool strict; /* a finding that depends on something unknown keeps this
			severity (finding_unseen()) */
	bool action_set;      /* action set by the policy; else it follows the
				 finding's severity */
	bool controller_pods; /* its findings also deny Pods made by a
				 controller */
	bool selected; /* selected on the command line, by name or category */
	enum severity severity;
	enum action action;
	/*
	 * Values in the order of rule->params, already checked against their
	 * types. An int lies in 0..2147483647, or in the range its type gives
	 * ("int 1..64"). A list is "a,b", a map "key=value,key=value"; items
	 * contain no comma.
	 */
	const char *const *params;
	uint64_t checks_off[CHECKS_MAX / 64];	 /* bits, by check */
	uint64_t checks_locked[CHECKS_MAX / 64]; /* like locked */
	const char *from; /* "preset recommended", "path/.gpugate.yaml:7" */
};

/* True if the policy turned off this check of the rule. */
bool setting_check_off(const struct setting *setting, const struct rule *rule,
		       const struct rejection *check);
/* True if nothing may suppress findings of the rule, or of this check (NULL:
 * none). */
bool setting_locks(const struct setting *setting, const struct rule *rule,
		   const char *check);
void setting_turn_check(struct setting *setting, const struct rule *rule,
			const struct rejection *check, bool off);

struct policy;

struct policy_problem {
	const char *file;
	unsigned line, column; /* 0 if it concerns the whole file or folder */
	bool warning;
	const char *text; /* includes "did you mean" if there is a suggestion */
};

struct policy_problems {
	struct arena arena;
	struct policy_problem *items;
	size_t n, size;
	size_t errors;
};
void policy_problems_release(struct policy_problems *problems);

/*
 * Presets:
 *
 * recommended: each rule has its own severity. A rule that guesses at intent at
 * most warns. Pedantic and preview rules are off.
 *
 * strict: recommended, and all findings of the categories resources, shm,
 * scheduling, lifecycle, quota and priority are errors, even if they depend on
 * something unknown. Guesses are warnings. Warnings of rules about uncounted
 * devices (RULE_TAKES) are errors. These rules also deny Pods of controllers,
 * unless the policy sets `controllerPods: audit`.
 *
 * all: recommended with the pedantic and preview rules on.
 *
 * The action follows a finding's severity (rule_action()) unless `rules:` names
 * one, so that admission allows every object that the linter passes. In each
 * preset a rule that needs parameters is off until it has them. In a pinned
 * preset ("recommended@1.0") rules newer than the pin audit and are infos, so
 * that an upgrade breaks no build; naming such a rule under `rules:` lifts
 * that.
 *
 * `rules:` is applied after the preset: first `all`, then categories, then
 * rules. Setting a rule turns it on, setting a category does not. An override
 * starts from the policy's own `rules:`, on top of the override's preset if it
 * has one.
 *
 * invalid-syntax is always on: no policy, option or comment changes it.
 */

/* Returns the policy of a preset (recommended, strict or all). NULL means
 * recommended. Returns NULL if the preset is unknown. */
struct policy *policy_default(const struct rule_set *rules, const char *preset);
struct policy_options {
	bool admission; /* unknown rule names are only warnings, for an old
			   binary with a new policy; files must be regular */
	int64_t today;	/* days since the epoch (0: today by the clock) */
	/* Set if the policy file was found, not named by the user. It must then
	 * be a regular file, and may refer to a path only if this function
	 * returns NULL; otherwise it returns the reason for refusing the
	 * path. */
	const char *(*refuse_path)(void *context, const char *path);
	/* The file holds custom rules (kind: Rules) and no policy. */
	bool rules_only;
	/* Called with each folder that `custom:` reads; may be NULL. */
	void (*looks_into)(void *context, const char *folder);
	void *context; /* for both functions */
};
/*
 * Reads a policy file (or a folder: one Policy, any number of Exemptions).
 * Returns NULL if there are errors; all problems are in problems either way.
 * options is NULL if all members are zero. A file has at most FILE_POLICY_MAX
 * bytes.
 */
struct policy *policy_load(const struct rule_set *rules, const char *path,
			   const struct policy_options *options,
			   struct policy_problems *problems);
/* A policy file in memory; name is the file's name in problems and `from`. */
struct policy_text {
	const char *name, *text;
	size_t len;
};
struct policy *policy_parse(const struct rule_set *rules,
			    const struct policy_text *text,
			    const struct policy_options *options,
			    struct policy_problems *problems);
void policy_free(struct policy *policy);

/*
 * Returns a copy changed by the options of the command line. select replaces
 * the selection (NULL keeps it), extend adds rules, ignore removes rules. Items
 * are rule names, categories or `all`. A rule name has precedence over a
 * category and a category over `all`. ignore has precedence over select for
 * items of the same kind. preset, unless NULL, replaces the file's `extends`.
 * Returns NULL and sets err for unknown items, and for a rule selected by name
 * whose required parameter has no value.
 */
struct policy_overrides {
	const char *preset;
	const char *const *select, *const *extend, *const *ignore; /* NULL-
							   terminated lists */
	/* Accept an unknown item: it may be a rule of another policy. */
	bool lenient;
};
struct policy *policy_adjust(const struct policy *policy,
			     const struct policy_overrides *overrides,
			     struct err *err);
/*
 * Combines a local policy with the admission policy (floor). local may tighten
 * the floor (enable more, raise severity) or exempt unlocked rules from
 * findings that admission does not deny, but nothing else: parameters of the
 * floor apply if its rule is on, and only the floor's `exclude:` counts. The
 * result is a new policy that does not depend on the two. policy_adjust() of a
 * result adjusts local and applies the floor again, so that no option can make
 * it weaker.
 */
struct policy *policy_with_floor(const struct policy *local,
				 const struct policy *floor);

/* Returns the namespace whose exemptions apply to the object, or NULL. It is
 * the namespace of the outermost object, because a manifest in a string may
 * name any other one. */
const char *policy_namespace(const struct object *object);
/* Returns one setting per rule, in the order of rules, for this object:
 * overrides are applied. */
const struct setting *policy_settings(const struct policy *policy,
				      const struct object *object);
/* Like policy_settings(), with the labels of the object's namespace (NULL:
 * unknown, so that overrides that require labels do not match) and the
 * effective mode. */
const struct setting *policy_settings_in(const struct policy *policy,
					 const struct object *object,
					 const struct node *namespace_labels,
					 enum mode *mode);
/* Returns the settings without overrides, for set rules and `config`. */
const struct setting *policy_base(const struct policy *policy);
/* Returns the first setting that turns the rule with this index on: the one
 * without overrides, then the one of each override. NULL if none does. */
const struct setting *policy_setting(const struct policy *policy,
				     unsigned rule);
/*
 * State of a rule's exemption for an object on a day. In its last 14 days an
 * exemption reports that it will expire. For 7 days after its last day it acts
 * as `warn`; then it has no effect.
 */
enum exempt_state {
	EXEMPT_NOT,
	EXEMPT_GRACE,  /* expired at most 7 days ago: the finding is at most a
			  warning */
	EXEMPT_ENDING, /* exempt, but the exemption expires within 14 days */
	EXEMPT_FULLY,
};
struct policy_exemption {
	enum exempt_state state; /* the rest is set unless it is EXEMPT_NOT */
	const char *reason;
	const char *from; /* "policy.yaml:12" */
	int64_t until;	  /* last day (INT64_MAX: never expires) */
	bool local;	  /* set by a local policy on top of a floor */
};
/* check is the id of one of the rule's rejections, or NULL. today is 0 for the
 * day on which the policy was loaded; a process that runs for days must pass
 * the day. */
struct policy_exemption
policy_exemption(const struct policy *policy, const struct rule *rule,
		 const char *check, const struct object_id *id, int64_t today);
/* Sets *out to the i-th exemption that has an expiry date (for metrics). If
 * there is a floor, only its exemptions count. Returns false past the last. */
bool policy_exemption_ending(const struct policy *policy, size_t i,
			     struct policy_exemption *out);
/* True if the policy has any exemption, expired or not. */
bool policy_has_exemptions(const struct policy *policy);
const struct kube_config *policy_kube(const struct policy *policy);
/* Returns the policy's statements about the cluster; never NULL. */
const struct platform *policy_platform(const struct policy *policy);
enum mode policy_mode(const struct policy *policy);
const char *policy_contact(const struct policy *policy); /* may be NULL */
uint64_t policy_hash(const struct policy *policy); /* hash of all text read */
/* Returns the age in seconds above which a cluster state is not used (`maxAge:
 * 24h`); 0 if the policy sets none. */
int64_t policy_max_age(const struct policy *policy);

/* -- for admission -- */

/* True if an override depends on labels of namespaces. A caller that does not
 * know them (see policy_settings_in()) must report it. */
bool policy_asks_namespaces(const struct policy *policy);
/* True for `patchOwners: true`: when a Pod's owner is created, it gets the
 * fixes of its Pods as well. */
bool policy_patches_owners(const struct policy *policy);
/* True if the account is one of `controllers:`. */
bool policy_is_controller(const struct policy *policy, const char *account);
struct policy_break_glass {
	const char *const *groups;
	size_t ngroups;
	const char *annotation;
};
const struct policy_break_glass *
policy_break_glass(const struct policy *policy); /* may be NULL */
/* Returns the reason why annotations must not suppress findings of the rule in
 * the namespace (`suppressions.annotations`). Returns NULL, and the conditions
 * in *grant, if they may. namespace is NULL or "" if there is none or it is
 * unknown. */
struct policy_grant {
	bool require_reason;
	int64_t max_days; /* 0: unlimited */
};
const char *policy_refusal(const struct policy *policy, const struct rule *rule,
			   const char *check, const char *namespace,
			   const struct policy_grant **grant);
/* Returns the admission policy with which a local one was combined, or NULL. */
const struct policy *policy_floor(const struct policy *policy);

/*
 * Matches `exclude:` and `paths:` against a path relative to the policy's
 * folder. A file is excluded if its path or a folder above it matches; a
 * pattern without '/' is also tried on each name in the path.
 */
bool policy_excludes(const struct policy *policy, const char *path);
struct policy_path_rule {
	const char *set, *cluster, *namespace, *preset; /* NULL if not set */
};
bool policy_for_path(const struct policy *policy, const char *path,
		     struct policy_path_rule *out);
/* True if an entry of `paths:` names a set. */
bool policy_names_sets(const struct policy *policy);
/* True if an entry of `paths:` names a cluster state. */
bool policy_names_clusters(const struct policy *policy);
/* Returns the built-in rules and the custom ones (`custom:`). */
const struct rule_set *policy_rules(const struct policy *policy);
struct admission_policies;
/* Returns the cluster's admission policies that the files of `custom:` contain:
 * those of the policy itself or, if floor is set, of the floor on which it was
 * built (policy_with_floor()). NULL if there are none. */
const struct admission_policies *policy_admission(const struct policy *policy,
						  bool floor);
/* True if the word is a rule, a category or `all`. */
bool policy_knows(const struct policy *policy, const char *word);
/* Describes the parts of a policy other than its rules, one line each:
 * overrides, exemptions, infrastructure, platform. The texts are not
 * escaped. */
void policy_describe(const struct policy *policy, struct buf *out);
/* Appends the commented starter file that `gpugate init` writes. */
void policy_write_starter(const struct rule_set *rules, struct buf *out);

#endif
