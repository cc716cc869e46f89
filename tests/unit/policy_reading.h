/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policies for tests, from text that must load, and checks of their settings.
 * Included after cmocka.h, once per program.
 */
#ifndef TESTS_POLICY_READING_H
#define TESTS_POLICY_READING_H

#include <string.h>

#include "engine/policy.h"
#include "sample_rules.h"

#define HEAD "apiVersion: gpugate.dev/v1\nkind: Policy\n"

enum { TODAY = 20000 }; /* 2024-10-04 */

static struct policy *parse(const char *text)
{
	static const struct policy_options options = {.today = TODAY};
	struct policy_problems problems = {0};
	struct policy *policy = policy_parse(
		&sample_set,
		&(struct policy_text){"p.yaml", text, strlen(text)}, &options,
		&problems);

	for (size_t i = 0; i < problems.n; i++)
		print_error("%u:%u: %s\n", problems.items[i].line,
			    problems.items[i].column, problems.items[i].text);
	assert_non_null(policy);
	policy_problems_release(&problems);
	return policy;
}

/* Returns true if the policy exempts the object. The exemption must not have
 * ended before the day on which the policy was loaded. */
static inline bool exempts(const struct policy *policy, size_t rule,
			   const struct object_id *id, const char **reason)
{
	struct policy_exemption found =
		policy_exemption(policy, sample_items[rule], NULL, id, 0);

	if (found.state < EXEMPT_ENDING)
		return false;
	*reason = found.reason;
	return true;
}

static const struct setting *base(const struct policy *policy, size_t rule)
{
	return &policy_base(policy)[rule];
}

static void expect(const struct setting *setting, bool enabled,
		   enum severity severity, enum action action)
{
	assert_int_equal(setting->enabled, enabled);
	assert_int_equal(setting->action, action);
	if (enabled)
		assert_int_equal(setting->severity, severity);
}

#endif
