/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Broken policies: every problem with its place and its message, and all of
 * them at once. Each row is a policy and the output of `gpugate` for it, one
 * line per problem.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "engine/policy.h"
#include "sample_rules.h"

#define HEAD "apiVersion: gpugate.dev/v1\nkind: Policy\n"

enum { TODAY = 20000 }; /* 2024-10-04 */

static const struct policy_options offline = {.today = TODAY};
static const struct policy_options admission = {.admission = true,
						.today = TODAY};

static void print(const struct policy_problems *problems, struct buf *out)
{
	for (size_t i = 0; i < problems->n; i++) {
		const struct policy_problem *p = &problems->items[i];

		assert_string_equal(p->file, "p.yaml");
		buf_addf(out, "%u:%u: %s%s\n", p->line, p->column,
			 p->warning ? "warning: " : "", p->text);
	}
}

struct row {
	const char *text, *want;
};

static void check(const struct row *row, const struct policy_options *options,
		  bool loads)
{
	struct policy_problems problems = {0};
	struct policy *policy;
	struct buf got;

	buf_init(&got);
	policy = policy_parse(
		&sample_set,
		&(struct policy_text){"p.yaml", row->text, strlen(row->text)},
		options, &problems);
	print(&problems, &got);
	if (strcmp(got.data, row->want))
		print_error("policy:\n%s\n", row->text);
	assert_string_equal(got.data, row->want);
	assert_int_equal(policy != NULL, loads);
	assert_int_equal(problems.errors == 0, loads);
	policy_free(policy);
	policy_problems_release(&problems);
	buf_release(&got);
}

#define CHECK_ALL(rows, options, loads)                                        \
	for (size_t i = 0; i < sizeof(rows) / sizeof((rows)[0]); i++)          \
	check(&(rows)[i], options, loads)

static void other_documents_are_rejected(void **state)
{
	static const struct row rows[] = {
		{"", "1:1: the file is empty\n"},
		{"# nothing\n", "1:1: the file is empty\n"},
		{"hello\n", "1:1: expected a map, found text\n"},
		{"- a\n", "1:1: expected a map, found a list\n"},
		{"kind: Policy\n", "1:1: `apiVersion` is missing\n"},
		{"apiVersion: gpugate.dev/v1\n", "1:1: `kind` is missing\n"},
		{"apiVersion: v1\nkind: Policy\n",
		 "1:13: expected apiVersion `gpugate.dev/v1`, found `v1`\n"},
		{"apiVersion: gpugate.dev/v1\nkind: Polici\n",
		 "2:7: unknown kind `Polici`; did you mean `Policy`? (Policy "
		 "or Exemptions)\n"},
		{"apiVersion: 1\nkind: [Policy]\n",
		 "1:13: expected apiVersion `gpugate.dev/v1`\n"
		 "2:7: expected Policy or Exemptions, found a list\n"},
		{HEAD "rulez: {}\n",
		 "3:1: unknown key `rulez`; did you mean `rules`?\n"},
		{HEAD "frobnicate: 1\n", "3:1: unknown key `frobnicate`\n"},
		{HEAD "mode: warn\nmode: audit\n",
		 "4:1: this key is given twice in one map\n"},
		{HEAD "---\n" HEAD,
		 "4:1: a second Policy: a policy is one document\n"},
		{"apiVersion: gpugate.dev/v1\nkind: Exemptions\n"
		 "namespaces: [a]\nexempt: [{rules: [all], reason: r}]\n",
		 "0:0: there is no document of kind Policy\n"},
	};

	CHECK_ALL(rows, &offline, false);
}

static void mistakes_in_plain_keys_have_a_position(void **state)
{
	static const struct row rows[] = {
		{HEAD "mode: enforced\n",
		 "3:7: unknown mode `enforced`; did you mean `enforce`? "
		 "(audit, warn or enforce)\n"},
		{HEAD "mode: off\n",
		 "3:7: expected audit, warn or enforce, found a boolean\n"},
		{HEAD "contact: 12\n",
		 "3:10: expected text, found a number; put it in quotes\n"},
		{HEAD "contact: \" \"\n", "3:10: the text is empty\n"},
		{HEAD "contact: |\n  a\n  b\n",
		 "3:10: the contact must be one line\n"},
		{HEAD "extends: [strikt]\n",
		 "3:11: unknown preset `strikt`; did you mean `strict`? "
		 "(recommended, strict or all)\n"},
		{HEAD "extends: [recommended@1]\n",
		 "3:11: a pinned preset ends in a version such as "
		 "`recommended@1.0`\n"},
		{HEAD "extends: [recommended@]\n",
		 "3:11: a pinned preset ends in a version such as "
		 "`recommended@1.0`\n"},
		{HEAD "extends: []\n", "3:10: the list is empty\n"},
		{HEAD "extends: {a: b}\n",
		 "3:10: expected a list, found a map\n"},
		{HEAD "locked: [shm-mising]\n",
		 "3:10: unknown rule `shm-mising`; did you mean "
		 "`shm-missing`?\n"},
		{HEAD "locked: shm-missing\n",
		 "3:9: expected a list, found text\n"},
		{HEAD "custom: rules\n", "3:9: expected a list, found text\n"},
		{HEAD "maxAge: 24\n",
		 "3:9: expected a duration such as 24h (s, m, h or "
		 "d)\n"},
		{HEAD "maxAge: 0h\n",
		 "3:9: expected a duration such as 24h (s, m, h or "
		 "d)\n"},
		{HEAD "maxAge: 24hours\n",
		 "3:9: expected a duration such as 24h (s, m, h or "
		 "d)\n"},
		{HEAD "exclude: [1]\n",
		 "3:11: expected text, found a number; put it in quotes\n"},
	};

	CHECK_ALL(rows, &offline, false);
}

static void mistakes_in_rules_have_a_position(void **state)
{
	static const struct row rows[] = {
		{HEAD "rules:\n  shm-mising: off\n",
		 "4:3: unknown rule `shm-mising`; did you mean "
		 "`shm-missing`?\n"},
		{HEAD "rules:\n  resource: off\n",
		 "4:3: unknown rule `resource`; did you mean `resources`?\n"},
		{HEAD "rules:\n  zzzzzzzzz: off\n",
		 "4:3: unknown rule `zzzzzzzzz`\n"},
		{HEAD "rules: [shm-missing]\n",
		 "3:8: expected a map of rules, found a list\n"},
		{HEAD "rules:\n  shm-missing: eror\n",
		 "4:16: unknown severity `eror`; did you mean `error`?\n"},
		{HEAD "rules:\n  shm-missing: deny\n",
		 "4:16: `deny` is an action: write `{action: deny}`\n"},
		{HEAD "rules:\n  shm-missing: true\n",
		 "4:16: expected off, a severity or a map, found a boolean\n"},
		{HEAD "rules:\n  shm-missing:\n",
		 "4:15: expected off, a severity or a map, found nothing\n"},
		{HEAD "rules:\n  shm-missing: {severity: warn}\n",
		 "4:27: `warn` is an action, not a severity: write `action: "
		 "warn`\n"},
		{HEAD "rules:\n  shm-missing: {severity: off}\n",
		 "4:27: `off` is an action, not a severity: write `action: "
		 "off`\n"},
		{HEAD "rules:\n  shm-missing: {severity: high}\n",
		 "4:27: unknown severity `high` (error, warning or info)\n"},
		{HEAD "rules:\n  shm-missing: {action: block}\n",
		 "4:25: unknown action `block` (deny, patch, warn, audit or "
		 "off)\n"},
		{HEAD "rules:\n  shm-missing: {acton: deny}\n",
		 "4:17: unknown key `acton`; did you mean `action`?\n"},
		{HEAD "rules:\n  quota-never-fits: {action: patch}\n",
		 "4:30: `quota-never-fits` has no fix to patch with; use "
		 "deny, warn or audit\n"},
		{HEAD "rules:\n  invalid-syntax: off\n",
		 "4:3: `invalid-syntax` cannot be changed\n"},
		{HEAD "rules:\n  shm-missing: off\n  dev-shm-missing: error\n",
		 "5:3: `shm-missing` is set more than once\n"},
		{HEAD "rules:\n  gpu-count-max: error\n",
		 "4:3: `gpu-count-max` reports nothing without "
		 "`params: {max: ...}`\n"},
		{HEAD "rules:\n  \"a\\nb\": off\n",
		 "4:3: unknown rule `a?b`\n"},
	};

	CHECK_ALL(rows, &offline, false);
}

#define SHM HEAD "rules:\n  shm-missing: {params: {"

static void mistakes_in_parameters_have_a_position(void **state)
{
	static const struct row rows[] = {
		{SHM "sice: 1Gi}}\n",
		 "4:26: `shm-missing` has no parameter `sice`; did you mean "
		 "`size`?\n"},
		{SHM "size: 1Gib}}\n",
		 "4:32: `1Gib` is not a quantity (such as 16Gi)\n"},
		{SHM "size: [1]}}\n",
		 "4:32: expected a quantity, found a list\n"},
		{SHM "size: -1Gi}}\n", "4:32: the quantity is negative\n"},
		{SHM "percent: many}}\n",
		 "4:35: expected a whole number, found text\n"},
		{SHM "percent: 0}}\n", "4:35: 0 is not from 1 to 100\n"},
		{SHM "percent: 101}}\n", "4:35: 101 is not from 1 to 100\n"},
		{SHM "percent: 1.5}}\n",
		 "4:35: expected a whole number from 1 to 100\n"},
		{SHM "percent: 99999999999999999999}}\n",
		 "4:35: expected a whole number from 1 to 100\n"},
		{SHM "strict: maybe}}\n",
		 "4:34: expected true or false, found text\n"},
		{SHM "images: a}}\n", "4:34: expected a list, found text\n"},
		{SHM "images: []}}\n", "4:34: the list is empty\n"},
		{SHM "images: [\"a,b\"]}}\n",
		 "4:35: `a,b` holds a comma or a NUL byte\n"},
		{SHM "images: [[a], {b: c}]}}\n",
		 "4:35: expected text, found a list\n"
		 "4:40: expected text, found a map\n"},
		{SHM "labels: {a=b: c}}}\n",
		 "4:35: `a=b` holds a comma, `=` or a NUL byte\n"},
		{SHM "labels: {a: y}}}\n",
		 "4:38: expected text, found a boolean; put it in quotes\n"},
		{SHM "labels: [a]}}\n", "4:34: expected a map, found a list\n"},
		{HEAD "rules:\n  shm-missing: {params: [size]}\n",
		 "4:25: expected a map, found a list\n"},
		{HEAD "rules:\n  shm: {params: {size: 1Gi}}\n",
		 "4:9: parameters belong to one rule, not to a category\n"},
		{HEAD "rules:\n  quota-never-fits: {params: {a: 1}}\n",
		 "4:22: `quota-never-fits` has no parameters\n"},
		{HEAD "rules:\n  gpu-count-max: {params: {max: -1}}\n",
		 "4:33: -1 is not from 0 to 2147483647\n"},
		{HEAD "rules:\n  gpu-count-max: {params: {max: 2147483648}}\n",
		 "4:33: 2147483648 is not from 0 to 2147483647\n"},
	};

	CHECK_ALL(rows, &offline, false);
}

static void mistakes_in_scopes_have_a_position(void **state)
{
	static const struct row rows[] = {
		{HEAD "overrides:\n- {mode: warn}\n",
		 "4:3: an override needs namespaces, "
		 "namespaceLabels, kinds or labels\n"},
		{HEAD "overrides:\n- {namespaces: [a]}\n",
		 "4:3: an override needs a mode, a preset or rules\n"},
		{HEAD "overrides:\n- {namespaces: [], mode: warn}\n",
		 "4:16: the list is empty\n"},
		{HEAD "overrides:\n- {namespaces: [a], preset: all@1.0}\n",
		 "4:29: only `extends` can pin a version\n"},
		{HEAD "overrides:\n- {labels: {a: 1}, mode: warn}\n",
		 "4:16: expected text, found a number; put it in quotes\n"},
		{HEAD "overrides:\n- {labels: {}, mode: warn}\n",
		 "4:12: the map is empty\n"},
		{HEAD "overrides: {namespaces: [a]}\n",
		 "3:12: expected a list, found a map\n"},
		{HEAD "overrides:\n- {namespaces: [a], rules: {shm: eror}}\n",
		 "4:34: unknown severity `eror`; did you mean `error`?\n"},
		{HEAD "overrides:\n- text\n- {kinds: [\"[\"], mode: warn}\n",
		 "4:3: expected a map, found text\n"
		 "5:12: pattern \"[\": missing terminating ] for character "
		 "class\n"},
		{HEAD "paths:\n- {namespace: x}\n", "4:3: `glob` is missing\n"},
		{HEAD "paths:\n- {glob: a, presett: x}\n",
		 "4:13: unknown key `presett`; did you mean `preset`?\n"},
		{HEAD "paths:\n- {glob: a, preset: x}\n",
		 "4:21: unknown preset `x` (recommended, strict or all)\n"},
	};

	CHECK_ALL(rows, &offline, false);
}

/* A policy of a hostile repository cannot use memory for overrides without
 * limit. */
static void too_many_overrides_are_refused(void **state)
{
	struct row row = {.want = "3:12: more than 64 overrides\n"};
	struct buf text;

	buf_init(&text);
	buf_adds(&text, HEAD "overrides: [{kinds: [Pod], mode: warn}");
	for (unsigned i = 0; i < 64; i++)
		buf_adds(&text, ", {kinds: [Pod], mode: warn}");
	buf_adds(&text, "]\n");
	row.text = text.data;
	check(&row, &offline, false);
	buf_release(&text);
}

static void mistakes_in_exemptions_have_a_position(void **state)
{
	static const struct row rows[] = {
		{HEAD "exempt:\n- {names: [a], rules: [all]}\n",
		 "4:3: `reason` is missing\n"},
		{HEAD "exempt:\n- {names: [a], reason: b}\n",
		 "4:3: `rules` is missing\n"},
		{HEAD "exempt:\n- {rules: [all], reason: b}\n",
		 "4:3: an exemption needs namespaces, kinds or names\n"},
		{HEAD "exempt:\n- {names: [a], rules: [al], reason: b}\n",
		 "4:24: unknown rule `al`\n"},
		{HEAD "exempt:\n- {names: [a], rules: [all], reason: b, until: "
		      "2027-02-29}\n",
		 "4:48: expected a date such as 2027-06-30, found "
		 "2027-02-29\n"},
		{HEAD "exempt:\n- {names: [a], rules: [all], reason: b, until: "
		      "20270201}\n",
		 "4:48: expected a date such as 2027-06-30, found a number\n"},
		{HEAD "---\napiVersion: gpugate.dev/v1\nkind: Exemptions\n"
		      "exempt:\n"
		      "- {namespaces: [team-b, team-a], rules: [all], reason: "
		      "r}\n"
		      "namespaces: [team-a]\n",
		 "7:16: `team-b` is not among the namespaces of this "
		 "document\n"},
		{HEAD "---\napiVersion: gpugate.dev/v1\nkind: Exemptions\n"
		      "namespaces: [\"team-a-*\"]\nexempt:\n"
		      "- {namespaces: [\"team-*\"], rules: [all], reason: r}\n",
		 "8:16: `team-*` is not among the namespaces of this "
		 "document\n"},
		{HEAD "---\napiVersion: gpugate.dev/v1\nkind: Exemptions\n"
		      "exempt: [{rules: [all], reason: r}]\nmode: audit\n",
		 "4:1: `namespaces` is missing\n7:1: unknown key `mode`\n"},
	};

	CHECK_ALL(rows, &offline, false);
}

static void mistakes_in_keys_of_the_webhook_have_a_position(void **state)
{
	static const struct row rows[] = {
		{HEAD "breakGlass: {annotation: a/b/c}\n",
		 "3:13: `groups` is missing\n"
		 "3:26: `a/b/c` is not the name of an annotation\n"},
		{HEAD "infrastructure: {namespaces: [gpu-*]}\n",
		 "3:31: `gpu-*` is not the name of a namespace: "
		 "names are exact, without `*`\n"},
		{HEAD "platform: {gpuTaints: nvidia.com/gpu}\n",
		 "3:23: expected a list, found text\n"},
		{HEAD "platform: {gpuProducts: [[a]], limitRangeDefaults: 1}\n",
		 "3:26: expected text, found a list\n"
		 "3:52: expected true or false, found a number\n"},
		{HEAD "platform: {deviceInjection: cri}\n",
		 "3:29: unknown device injection `cri`; did you mean `cdi`? "
		 "(envvar, volume-mounts or cdi)\n"},
		{HEAD "platform: {kubernetes: 1.3x, karpenter: '2.1'}\n",
		 "3:24: expected a version such as \"1.37\"\n"
		 "3:41: expected a version such as \"1.37\"\n"},
		{HEAD "kubernetesVersion: '2.1'\n",
		 "3:20: expected a version such as \"1.37\"\n"},
		{HEAD
		 "operators: {kueue: latest, kuberey: '1.6', lws: '0.9x'}\n",
		 "3:20: expected a version such as \"0.17\" or \"v1.4.0\"\n"
		 "3:28: unknown key `kuberey`; did you mean `kuberay`?\n"
		 "3:49: expected a version such as \"0.17\" or \"v1.4.0\"\n"},
		{HEAD "platform: {gpuTaint: []}\n",
		 "3:12: unknown key `gpuTaint`; did you mean `gpuTaints`?\n"},
		{HEAD "infrastructure: [a]\n",
		 "3:17: expected a map, found a list\n"},
		{HEAD "infrastructure: {}\n",
		 "3:17: `namespaces` is missing\n"},
		{HEAD "controllerPods: never\n",
		 "3:17: unknown action `never` (audit or deny)\n"},
		{HEAD "controllers: [training-operator]\n",
		 "3:15: `training-operator` is not an account such "
		 "as `system:serviceaccount:NAMESPACE:NAME`\n"},
		{HEAD "controllers: [\"system:serviceaccount:a\"]\n",
		 "3:15: `system:serviceaccount:a` is not an account "
		 "such as `system:serviceaccount:NAMESPACE:NAME`\n"},
		{HEAD "suppressions: {annotations: {namespaces: [a]}}\n",
		 "3:29: `rules` is missing\n"},
		{HEAD "suppressions: {annotations: {rules: [shm], maxDays: "
		      "0}}\n",
		 "3:53: 0 is not from 1 to 3660\n"},
		{HEAD "suppressions: {annotations: {rules: [shm], "
		      "requireReason: 1}}\n",
		 "3:59: expected true or false, found a number\n"},
		{HEAD "suppressions: {comments: {}}\n",
		 "3:16: unknown key `comments`\n"},
	};

	CHECK_ALL(rows, &offline, false);
}

static void mistakes_in_accelerators_and_kinds_have_a_position(void **state)
{
	static const struct row rows[] = {
		{HEAD "accelerators: [{name: gpu, vendor: v}]\n",
		 "3:23: `gpu` is not a resource such as "
		 "`example.com/gpu`\n"},
		{HEAD "accelerators: [{name: a.b/c}]\n",
		 "3:16: `vendor` is missing\n"},
		{HEAD "accelerators: [{name: a.b/c, vendor: v, class: hole}]\n",
		 "3:48: unknown class `hole`; did you mean `whole`? (whole, "
		 "shared, mig, virtual or share)\n"},
		{HEAD "kinds: [{apiVersion: a/v1, kind: K, pods: spec}]\n",
		 "3:43: `spec` is not a pointer such as "
		 "`/spec/roles/*/template`\n"},
		{HEAD "kinds: [{apiVersion: a.b, kind: K, pods: /spec}]\n",
		 "3:22: `a.b` is not an apiVersion such as "
		 "`example.com/v1`\n"},
		{HEAD "kinds: [{apiVersion: a.b/, kind: K, pods: /spec}]\n",
		 "3:22: `a.b/` is not an apiVersion such as "
		 "`example.com/v1`\n"},
		{HEAD "kinds: [{kind: K}]\n",
		 "3:9: `apiVersion` is missing\n3:9: `pods` is missing\n"},
		{HEAD "kinds: [{apiVersion: a/v1, kind: K, pods: /a/b, "
		      "replicas: /a/*/c}]\n",
		 "3:59: `replicas` has more `*` than `pods`\n"},
	};

	CHECK_ALL(rows, &offline, false);
}

static void all_problems_are_reported_in_order(void **state)
{
	static const struct row row = {
		"apiVersion: gpugate.dev/v2\n"
		"kind: Policy\n"
		"mode: enfroce\n"
		"rules:\n"
		"  shm-missing: {severity: eror, params: {size: big}}\n"
		"  gpu-limit-mising: off\n"
		"exempt:\n"
		"- {names: [\"*\"], rules: [sh], until: tomorrow}\n",
		"1:13: expected apiVersion `gpugate.dev/v1`, found "
		"`gpugate.dev/v2`\n"
		"3:7: unknown mode `enfroce`; did you mean "
		"`enforce`? (audit, warn or enforce)\n"
		"5:27: unknown severity `eror`; did you mean "
		"`error`? (error, warning or info)\n"
		"5:48: `big` is not a quantity (such as 16Gi)\n"
		"6:3: unknown rule `gpu-limit-mising`; did you "
		"mean `gpu-limit-missing`?\n"
		"8:3: `reason` is missing\n"
		"8:26: unknown rule `sh`; did you mean `shm`?\n"
		"8:38: expected a date such as 2027-06-30, found "
		"tomorrow\n",
	};

	check(&row, &offline, false);
}

static void exemptions_that_end_soon_are_warned_of(void **state)
{
	static const struct row ending = {
		HEAD "exempt:\n- {names: [a], rules: [all], reason: b, until: "
		     "2024-10-14}\n",
		"4:48: warning: the exemption expires on 2024-10-14, in 10 "
		"days\n"};
	static const struct row ended = {
		HEAD "exempt:\n- {names: [a], rules: [all], reason: b, until: "
		     "2024-10-03}\n",
		"4:48: warning: the exemption expired on 2024-10-03\n"};
	static const struct row none = {
		HEAD "exempt:\n- {names: [a], rules: [all], reason: b}\n"
		     "- {names: [a], rules: [invalid-syntax], reason: b}\n",
		"5:24: warning: no exemption or annotation hides "
		"`invalid-syntax`\n"};
	static const struct row unknown = {
		HEAD "rules:\n  shm-mising: off\nlocked: [frob]\n",
		"4:3: warning: unknown rule `shm-mising`; did you mean "
		"`shm-missing`?\n"
		"5:10: warning: unknown rule `frob`\n"};

	/* Without its folder, the names of its custom rules are unknown. */
	static const struct row apart = {
		HEAD "custom: [rules/*.yaml]\nlocked: [site-registry]\n",
		"3:1: warning: rules of `custom:` are not read: this policy "
		"has no folder here\n"
		"4:10: warning: unknown rule `site-registry`\n"};

	check(&apart, &offline, true);
	check(&ending, &offline, true);
	check(&none, &offline, true);
	check(&ended, &offline, true);
	/* Unknown keys are allowed, because the webhook may be older than its
	 * policy. */
	check(&unknown, &admission, true);
}

/* Text that is not YAML: only the position is checked, because the YAML reader
 * writes the message. */
static void invalid_yaml_has_a_position(void **state)
{
	static const struct {
		const char *text;
		unsigned line, column;
	} rows[] = {
		{HEAD "rules: [\n", 4, 1},
		{HEAD "rules:\n  a\001b: off\n", 4, 4},
		{HEAD "mode: \"warn\n", 4, 1},
		{HEAD "mode: warn\n kind: x\n", 4, 6},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct policy_problems problems = {0};

		assert_null(policy_parse(
			&sample_set,
			&(struct policy_text){"p", rows[i].text,
					      strlen(rows[i].text)},
			&offline, &problems));
		assert_int_equal(problems.n, 1);
		assert_int_equal(problems.items[0].line, rows[i].line);
		assert_int_equal(problems.items[0].column, rows[i].column);
		policy_problems_release(&problems);
	}
}

static void a_missing_file_is_named(void **state)
{
	struct policy_problems problems = {0};

	assert_null(
		policy_load(&sample_set, "/nonexistent/p", NULL, &problems));
	assert_int_equal(problems.errors, 1);
	assert_string_equal(problems.items[0].file, "/nonexistent/p");
	assert_string_equal(problems.items[0].text,
			    "cannot read: No such file or directory");
	assert_int_equal(problems.items[0].line, 0);
	policy_problems_release(&problems);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_documents_are_rejected),
		cmocka_unit_test(mistakes_in_plain_keys_have_a_position),
		cmocka_unit_test(mistakes_in_rules_have_a_position),
		cmocka_unit_test(mistakes_in_parameters_have_a_position),
		cmocka_unit_test(mistakes_in_scopes_have_a_position),
		cmocka_unit_test(too_many_overrides_are_refused),
		cmocka_unit_test(mistakes_in_exemptions_have_a_position),
		cmocka_unit_test(
			mistakes_in_keys_of_the_webhook_have_a_position),
		cmocka_unit_test(
			mistakes_in_accelerators_and_kinds_have_a_position),
		cmocka_unit_test(all_problems_are_reported_in_order),
		cmocka_unit_test(exemptions_that_end_soon_are_warned_of),
		cmocka_unit_test(invalid_yaml_has_a_position),
		cmocka_unit_test(a_missing_file_is_named),
	};

	return cmocka_run_group_tests_name("policy_problems", tests, NULL,
					   NULL);
}
