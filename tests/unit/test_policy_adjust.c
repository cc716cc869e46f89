/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policies derived from policies: a command line's overrides, a local file on
 * top of the webhook's floor. Sources are freed before results are inspected.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "kube/purpose/purpose.h"
#include "policy_reading.h"

/* --- overrides ------------------------------------------------------------ */

static struct policy *adjust(const struct policy *policy, const char *preset,
			     const char *select, const char *extend,
			     const char *ignore)
{
	const char *const a[] = {select, NULL}, *const b[] = {extend, NULL};
	const char *const c[] = {ignore, NULL};
	struct policy_overrides overrides = {preset, a, b, c, false};
	struct err err = {0};
	struct policy *result = policy_adjust(policy, &overrides, &err);

	if (!result)
		print_error("%s\n", err.text);
	assert_non_null(result);
	return result;
}

/* Checks the names of the rules that are on, in order. */
static void expect_on(struct policy *policy, const char *want)
{
	struct buf on;

	buf_init(&on);
	for (size_t i = 0; i < SAMPLE_RULES; i++)
		if (base(policy, i)->enabled)
			buf_addf(&on, "%s ", sample_items[i]->name);
	assert_string_equal(on.data, want);
	buf_release(&on);
	policy_free(policy);
}

static void select_and_ignore_change_rules(void **state)
{
	struct policy *policy = parse(HEAD "rules: {shm-missing: off}\n");
	struct policy *twice;

	expect_on(adjust(policy, NULL, "shm", NULL, NULL),
		  "invalid-syntax shm-missing ");
	expect_on(adjust(policy, NULL, "shm", "quota", NULL),
		  "invalid-syntax quota-never-fits shm-missing ");
	expect_on(adjust(policy, NULL, NULL, "spot-advice", "resources"),
		  "invalid-syntax nvidia-visible-devices-override "
		  "priority-class-missing quota-never-fits spot-advice "
		  "suppression-unused ");
	expect_on(adjust(policy, NULL, NULL, NULL, "all"), "invalid-syntax ");
	expect_on(adjust(policy, NULL, NULL, NULL, "invalid-syntax"),
		  "gpu-in-init-container gpu-limit-missing invalid-syntax "
		  "nvidia-visible-devices-override priority-class-missing "
		  "quota-never-fits suppression-unused ");
	/* the more specific name takes precedence, whichever list it is in */
	expect_on(adjust(policy, NULL, "gpu-limit-missing", NULL, "resources"),
		  "gpu-limit-missing invalid-syntax ");
	expect_on(adjust(policy, NULL, "resources", NULL, "gpu-limit-missing"),
		  "gpu-in-init-container invalid-syntax ");
	expect_on(adjust(policy, NULL, "shm", NULL, "shm"), "invalid-syntax ");
	expect_on(adjust(policy, "all", NULL, NULL, NULL),
		  "gpu-in-init-container gpu-limit-missing invalid-syntax "
		  "nvidia-visible-devices-override priority-class-missing "
		  "quota-never-fits spot-advice suppression-unused ");
	/* the second policy is derived from the first, which may then be
	 * freed */
	twice = adjust(policy, NULL, "shm", NULL, NULL);
	policy_free(policy);
	policy = adjust(twice, "strict", NULL, "quota", NULL);
	policy_free(twice);
	expect(base(policy, SHM_MISSING), true, SEVERITY_ERROR, ACTION_PATCH);
	assert_string_equal(base(policy, SHM_MISSING)->from, "command line");
	expect_on(policy, "invalid-syntax quota-never-fits shm-missing ");
}

static void select_and_ignore_reach_overrides(void **state)
{
	struct policy *policy =
		parse(HEAD "overrides: [{kinds: [Pod], rules: {shm: off}}]\n");
	struct object pod = {.kind = "Pod"};
	struct policy *adjusted = adjust(policy, NULL, "shm", NULL, NULL);
	const struct setting *s = policy_settings(adjusted, &pod);

	assert_ptr_not_equal(s, policy_base(adjusted));
	assert_true(s[SHM_MISSING].enabled);
	assert_false(s[IN_INIT].enabled);
	policy_free(adjusted);
	policy_free(policy);
}

static void unknown_rules_and_presets_are_named(void **state)
{
	static const struct {
		const char *preset, *select, *ignore, *want;
	} rows[] = {
		{"strikt", NULL, NULL,
		 "unknown preset `strikt`; did you mean `strict`?"},
		{NULL, "shm-mising", NULL,
		 "unknown rule `shm-mising`; did you mean `shm-missing`?"},
		{NULL, NULL, "xxxxxxx", "unknown rule `xxxxxxx`"},
		{NULL, "gpu-count-max", NULL,
		 "`gpu-count-max` reports nothing until a policy "
		 "sets its parameters"},
	};
	struct policy *policy = policy_default(&sample_set, NULL);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *const select[] = {rows[i].select, NULL};
		const char *const ignore[] = {rows[i].ignore, NULL};
		struct policy_overrides overrides = {rows[i].preset, select,
						     NULL, ignore, false};
		struct err err = {0};

		assert_null(policy_adjust(policy, &overrides, &err));
		assert_string_equal(err.text, rows[i].want);
	}
	policy_free(policy);
}

/* --- floor ---------------------------------------------------------------- */

static void a_floor_cannot_be_lowered(void **state)
{
	struct policy *floor = parse(
		HEAD "contact: webhook\nexclude: [vendor]\n"
		     "infrastructure: {namespaces: [sys]}\n"
		     "locked: [nvidia-visible-devices-override]\n"
		     "rules: {gpu-count-max: {params: {max: 8}}}\n"
		     "overrides: [{namespaces: [a], rules: {quota: off}}]\n"
		     "exempt: [{namespaces: [sys], rules: [all], reason: "
		     "webhook}]\n");
	struct policy *local = parse(
		HEAD
		"contact: local\nexclude: [mine]\n"
		"infrastructure: {namespaces: [ml]}\n"
		"rules:\n"
		"  all: off\n"
		"  shm-missing: {severity: error, action: audit}\n"
		"  gpu-count-max: {severity: info, params: {max: 99}}\n"
		"  spot-advice: warning\n"
		"overrides: [{kinds: [Pod], rules: {spot-advice: error}}]\n"
		"paths: [{glob: \"**\", namespace: ns}]\n"
		"exempt:\n"
		"- {names: [x], rules: [all], reason: local}\n");
	struct policy *both = policy_with_floor(local, floor);
	struct policy_path_rule path;
	struct object_id x = {"v1", "Pod", "n", "x"};
	struct object_id sys = {"v1", "Pod", "sys", "y"};
	struct object pod = {.kind = "Pod", .namespace = "a"};
	const struct setting *s;
	const char *reason;

	assert_int_equal(namespace_is_infrastructure(policy_kube(both), "sys"),
			 TRI_YES);
	assert_int_equal(namespace_is_infrastructure(policy_kube(both), "ml"),
			 TRI_NO);
	assert_int_equal(
		namespace_is_infrastructure(policy_kube(both), "kube-system"),
		TRI_NO);
	policy_free(floor);
	policy_free(local);
	expect(base(both, SHM_MISSING), true, SEVERITY_ERROR, ACTION_PATCH);
	expect(base(both, COUNT_MAX), true, SEVERITY_ERROR, ACTION_DENY);
	assert_string_equal(base(both, COUNT_MAX)->params[0], "8");
	expect(base(both, NEVER_FITS), true, SEVERITY_ERROR, ACTION_DENY);
	expect(base(both, SPOT_ADVICE), true, SEVERITY_WARNING, ACTION_WARN);
	s = policy_settings(both, &pod);
	expect(&s[NEVER_FITS], false, 0, ACTION_OFF);
	expect(&s[SPOT_ADVICE], true, SEVERITY_ERROR, ACTION_DENY);
	assert_string_equal(policy_contact(both), "webhook");
	assert_true(policy_excludes(both, "vendor/x.yaml"));
	assert_false(policy_excludes(both, "mine/x.yaml"));
	assert_true(policy_for_path(both, "q.yaml", &path));
	assert_string_equal(path.namespace, "ns");
	/* exemptions of both, but not the local one of a locked rule */
	assert_true(exempts(both, SHM_MISSING, &x, &reason));
	assert_string_equal(reason, "local");
	assert_false(exempts(both, VISIBLE_DEVICES, &x, &reason));
	assert_true(exempts(both, VISIBLE_DEVICES, &sys, &reason));
	assert_string_equal(reason, "webhook");
	/* overrides cannot weaken the floor */
	local = adjust(both, NULL, NULL, NULL, "all");
	policy_free(both);
	expect(base(local, NEVER_FITS), true, SEVERITY_ERROR, ACTION_DENY);
	expect(base(local, SPOT_ADVICE), false, 0, ACTION_OFF);
	policy_free(local);
}

static void a_local_file_adds_versions_to_the_floor(void **state)
{
	struct policy *floor = parse(HEAD "operators: {kueue: '0.17'}\n"
					  "platform: {karpenter: '1.12'}\n");
	struct policy *local =
		parse(HEAD "kubernetesVersion: '1.35'\n"
			   "operators: {kueue: '0.9', kuberay: '1.6'}\n"
			   "platform: {karpenter: '1.1'}\n");
	struct policy *both = policy_with_floor(local, floor);
	const struct platform *platform = policy_platform(both);

	assert_int_equal(platform->kubernetes, 35);
	assert_int_equal(platform->karpenter, 12);
	assert_string_equal(platform->operators[OPERATOR_KUEUE], "0.17");
	assert_string_equal(platform->operators[OPERATOR_KUBERAY], "1.6");
	assert_null(platform->operators[OPERATOR_VOLCANO]);
	policy_free(floor);
	policy_free(local);
	policy_free(both);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(select_and_ignore_change_rules),
		cmocka_unit_test(select_and_ignore_reach_overrides),
		cmocka_unit_test(unknown_rules_and_presets_are_named),
		cmocka_unit_test(a_floor_cannot_be_lowered),
		cmocka_unit_test(a_local_file_adds_versions_to_the_floor),
	};

	return cmocka_run_group_tests_name("policy_adjust", tests, NULL, NULL);
}
