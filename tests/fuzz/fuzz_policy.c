/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads any bytes as a policy. Either the policy loads, or there are problems
 * with positions inside of the text and printable messages. A policy that loads
 * is adjusted, combined with a floor and queried in every way, and a second
 * reading gives the same result. The bytes are then read as a manifest with
 * comments too.
 *
 * Inputs: 12000
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "engine/policy.h"
#include "engine/suppress.h"

#include "tests/unit/sample_rules.h"

static const struct policy_options options = {.today = 20000};

static void check_problem(const struct policy_problem *problem, unsigned lines)
{
	if (problem->line > lines + 1 || !*problem->text)
		BUG("problem at line %u of %u", problem->line, lines);
	if ((problem->line == 0) != (problem->column == 0))
		BUG("half a place");
	for (const char *c = problem->text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			BUG("control character %d in a problem", *c);
}

static void ask(const struct policy *policy)
{
	struct object object = {.kind = "Pod", .namespace = "default"};
	struct object_id id = {"v1", "Pod", "default", "x"};
	const struct setting *settings = policy_settings(policy, &object);
	struct policy_path_rule path;
	for (size_t i = 0; i < sample_set.n; i++) {
		const struct rule *rule = sample_set.items[i];

		if (!settings[i].params || !settings[i].from)
			BUG("%s has half a setting", rule->name);
		if (settings[i].enabled == (settings[i].action == ACTION_OFF))
			BUG("%s: enabled and action disagree", rule->name);
		policy_exemption(policy, rule, NULL, &id, 0);
	}
	if (!settings[INVALID_SYNTAX].enabled)
		BUG("invalid-syntax is off");
	policy_excludes(policy, "a/b/c.yaml");
	policy_for_path(policy, "a/b/c.yaml", &path);
	policy_is_controller(policy, "system:serviceaccount:a:b");
}

static void derive(const struct policy *policy)
{
	static const char *const select[] = {"shm", "spot-advice", NULL};
	static const char *const ignore[] = {"all", NULL};
	struct policy_overrides overrides = {"strict", select, NULL, ignore,
					     false};
	struct policy *adjusted = policy_adjust(policy, &overrides, NULL);
	struct policy *both;

	if (!adjusted)
		BUG("overrides refused");
	ask(adjusted);
	both = policy_with_floor(adjusted, policy);
	policy_free(adjusted);
	ask(both);
	for (size_t i = 0; i < sample_set.n; i++)
		if (policy_base(policy)[i].enabled &&
		    !policy_base(both)[i].enabled)
			BUG("below the floor");
	policy_free(both);
}

static void on_issue(void *context, const struct suppression_issue *issue)
{
	const struct source *source = context;

	if (issue->start > issue->end || issue->end > source->len ||
	    !*issue->text)
		BUG("issue %u-%u", issue->start, issue->end);
}

static void suppress(const char *text, size_t len)
{
	static const struct setting open = {.enabled = true};
	struct arena arena = ARENA_INIT;
	struct source source;
	struct suppressions *s;

	source_init(&source, &arena, "fuzz", text, len);
	s = suppressions_scan(&arena, &source, 20000, NULL);
	for (unsigned line = 1; line < 10; line++) {
		struct finding finding = {
			.rule = &sample_rules[SHM_MISSING],
			.pod = "",
			.place = {.line = line, .pointer = ""}};

		suppressions_apply(s, NULL, &open, &finding);
	}
	suppressions_finish(s, &sample_set, on_issue, &source);
	arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A separate copy, so that a read past its end is detected. */
	char *text = malloc(size ? size : 1);
	struct policy_problems problems = {0};
	struct policy *policy;
	unsigned lines = 1;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	policy = policy_parse(&sample_set,
			      &(struct policy_text){"fuzz", text, size},
			      &options, &problems);
	if (!policy == !problems.errors)
		BUG("%zu errors and %s policy", problems.errors,
		    policy ? "a" : "no");
	for (size_t i = 0; i < problems.n; i++)
		check_problem(&problems.items[i], lines);
	if (policy) {
		ask(policy);
		derive(policy);
	}
	suppress(text, size);
	policy_free(policy);
	policy_problems_release(&problems);
	free(text);
	return 0;
}
