/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Presets and policies with the real rules: the presets enable the rules that
 * declare them, policies accept parameters of the declared type only, and the
 * starter policy names every rule.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "engine/finding.h"
#include "engine/policy.h"

static struct rule_set rules;

static bool is_headline(const struct rule *rule)
{
	static const char *const names[] = {"resources", "shm",	  "scheduling",
					    "lifecycle", "quota", "priority"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(rule->category, names[i]) == 0)
			return true;
	return false;
}

static bool is_runnable(const struct rule *rule)
{
	return !(rule->needs & NEEDS_PARAM);
}

static void recommended_has_the_rules_that_declare_it(void **state)
{
	struct policy *policy = policy_default(&rules, "recommended");

	for (size_t i = 0; i < rules.n; i++) {
		const struct rule *rule = rules.items[i];
		const struct setting *s = &policy_base(policy)[i];

		if (s->enabled !=
		    (is_runnable(rule) &&
		     !(rule->flags & (RULE_PEDANTIC | RULE_PREVIEW))))
			fail_msg("%s: enabled", rule->name);
		if (s->enabled && s->severity != rule->severity)
			fail_msg("%s: severity", rule->name);
		if (s->enabled && s->action != rule_action(rule, s->severity))
			fail_msg("%s: action", rule->name);
		if (s->action == ACTION_PATCH &&
		    rule->flags & RULE_OPT_IN_PATCH)
			fail_msg("%s: patches unasked", rule->name);
		if (s->action > ACTION_WARN && rule->flags & RULE_GUESS)
			fail_msg("%s: a guess does more than warn", rule->name);
	}
	policy_free(policy);
}

static void strict_has_the_rules_that_declare_it(void **state)
{
	struct policy *policy = policy_default(&rules, "strict");

	for (size_t i = 0; i < rules.n; i++) {
		const struct rule *rule = rules.items[i];
		const struct setting *s = &policy_base(policy)[i];
		enum severity want = rule->flags & RULE_GUESS ? SEVERITY_WARNING
							      : SEVERITY_ERROR;

		if (!is_headline(rule) || !s->enabled)
			continue;
		if (s->severity != want || !s->severity_set)
			fail_msg("%s: %s", rule->name,
				 severity_name(s->severity));
		if (s->action != rule_action(rule, want))
			fail_msg("%s: %s", rule->name, action_name(s->action));
	}
	policy_free(policy);
}

static void all_turns_every_rule_on(void **state)
{
	struct policy *policy = policy_default(&rules, "all");

	for (size_t i = 0; i < rules.n; i++)
		if (policy_base(policy)[i].enabled !=
		    is_runnable(rules.items[i]))
			fail_msg("%s", rules.items[i]->name);
	policy_free(policy);
}

static void try_param(const struct rule *rule, const struct rule_param *param)
{
	static const struct {
		const char *type, *value;
	} values[] = {
		{"int", "8"},	    {"quantity", "1Gi"}, {"string", "text"},
		{"list", "[a, b]"}, {"map", "{a: b}"},	 {"bool", "true"},
	};
	struct policy_problems problems = {0};
	struct policy *policy;
	const char *value = NULL;
	struct buf text;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (strncmp(param->type, values[i].type,
			    strlen(values[i].type)) == 0)
			value = values[i].value;
	if (!value)
		fail_msg("%s.%s: type %s", rule->name, param->name,
			 param->type);
	buf_init(&text);
	buf_addf(&text,
		 "apiVersion: gpugate.dev/v1\nkind: Policy\nrules:\n"
		 "  %s: {params: {%s: %s}}\n",
		 rule->name, param->name,
		 *param->value && strchr("ib", *param->type) ? param->value
							     : value);
	policy = policy_parse(&rules,
			      &(struct policy_text){"p", text.data, text.len},
			      NULL, &problems);
	if (!policy && !strstr(problems.items[0].text, "judges nothing"))
		fail_msg("%s.%s: %s", rule->name, param->name,
			 problems.items[0].text);
	policy_free(policy);
	policy_problems_release(&problems);
	buf_release(&text);
}

static void parameters_accept_their_type_only(void **state)
{
	for (size_t i = 0; i < rules.n; i++) {
		const struct rule *rule = rules.items[i];

		for (size_t k = 0; rule->params && rule->params[k].name; k++)
			try_param(rule, &rule->params[k]);
		if (rule->needs & NEEDS_PARAM && !rule->params)
			fail_msg("%s needs parameters and has none",
				 rule->name);
	}
}

static void the_starter_policy_names_every_rule(void **state)
{
	struct policy_problems problems = {0};
	struct policy *policy;
	struct buf text;

	buf_init(&text);
	policy_write_starter(&rules, &text);
	policy = policy_parse(
		&rules,
		&(struct policy_text){".gpugate.yaml", text.data, text.len},
		NULL, &problems);
	assert_non_null(policy);
	assert_int_equal(problems.n, 0);
	policy_free(policy);
	policy_problems_release(&problems);
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recommended_has_the_rules_that_declare_it),
		cmocka_unit_test(strict_has_the_rules_that_declare_it),
		cmocka_unit_test(all_turns_every_rule_on),
		cmocka_unit_test(parameters_accept_their_type_only),
		cmocka_unit_test(the_starter_policy_names_every_rule),
	};

	rules = (struct rule_set){.items = all_rules, .n = all_rules_count};
	return cmocka_run_group_tests_name("policy_catalog", tests, NULL, NULL);
}
