/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the exemption that applies to an object. If several match, one that
 * stays valid for longer than ENDING_DAYS is preferred to one that expires
 * sooner, and that one to one that has expired (of equal ones, the first is
 * used), so that an entry with a date never weakens one without. An object
 * without a namespace matches no namespace pattern except `*`, because its
 * namespace is unknown.
 */
#include "base/text.h"
#include "policy_internal.h"
#include "rules/engine/rule_word.h"

enum { ENDING_DAYS = 14, GRACE_DAYS = 7 };

static enum exempt_state state_on(const struct exemption *exemption,
				  int64_t today)
{
	if (exemption->until == DATE_NONE)
		return EXEMPT_FULLY;
	if (today > exemption->until + GRACE_DAYS)
		return EXEMPT_NOT;
	if (today > exemption->until)
		return EXEMPT_GRACE;
	if (today > exemption->until - ENDING_DAYS)
		return EXEMPT_ENDING;
	return EXEMPT_FULLY;
}

static bool matches_pattern(const struct patterns *patterns, const char *text)
{
	return !patterns->n || patterns_match(patterns, text ? text : "");
}

static bool names_check(const struct exemption *exemption,
			const struct rule *rule, const char *check)
{
	const struct rejection *of = check ? rule_rejection(rule, check) : NULL;

	for (size_t i = 0; of && i < exemption->nchecks; i++)
		if (exemption->checks[i].check == of)
			return true;
	return false;
}

static bool exemption_holds(const struct exemption *exemption, size_t index,
			    const struct rule *rule, const char *check,
			    const struct object_id *id)
{
	return (exemption->rules[index] ||
		names_check(exemption, rule, check)) &&
	       matches_pattern(&exemption->namespaces, id->namespace) &&
	       matches_pattern(&exemption->kinds, id->kind) &&
	       matches_pattern(&exemption->names, id->name);
}

static void copy_terms(const struct exemption *exemption,
		       struct policy_exemption *out)
{
	out->reason = exemption->reason;
	out->from = exemption->from;
	out->until = exemption->until;
	out->local = false;
}

static struct policy_exemption
own_exemption(const struct policy *policy, const struct rule *rule,
	      const char *check, const struct object_id *id, int64_t today)
{
	struct policy_exemption best = {.state = EXEMPT_NOT};
	int index = rule_set_find(policy->rules, rule->name);

	for (size_t i = 0; index >= 0 && i < policy->nexemptions; i++) {
		const struct exemption *exemption = &policy->exemptions[i];
		enum exempt_state state = state_on(exemption, today);

		if (state <= best.state ||
		    !exemption_holds(exemption, (size_t)index, rule, check, id))
			continue;
		best.state = state;
		copy_terms(exemption, &best);
	}
	return best;
}

struct policy_exemption
policy_exemption(const struct policy *policy, const struct rule *rule,
		 const char *check, const struct object_id *id, int64_t today)
{
	const struct policy *first = policy->floor ? policy->floor : policy;
	int index = rule_set_find(policy->rules, rule->name);
	struct policy_exemption found, local;

	if (index < 0 || rule_is_fixed(rule) || rule->flags & RULE_LOCKED)
		return (struct policy_exemption){.state = EXEMPT_NOT};
	if (!today)
		today = policy->today;
	found = own_exemption(first, rule, check, id, today);
	if (!policy->floor || policy_locks(first, rule, check))
		return found;
	local = own_exemption(policy->local, rule, check, id, today);
	if (local.state <= found.state)
		return found;
	local.local = true;
	return local;
}

bool policy_has_exemptions(const struct policy *policy)
{
	if (policy->floor)
		return policy->floor->nexemptions || policy->local->nexemptions;
	return policy->nexemptions;
}

bool policy_exemption_ending(const struct policy *policy, size_t i,
			     struct policy_exemption *out)
{
	const struct policy *of = policy->floor ? policy->floor : policy;

	for (size_t k = 0; k < of->nexemptions; k++) {
		const struct exemption *exemption = &of->exemptions[k];

		if (exemption->until == DATE_NONE || i--)
			continue;
		copy_terms(exemption, out);
		return true;
	}
	return false;
}
