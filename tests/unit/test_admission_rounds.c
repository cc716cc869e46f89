/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rule whose fix causes the same finding again. If that ends after some
 * rounds, the patch is sent; if not, no patch is sent and the Pod is not
 * denied.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "ask_fixture.h"
#include "engine/rule.h"

/* Number of rounds after which the rule has no finding. If it is negative, the
 * rule always has one. */
static int rounds;

static void check(struct rule_run *run, const struct pod *pod)
{
	const struct node *grace =
		pod_field(pod, "terminationGracePeriodSeconds");
	int64_t seconds = 0;
	struct finding *f;
	struct fix *fix;

	if (node_int(grace, &seconds) && rounds >= 0 && seconds >= rounds)
		return;
	f = report_pod(run, pod, grace, "the period is %s seconds",
		       rule_number(run, seconds));
	fix = finding_fix(run, f, true, "add a second");
	if (grace)
		fix_replaces(fix);
	fix_set(fix, pod->spec, "terminationGracePeriodSeconds",
		edit_int(rule_arena(run), seconds + 1));
}

static const struct rule growing = {
	.name = "growing",
	.category = "lifecycle",
	.severity = SEVERITY_WARNING,
	.flags = RULE_SAFE_PATCH,
	.scope = GPU_PODS | PODSPEC,
	.since = "1.0",
	.summary = "a period that a fix extends",
	.why = "",
	.remedy = "",
	.check_pod = check,
};
static const struct rule **all;

/* Adds the rule to all others, which are sorted by name. */
static void add_growing(void)
{
	size_t n = 0;

	all = calloc(all_rules_count + 1, sizeof(*all));
	assert_non_null(all);
	while (n < all_rules_count &&
	       strcmp(all_rules[n]->name, growing.name) < 0) {
		all[n] = all_rules[n];
		n++;
	}
	all[n] = &growing;
	for (; n < all_rules_count; n++)
		all[n + 1] = all_rules[n];
}

static int setup_growing(void **state)
{
	struct admission_options options;
	struct stage *s;

	stage_setup(state);
	s = *state;
	admission_worker_free(s->worker);
	admission_free(s->admission);
	add_growing();
	s->rules = (struct rule_set){.items = all, .n = all_rules_count + 1};
	options = (struct admission_options){
		.rules = &s->rules, .metrics = s->metrics, .log = s->log};
	s->admission = admission_new(&options);
	s->worker = admission_worker_new(s->admission);
	s->user = "alice";
	use_policy(s, "apiVersion: gpugate.dev/v1\nkind: Policy\n"
		      "mode: enforce\nrules:\n  all: {action: 'off'}\n"
		      "  growing: {action: patch}\n");
	return 0;
}

static int teardown_growing(void **state)
{
	stage_teardown(state);
	free(all);
	return 0;
}

static const struct ask pod = {
	ADMISSION_MUTATE,
	"CREATE",
	"",
	"Pod",
	"",
	"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: " POD_SPEC "}"};

static void a_fix_that_settles_is_sent(void **state)
{
	struct stage *s = *state;

	rounds = 3;
	post(s, &pod);
	assert_true(says(s, LET_IN));
	assert_true(says(s, "\"patch\""));
}

static void a_fix_that_never_settles_neither_patches_nor_denies(void **state)
{
	struct stage *s = *state;

	rounds = -1;
	post(s, &pod);
	assert_true(says(s, LET_IN));
	assert_false(says(s, "\"patch\""));
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, setup_growing, teardown_growing)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_fix_that_settles_is_sent),
		TEST(a_fix_that_never_settles_neither_patches_nor_denies),
	};

	return cmocka_run_group_tests_name("admission_rounds", tests, NULL,
					   NULL);
}
