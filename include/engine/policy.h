/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy file (contract.md 3): which rules run, how severe they are,
 * with what parameters, who is exempt. A policy is immutable once loaded and
 * may be used by several threads. Loading collects every problem with its
 * position; a policy with an error is not used.
 */
#ifndef ENGINE_POLICY_H
#define ENGINE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "engine/registry.h"
#include "engine/rule.h"

enum mode { MODE_AUDIT, MODE_WARN, MODE_ENFORCE };

/* What holds for one rule. */
struct setting {
	bool enabled;
	bool locked;		/* comments, annotations cannot suppress it */
	bool severity_set;	/* severity came from a policy, not the rule */
	enum severity severity;
	enum action action;
	const char *const *params; /* values in the order of rule->params */
	const char *from;	/* "preset recommended", "path/.gpugate.yaml:7" */
};

struct policy;

struct policy_problem {
	const char *file;
	unsigned line, column;
	bool warning;
	const char *text; /* with "did you mean" where there is one */
};

struct policy_problems {
	struct arena arena;
	struct policy_problem *items;
	size_t n, size;
	size_t errors;
};
void policy_problems_release(struct policy_problems *problems);

/* preset: recommended, strict, all; NULL: recommended. NULL when unknown. */
struct policy *policy_default(const struct rule_set *rules, const char *preset);
/*
 * Read a policy file (or a folder: one Policy, any number of Exemptions).
 * NULL when there are errors; all problems are in problems either way.
 */
struct policy *policy_load(const struct rule_set *rules, const char *path,
			   struct policy_problems *problems);
void policy_free(struct policy *policy);

/*
 * A copy with the command line's wishes: select replaces (NULL: leave),
 * extend adds, ignore removes; items are rule names, categories or `all`.
 * preset, when given, replaces the file's. NULL and err on unknown words.
 */
struct policy_wishes {
	const char *preset;
	const char *const *select, *const *extend, *const *ignore; /* NULL-
							   terminated lists */
};
struct policy *policy_adjust(const struct policy *policy,
			     const struct policy_wishes *wishes,
			     struct err *err);
/*
 * floor is the door's policy: local may tighten it (enable more, raise
 * severity) or exempt unlocked rules, nothing else. Result is new.
 */
struct policy *policy_with_floor(const struct policy *local,
				 const struct policy *floor);

/* One setting per rule in the order of rules, for this object (overrides). */
const struct setting *policy_settings(const struct policy *policy,
				      const struct object *object);
/* The settings without any override, for set rules and `config`. */
const struct setting *policy_base(const struct policy *policy);
/* Is the rule exempt for this object? *reason lives in the policy. */
bool policy_exempts(const struct policy *policy, const struct rule *rule,
		    const struct object_id *id, const char **reason);
const struct kube_config *policy_kube(const struct policy *policy);
enum mode policy_mode(const struct policy *policy);
const char *policy_contact(const struct policy *policy); /* or NULL */
const char *policy_path(const struct policy *policy);	 /* or NULL */
/* `exclude:` and `paths:` against a path relative to the policy's folder. */
bool policy_excludes(const struct policy *policy, const char *path);
struct policy_path_rule {
	const char *cluster, *namespace, *preset; /* NULL when not given */
};
bool policy_for_path(const struct policy *policy, const char *path,
		     struct policy_path_rule *out);
const struct rule_set *policy_rules(const struct policy *policy);
/* The commented starter file that `gpugate init` writes. */
void policy_write_starter(const struct rule_set *rules, struct buf *out);

#endif
