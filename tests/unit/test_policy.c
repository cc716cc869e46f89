/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Meaning of valid policies: presets, layers, overrides, exemptions, paths.
 * test_policy_adjust.c tests policies derived from policies,
 * test_policy_problems.c invalid ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doc/load.h"
#include "engine/finding.h"
#include "policy_reading.h"

/* --- presets -------------------------------------------------------------- */

static void add_cell(struct buf *out, const char *preset, size_t rule,
		     int width)
{
	struct policy *policy = policy_default(&sample_set, preset);
	const struct setting *s = base(policy, rule);
	char cell[40] = "-";

	if (s->enabled)
		snprintf(cell, sizeof(cell), "%s %s",
			 severity_name(s->severity), action_name(s->action));
	buf_addf(out, "%-*s", width, cell);
	policy_free(policy);
}

static void presets_set_severity_and_action(void **state)
{
	static const char want[] =
		"rule                                    recommended     strict          all\n"
		"gpu-count-max                           -               -               -\n"
		"gpu-in-init-container                   info audit      error deny      info audit\n"
		"gpu-limit-missing                       warning warn    warning warn    warning warn\n"
		"invalid-syntax                          error deny      error deny      error deny\n"
		"nvidia-visible-devices-override         error patch     error patch     error patch\n"
		"priority-class-missing                  info audit      error deny      info audit\n"
		"quota-never-fits                        error deny      error deny      error deny\n"
		"shm-missing                             warning patch   error patch     warning patch\n"
		"spot-advice                             -               -               info audit\n"
		"suppression-unused                      warning warn    warning warn    warning warn\n";
	static const char *const presets[] = {"recommended", "strict", "all"};
	struct buf table;

	buf_init(&table);
	buf_addf(&table, "%-40s%-16s%-16s%s\n", "rule", presets[0], presets[1],
		 presets[2]);
	for (size_t i = 0; i < sample_set.n; i++) {
		buf_addf(&table, "%-40s", sample_set.items[i]->name);
		for (int p = 0; p < 3; p++)
			add_cell(&table, presets[p], i, p < 2 ? 16 : 0);
		buf_addc(&table, '\n');
	}
	assert_string_equal(table.data, want);
	buf_release(&table);
}

static void without_a_policy_the_default_counts(void **state)
{
	struct policy *policy = policy_default(&sample_set, NULL);
	struct object object = {0};

	assert_null(policy_default(&sample_set, "strikt"));
	assert_null(policy_default(&sample_set, ""));
	assert_int_equal(policy_mode(policy), MODE_ENFORCE);
	assert_null(policy_contact(policy));
	assert_null(policy_break_glass(policy));
	assert_ptr_equal(policy_rules(policy), &sample_set);
	assert_ptr_equal(policy_settings(policy, &object), policy_base(policy));
	assert_false(policy_excludes(policy, "a.yaml"));
	expect(base(policy, COUNT_MAX), false, 0, ACTION_OFF);
	expect(base(policy, SPOT_ADVICE), false, 0, ACTION_OFF);
	expect(base(policy, SHM_MISSING), true, SEVERITY_WARNING, ACTION_PATCH);
	assert_false(base(policy, SHM_MISSING)->severity_set);
	assert_string_equal(base(policy, SHM_MISSING)->from,
			    "preset recommended");
	assert_string_equal(base(policy, SHM_MISSING)->params[1], "50");
	assert_string_equal(base(policy, SHM_MISSING)->params[0], "");
	policy_free(policy);
}

static void a_pinned_version_keeps_its_rules(void **state)
{
	struct policy *policy = parse(HEAD "extends: [all@1.0]\n");

	/* since 1.1 and 1.2: newer than the pin */
	expect(base(policy, SPOT_ADVICE), true, SEVERITY_INFO, ACTION_AUDIT);
	expect(base(policy, SUPPRESSION_UNUSED_RULE), true, SEVERITY_INFO,
	       ACTION_AUDIT);
	expect(base(policy, SHM_MISSING), true, SEVERITY_WARNING, ACTION_PATCH);
	policy_free(policy);
	policy = parse(HEAD "extends: all@1.1\n");
	expect(base(policy, SPOT_ADVICE), true, SEVERITY_INFO, ACTION_AUDIT);
	policy_free(policy);

	/* A policy can turn on a newer rule by its name. */
	policy = parse(HEAD "extends: [all@1.0]\n"
			    "rules: {spot-advice: {severity: error}}\n");
	expect(base(policy, SPOT_ADVICE), true, SEVERITY_ERROR, ACTION_DENY);
	policy_free(policy);

	/* The stricter setting of several presets counts. */
	policy = parse(HEAD "extends: [strict, all@1.0]\n");
	expect(base(policy, SPOT_ADVICE), true, SEVERITY_INFO, ACTION_AUDIT);
	expect(base(policy, IN_INIT), true, SEVERITY_ERROR, ACTION_DENY);
	assert_string_equal(base(policy, IN_INIT)->from,
			    "preset strict, all@1.0");
	policy_free(policy);
}

/* --- layers --------------------------------------------------------------- */

static void rules_are_set_one_by_one(void **state)
{
	struct policy *policy = parse(
		HEAD "rules:\n"
		     "  dev-shm-missing: {severity: error, action: patch,"
		     " params: {size: \" 16Gi \", percent: 10, images: [a, 1],"
		     " labels: {x: w, z: 2}, strict: true}}\n"
		     "  resources: {action: audit, severity: info}\n"
		     "  gpu-limit-missing: error\n"
		     "  all: warning\n"
		     "  quota: off\n"
		     "  gpu-count-max: {params: {max: 8}}\n"
		     "  spot-advice: {action: off}\n"
		     "  priority-class-missing: {action: patch,"
		     " params: {class: gpu-batch}}\n");
	const char *const *params = base(policy, SHM_MISSING)->params;

	expect(base(policy, SHM_MISSING), true, SEVERITY_ERROR, ACTION_PATCH);
	assert_true(base(policy, SHM_MISSING)->severity_set);
	assert_string_equal(base(policy, SHM_MISSING)->from, "p.yaml:4");
	assert_string_equal(params[0], "16Gi");
	assert_string_equal(params[1], "10");
	assert_string_equal(params[2], "a,1");
	assert_string_equal(params[3], "x=w,z=2");
	assert_string_equal(params[4], "true");
	/* the rule wins over its category, the category over all */
	expect(base(policy, LIMIT_MISSING), true, SEVERITY_ERROR, ACTION_AUDIT);
	expect(base(policy, IN_INIT), true, SEVERITY_INFO, ACTION_AUDIT);
	assert_string_equal(base(policy, IN_INIT)->from, "p.yaml:5");
	expect(base(policy, VISIBLE_DEVICES), true, SEVERITY_WARNING,
	       ACTION_PATCH);
	expect(base(policy, NEVER_FITS), false, 0, ACTION_OFF);
	expect(base(policy, COUNT_MAX), true, SEVERITY_INFO, ACTION_AUDIT);
	assert_string_equal(base(policy, COUNT_MAX)->params[0], "8");
	assert_string_equal(base(policy, COUNT_MAX)->params[1], "pod");
	expect(base(policy, SPOT_ADVICE), false, 0, ACTION_OFF);
	expect(base(policy, PRIORITY_MISSING), true, SEVERITY_WARNING,
	       ACTION_PATCH);
	/* `all` does not include rules that cannot be hidden */
	expect(base(policy, INVALID_SYNTAX), true, SEVERITY_ERROR, ACTION_DENY);
	policy_free(policy);
}

static void a_rule_is_off_in_five_ways(void **state)
{
	static const char *const words[] = {"off", "\"off\"", "false",
					    "{action: off}",
					    "{action: \"off\"}"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		char text[200];
		struct policy *policy;

		snprintf(text, sizeof(text), HEAD "rules: {shm-missing: %s}\n",
			 words[i]);
		policy = parse(text);
		expect(base(policy, SHM_MISSING), false, 0, ACTION_OFF);
		policy_free(policy);
	}
}

static void a_category_sets_its_rules(void **state)
{
	/* A category never turns on a rule that its preset turns off. */
	struct policy *policy = parse(HEAD "rules:\n  cost: error\n"
					   "  resources: {action: patch}\n");

	expect(base(policy, SPOT_ADVICE), false, 0, ACTION_OFF);
	expect(base(policy, COUNT_MAX), false, 0, ACTION_OFF);
	/* and `patch` affects only rules with a fix */
	expect(base(policy, IN_INIT), true, SEVERITY_INFO, ACTION_AUDIT);
	policy_free(policy);

	policy = parse(HEAD "rules: {all: off}\n");
	for (size_t i = 0; i < SAMPLE_RULES; i++)
		assert_int_equal(base(policy, i)->enabled, i == INVALID_SYNTAX);
	policy_free(policy);

	policy = parse(HEAD "rules: {all: off, shm-missing: error}\n");
	expect(base(policy, SHM_MISSING), true, SEVERITY_ERROR, ACTION_PATCH);
	expect(base(policy, IN_INIT), false, 0, ACTION_OFF);
	policy_free(policy);
}

static void plain_keys_are_read(void **state)
{
	struct policy *policy = parse(
		HEAD "mode: warn\ncontact: \"#gpu, https://wiki\"\n"
		     "maxAge: 36h\nlocked: [shm, gpu-limit-missing]\n"
		     "custom: []\n"
		     "controllers: [\"system:serviceaccount:kubeflow:op\"]\n"
		     "breakGlass: {groups: [gpu-oncall]}\n"
		     "rules:\n"
		     "accelerators:\n"
		     "- {name: example.com/gpu, vendor: example}\n"
		     "- {name: \"e.com/mig-*\", vendor: e, class: mig, taint: "
		     "e.com/gpu}\n"
		     "kinds:\n"
		     "- {apiVersion: a.b/v1, kind: Run, pods: "
		     "/spec/roles/*/template, replicas: /spec/roles/*/n}\n");
	const struct kube_config *kube = policy_kube(policy);
	const struct policy_break_glass *glass = policy_break_glass(policy);

	assert_int_equal(policy_mode(policy), MODE_WARN);
	assert_string_equal(policy_contact(policy), "#gpu, https://wiki");
	assert_false(policy_patches_owners(policy));
	assert_int_equal(policy_max_age(policy), 36 * 3600);
	assert_true(base(policy, SHM_MISSING)->locked);
	assert_true(base(policy, LIMIT_MISSING)->locked);
	assert_false(base(policy, NEVER_FITS)->locked);
	assert_true(policy_is_controller(policy,
					 "system:serviceaccount:kubeflow:op"));
	assert_false(policy_is_controller(policy,
					  "system:serviceaccount:kubeflow:o"));
	assert_false(policy_is_controller(policy, NULL));
	assert_int_equal(glass->ngroups, 1);
	assert_string_equal(glass->groups[0], "gpu-oncall");
	assert_string_equal(glass->annotation, "gpugate.dev/break-glass");
	assert_int_equal(kube->accelerators.n, 2);
	assert_int_equal(kube->accelerators.items[0].class, ACCEL_WHOLE);
	assert_int_equal(kube->accelerators.items[1].class, ACCEL_MIG);
	assert_string_equal(kube->accelerators.items[1].taint, "e.com/gpu");
	assert_int_equal(kube->nkinds, 1);
	assert_string_equal(kube->kinds[0].replicas, "/spec/roles/*/n");
	assert_int_not_equal(policy_hash(policy), 0);
	policy_free(policy);
}

/* --- overrides ------------------------------------------------------------ */

struct tree {
	struct arena arena;
	struct source source;
	struct loader loader;
	struct doc doc;
};

static const struct node *read_tree(struct tree *tree, const char *text)
{
	*tree = (struct tree){0};
	source_init(&tree->source, &tree->arena, "t", text, strlen(text));
	loader_init(&tree->loader, &tree->source, &load_limits_default,
		    &tree->arena);
	assert_int_equal(loader_next(&tree->loader, &tree->doc), 1);
	return tree->doc.root;
}

static void overrides_count_where_they_match(void **state)
{
	struct policy *policy = parse(
		HEAD "rules: {shm-missing: error}\n"
		     "overrides:\n"
		     "- {namespaces: [\"research-*\"], kinds: [Pod], mode: "
		     "audit, rules: {shm: off}}\n"
		     "- {namespaces: [\"research-*\"], preset: strict}\n"
		     "- {namespaceLabels: {tier: dev}, mode: warn}\n"
		     "- {labels: {gpu: \"no\"}, rules: {all: off, shm-missing: "
		     "info}}\n");
	struct tree labels, body;
	const struct node *tier = read_tree(&labels, "tier: dev\n");
	struct object pod = {.kind = "Pod", .namespace = "research-a"};
	struct object job = {.kind = "Job", .namespace = "research-a"};
	struct object inner = {.kind = "Job", .parent = &job};
	struct object other = {.kind = "Job", .namespace = "x-research-a"};
	struct object nowhere = {.kind = "Pod"};
	struct object labeled = {.kind = "Job"};
	const struct setting *s;
	enum mode mode;

	s = policy_settings_in(policy, &pod, NULL, &mode);
	expect(&s[SHM_MISSING], false, 0, ACTION_OFF);
	assert_int_equal(mode, MODE_AUDIT);
	s = policy_settings_in(policy, &job, NULL, &mode);
	expect(&s[IN_INIT], true, SEVERITY_ERROR, ACTION_DENY);
	/* the policy's own rules apply under an override's preset */
	expect(&s[SHM_MISSING], true, SEVERITY_ERROR, ACTION_PATCH);
	assert_int_equal(mode, MODE_ENFORCE);
	assert_ptr_equal(policy_settings(policy, &inner), s);
	assert_ptr_equal(policy_settings(policy, &other), policy_base(policy));
	assert_ptr_equal(policy_settings(policy, &nowhere),
			 policy_base(policy));
	/* labels of the namespace: only if they are known */
	s = policy_settings_in(policy, &other, tier, &mode);
	assert_int_equal(mode, MODE_WARN);
	expect(&s[IN_INIT], true, SEVERITY_INFO, ACTION_AUDIT);
	policy_settings_in(policy, &pod, tier, &mode);
	assert_int_equal(mode, MODE_AUDIT);
	labeled.root = read_tree(&body, "metadata: {labels: {gpu: \"no\"}}\n");
	s = policy_settings(policy, &labeled);
	expect(&s[SHM_MISSING], true, SEVERITY_INFO, ACTION_AUDIT);
	expect(&s[IN_INIT], false, 0, ACTION_OFF);
	policy_free(policy);
	arena_release(&labels.arena);
	arena_release(&body.arena);
}

/* --- exemptions ----------------------------------------------------------- */

static void exemptions_count_where_they_match(void **state)
{
	struct policy *policy =
		parse(HEAD "exempt:\n"
			   "- {namespaces: [kube-system, \"gpu-op*\"], kinds: "
			   "[DaemonSet], names: [\"*\"], rules: [resources, "
			   "shm-missing], reason: operator pods}\n");
	static const struct {
		struct object_id id;
		size_t rule;
		bool exempt;
	} rows[] = {
		{{"", "DaemonSet", "kube-system", "x"}, SHM_MISSING, true},
		{{"", "DaemonSet", "gpu-operator", ""}, IN_INIT, true},
		{{"", "DaemonSet", "gpu-operator", "x"}, NEVER_FITS, false},
		{{"", "Deployment", "kube-system", "x"}, SHM_MISSING, false},
		{{"", "DaemonSet", "default", "x"}, SHM_MISSING, false},
		{{"", "DaemonSet", "", "x"}, SHM_MISSING, false},
		{{"", "DaemonSet", "xkube-system", "x"}, SHM_MISSING, false},
	};
	const char *reason = NULL;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(
			exempts(policy, rows[i].rule, &rows[i].id, &reason),
			rows[i].exempt);
	assert_string_equal(reason, "operator pods");
	policy_free(policy);

	policy = parse(HEAD "exempt: [{names: [\"*\"], rules: [all], reason: "
			    "r}]\n");
	assert_true(exempts(policy, SHM_MISSING, &rows[0].id, &reason));
	assert_false(exempts(policy, INVALID_SYNTAX, &rows[0].id, &reason));
	policy_free(policy);
}

static void exemptions_end_on_their_day(void **state)
{
	static const struct {
		int64_t days; /* after the last day */
		enum exempt_state want;
	} rows[] = {
		{-100, EXEMPT_FULLY}, {-14, EXEMPT_FULLY}, {-13, EXEMPT_ENDING},
		{0, EXEMPT_ENDING},   {1, EXEMPT_GRACE},   {7, EXEMPT_GRACE},
		{8, EXEMPT_NOT},
	};
	struct policy *policy = parse(
		HEAD "exempt:\n- {names: [x], rules: [shm], reason: r, until: "
		     "2024-11-03}\n");
	const struct rule *rule = sample_items[SHM_MISSING];
	struct object_id x = {"", "Pod", "", "x"};
	struct policy_exemption found;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(policy_exemption(policy, rule, NULL, &x,
						  TODAY + 30 + rows[i].days)
					 .state,
				 rows[i].want);
	assert_true(policy_exemption_ending(policy, 0, &found));
	assert_int_equal(found.until, TODAY + 30);
	assert_string_equal(found.from, "p.yaml:4");
	assert_false(policy_exemption_ending(policy, 1, &found));
	assert_true(exempts(policy, SHM_MISSING, &x, &(const char *){NULL}));
	policy_free(policy);
}

static void annotations_work_where_they_are_granted(void **state)
{
	struct policy *policy = parse(
		HEAD "suppressions: {annotations: {rules: [shm, resources], "
		     "namespaces: [\"team-*\"], maxDays: 30}}\n"
		     "locked: [gpu-limit-missing]\n");
	const struct policy_grant *grant = NULL;
#define REFUSAL(i, namespace)                                                  \
	policy_refusal(policy, sample_items[i], NULL, namespace, &grant)

	assert_null(REFUSAL(SHM_MISSING, "team-a"));
	assert_true(grant->require_reason);
	assert_int_equal(grant->max_days, 30);
	assert_string_equal(REFUSAL(SHM_MISSING, "x"),
			    "the policy does not grant it in this namespace");
	assert_string_equal(REFUSAL(SHM_MISSING, NULL),
			    "the policy grants it in some namespaces only, "
			    "and the object has no known namespace");
	assert_string_equal(REFUSAL(NEVER_FITS, "team-a"),
			    "the policy does not grant it");
	assert_non_null(REFUSAL(LIMIT_MISSING, "team-a"));
	policy_free(policy);
	policy = parse(HEAD); /* grants none */
	assert_string_equal(REFUSAL(SHM_MISSING, "team-a"),
			    "the policy grants no suppressions");
	policy_free(policy);
}

/* --- paths, files --------------------------------------------------------- */

static void paths_have_settings_of_their_own(void **state)
{
	struct policy *policy =
		parse(HEAD "exclude: [\"**/testdata/**\", \"*.tmpl.yaml\", "
			   "/abs, \"old/v1\"]\n"
			   "paths:\n"
			   "- {glob: \"clusters/prod-a/**\", cluster: a.json, "
			   "namespace: x, preset: strict}\n"
			   "- {glob: \"clusters/**\", cluster: b.json}\n");
	static const struct {
		const char *path;
		bool excluded;
		const char *cluster;
	} rows[] = {
		{"a/testdata/x.yaml", true, NULL},
		{"testdata/x.yaml", true, NULL},
		{"a/testdata2/x.yaml", false, NULL},
		{"a/b/x.tmpl.yaml", true, NULL},
		{"a/b/x.yaml", false, NULL},
		{"old/v1/x.yaml", true, NULL},
		{"old/v10/x.yaml", false, NULL},
		{"clusters/prod-a/x/y.yaml", false, "a.json"},
		{"./clusters/prod-b/y.yaml", false, "b.json"},
		{"clusters.yaml", false, NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct policy_path_rule out = {0};
		bool found = policy_for_path(policy, rows[i].path, &out);

		if (policy_excludes(policy, rows[i].path) != rows[i].excluded)
			fail_msg("%s", rows[i].path);
		assert_int_equal(found, rows[i].cluster != NULL);
		if (found)
			assert_string_equal(out.cluster, rows[i].cluster);
	}
	policy_free(policy);
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void remove_file(const char *folder, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	unlink(path);
}

static void a_folder_of_too_many_files_is_refused(void **state)
{
	char folder[] = "/tmp/test_policy.XXXXXX", name[32];
	struct policy_problems problems = {0};

	assert_non_null(mkdtemp(folder));
	for (int i = 0; i <= 1000; i++) {
		snprintf(name, sizeof(name), "%d.yaml", i);
		write_file(folder, name, i ? "" : HEAD "mode: warn\n");
	}
	assert_null(policy_load(&sample_set, folder, NULL, &problems));
	assert_int_equal(problems.n, 1);
	assert_non_null(strstr(problems.items[0].text, "1001 policy files"));
	policy_problems_release(&problems);
	for (int i = 0; i <= 1000; i++) {
		snprintf(name, sizeof(name), "%d.yaml", i);
		remove_file(folder, name);
	}
	rmdir(folder);
}

static void a_folder_is_one_policy(void **state)
{
	char folder[] = "/tmp/test_policy.XXXXXX";
	struct policy_problems problems = {0};
	struct object_id id = {"", "Pod", "team-a", "x"};
	struct policy *policy;
	const char *reason;

	assert_non_null(mkdtemp(folder));
	assert_null(policy_load(&sample_set, folder, NULL, &problems));
	assert_string_equal(problems.items[0].text,
			    "the folder holds no policy file");
	policy_problems_release(&problems);
	write_file(folder, "team-a.yaml",
		   "apiVersion: gpugate.dev/v1\nkind: Exemptions\n"
		   "exempt: [{rules: [shm], reason: theirs}]\n"
		   "namespaces: [\"team-a*\"]\n");
	write_file(folder, ".hidden.yaml", "not a policy\n");
	write_file(folder, "README.md", "not a policy\n");
	write_file(folder, "z.yaml", HEAD "mode: warn\n");
	policy = policy_load(&sample_set, folder, NULL, &problems);
	assert_non_null(policy);
	assert_int_equal(policy_mode(policy), MODE_WARN);
	assert_true(exempts(policy, SHM_MISSING, &id, &reason));
	id.namespace = "team-b";
	assert_false(exempts(policy, SHM_MISSING, &id, &reason));
	policy_free(policy);
	write_file(folder, "y.yaml", HEAD);
	assert_null(policy_load(&sample_set, folder, NULL, &problems));
	assert_int_equal(problems.n, 1);
	assert_non_null(strstr(problems.items[0].file, "/z.yaml"));
	policy_problems_release(&problems);
	remove_file(folder, "team-a.yaml");
	remove_file(folder, ".hidden.yaml");
	remove_file(folder, "README.md");
	remove_file(folder, "y.yaml");
	remove_file(folder, "z.yaml");
	assert_int_equal(rmdir(folder), 0);
}

/* The starter policy loads as written, and with its examples switched on. */
static void the_starter_policy_loads(void **state)
{
	struct policy_problems problems = {0};
	struct policy *policy;
	struct buf text, open;
	char *line, *rest, *copy;

	buf_init(&text);
	buf_init(&open);
	policy_write_starter(&sample_set, &text);
	policy = parse(text.data);
	expect(base(policy, SHM_MISSING), true, SEVERITY_WARNING, ACTION_PATCH);
	policy_free(policy);
	copy = rest = strdup(text.data);
	while ((line = strsep(&rest, "\n"))) {
		/* Examples have no blank after the #, or two of them. */
		if (line[0] == '#' && line[1] != ' ')
			line++;
		else if (strncmp(line, "#  ", 3) == 0 && line[3] != ' ')
			line++;
		buf_addf(&open, "%s\n", line);
	}
	policy = policy_parse(
		&sample_set,
		&(struct policy_text){"starter", open.data, open.len}, NULL,
		&problems);
	for (size_t i = 0; i < problems.n; i++)
		print_error("%u:%u: %s\n", problems.items[i].line,
			    problems.items[i].column, problems.items[i].text);
	if (!policy)
		print_error("%s", open.data);
	assert_non_null(policy);
	expect(base(policy, SHM_MISSING), true, SEVERITY_ERROR, ACTION_PATCH);
	policy_free(policy);
	policy_problems_release(&problems);
	buf_release(&text);
	buf_release(&open);
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(presets_set_severity_and_action),
		cmocka_unit_test(without_a_policy_the_default_counts),
		cmocka_unit_test(a_pinned_version_keeps_its_rules),
		cmocka_unit_test(rules_are_set_one_by_one),
		cmocka_unit_test(a_rule_is_off_in_five_ways),
		cmocka_unit_test(a_category_sets_its_rules),
		cmocka_unit_test(plain_keys_are_read),
		cmocka_unit_test(overrides_count_where_they_match),
		cmocka_unit_test(exemptions_count_where_they_match),
		cmocka_unit_test(exemptions_end_on_their_day),
		cmocka_unit_test(annotations_work_where_they_are_granted),
		cmocka_unit_test(paths_have_settings_of_their_own),
		cmocka_unit_test(a_folder_is_one_policy),
		cmocka_unit_test(a_folder_of_too_many_files_is_refused),
		cmocka_unit_test(the_starter_policy_loads),
	};

	return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
