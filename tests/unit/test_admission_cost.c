/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost of one review: objects whose parts are compared with each other, long
 * texts that are part of each finding, patches, and custom rules. The time is
 * asserted with TIMES=strict only, as in test_admission_hostile.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cluster_fixture.h"
#include "costly_review.h"

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[100];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void remove_file(const char *folder, const char *name)
{
	char path[100];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	unlink(path);
}

/* Sets the preset strict with one more rule, which asserts this expression for
 * each container. */
static void set_policy(struct stage *s, const char *assert)
{
	struct policy_options options = {.admission = true};
	struct policy_problems problems = {0};
	char folder[] = "/tmp/gpugate-cost-XXXXXX", path[100], rules[500];
	struct policy *policy;

	assert_non_null(mkdtemp(folder));
	snprintf(rules, sizeof(rules),
		 "apiVersion: gpugate.dev/v1\nkind: Rules\nrules:\n"
		 "- name: site-rule\n  severity: error\n  summary: a\n"
		 "  match: {kinds: [core/Pod]}\n  each: container\n"
		 "  assert: %s\n",
		 assert);
	write_file(folder, "rules.yaml", rules);
	write_file(folder, "policy.yaml",
		   "apiVersion: gpugate.dev/v1\nkind: Policy\nmode: enforce\n"
		   "extends: [strict]\ncustom: [rules.yaml]\n");
	snprintf(path, sizeof(path), "%s/policy.yaml", folder);
	policy = policy_load(&s->rules, path, &options, &problems);
	for (size_t i = 0; i < problems.n; i++)
		print_message("  %s\n", problems.items[i].text);
	assert_non_null(policy);
	policy_problems_release(&problems);
	remove_file(folder, "rules.yaml");
	remove_file(folder, "policy.yaml");
	rmdir(folder);
	admission_set_policy(s->admission, policy);
}

/* --- objects -------------------------------------------------------------- */

static void repeat(struct buf *out, const char *text, unsigned n)
{
	while (n--)
		buf_adds(out, text);
}

static void tasks(struct buf *out)
{
	buf_adds(out, "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, "
		      "metadata: {name: a}, spec: {minAvailable: 9, tasks: [");
	for (unsigned i = 0; i < 1400; i++) {
		buf_addf(out, "{name: t%u, replicas: 9, dependsOn: {name: [",
			 i);
		for (unsigned k = 0; k < 20; k++)
			buf_addf(out, "t%u,", k);
		buf_adds(out, "]}, template: {spec: {containers: [{name: a, "
			      "image: i:1, " GPU "}]}}},");
	}
	buf_adds(out, "]}}");
}

/* Writes a Pod with a text of 2.5 MB at a place of its container. */
static void pod_with(struct buf *out, const char *name, const char *before,
		     const char *text, const char *after)
{
	buf_adds(out, "{apiVersion: v1, kind: Pod, metadata: {name: '");
	repeat(out, name, *name ? 2500000 : 0);
	buf_addf(out, "'}, spec: {containers: [{name: c, image: i:1, %s",
		 before);
	repeat(out, text, (unsigned)(2500000 / (strlen(text) + 1)));
	buf_addf(out, "%s}]}}", after);
}

static void long_name(struct buf *out)
{
	pod_with(out, "a", GPU, "", "");
}

static void tokens(struct buf *out)
{
	pod_with(out, "", GPU ", command: [sh, -c, '", "--token ", "']");
}

static void escapes(struct buf *out)
{
	pod_with(out, "",
		 "resources: {limits: {nvidia.com/gpu: 1}, "
		 "requests: {ephemeral-storage: '500M",
		 "\"\"\"\"", "'}}");
}

static void claim_name(struct buf *out)
{
	buf_adds(out, "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, "
		      "spec: {template: {spec: {containers: [{name: c, "
		      "image: i:1, resources: {claims: [{name: c}]}}], "
		      "resourceClaims: [{name: c, resourceClaimName: '");
	repeat(out, ";", 2500000);
	buf_adds(out, "'}]}}}}");
}

static void secret_value(struct buf *out)
{
	pod_with(out, "", GPU ", env: [{name: HF_TOKEN, value: '", "^^^^^^^",
		 "'}]");
}

static void letters(struct buf *out)
{
	pod_with(out, "", GPU ", command: ['", "aaaaaaaaaaaaaaaaaaa", "']");
}

static void words(struct buf *out)
{
	buf_adds(out, "{apiVersion: v1, kind: Pod, metadata: {name: a}, "
		      "spec: {containers: [{name: c, image: i:1, " GPU
		      ", command: [");
	for (unsigned i = 0; i < 300; i++) {
		repeat(out, "a", 1600);
		buf_addf(out, "%u,", i);
	}
	buf_adds(out, "]}]}}");
}

/* Writes 700 roles with a finding each: an UPDATE compares the roles and the
 * findings of both objects. */
static void roles(struct buf *out)
{
	buf_adds(out, "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, "
		      "metadata: {name: a}, spec: {templates: [");
	for (unsigned i = 0; i < 700; i++)
		buf_addf(out,
			 "{name: t%u, container: {image: i:1, command: "
			 "[torchrun, --nproc-per-node=%u, x], " GPU "}},",
			 i, i);
	buf_adds(out, "]}}");
}

/* Writes a role with a long name, which is part of each finding. */
static void role_name(struct buf *out)
{
	buf_adds(out, "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, "
		      "metadata: {name: a}, spec: {pytorchReplicaSpecs: {? W");
	repeat(out, "k", 2500000);
	buf_adds(out, " : {replicas: 2, template: {spec: {containers: [{name: "
		      "pytorch, image: i:1, " GPU "}]}}}}}}");
}

static void launchers(struct buf *out)
{
	pod_with(out, "", GPU ", command: [sh, -c, '",
		 "torchrun --nproc_per_node=8 a.py;", "']");
}

/* Writes tasks whose conditions are searched for the names of all others. */
static void conditions(struct buf *out)
{
	buf_adds(out, "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, "
		      "metadata: {name: a}, spec: {entrypoint: d, templates: "
		      "[{name: p, container: {image: i:1, " GPU "}}, "
		      "{name: d, dag: {tasks: [");
	for (unsigned i = 0; i < 440; i++) {
		buf_addf(out, "{name: t%u, template: p, depends: '", i);
		repeat(out, "a||b", 1400);
		buf_adds(out, "'},");
	}
	buf_adds(out, "]}}]}}");
}

/* Writes 400 nested maps with a text of 1 MB and 35,000 keys in the innermost,
 * and then a value that changes all maps around it. */
static void deep_tree(struct buf *out, const char *text, const char *value)
{
	repeat(out, "{a: ", 400);
	buf_adds(out, "{texts: ['");
	repeat(out, text, (unsigned)(1000000 / strlen(text)));
	buf_adds(out, "'], maps: [");
	for (unsigned i = 0; i < 350; i++) {
		buf_adds(out, "{");
		for (unsigned k = 0; k < 100; k++)
			buf_addf(out, "k%u: b,", k);
		buf_adds(out, "},");
	}
	buf_addf(out, "], last: %s}", value);
	repeat(out, "}", 400);
}

/* Writes a Workflow with a number as a parameter, for which the names of all
 * fields are compared without regard to case. */
static void any_case(struct buf *out)
{
	buf_adds(out, "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, "
		      "metadata: {name: a}, spec: {entrypoint: p, arguments: "
		      "{parameters: [{name: n, value: 1}]}, templates: "
		      "[{name: p, container: {image: i:1, " GPU "}}], deep: ");
	deep_tree(out, "a", "{Name: b}");
	buf_adds(out, "}}");
}

static void parameters(struct buf *out)
{
	buf_adds(out, "{apiVersion: tekton.dev/v1, kind: TaskRun, metadata: "
		      "{name: a}, spec: {taskSpec: {steps: [{name: a, "
		      "image: i:1, computeResources: {limits: "
		      "{nvidia.com/gpu: 1}}}], deep: ");
	deep_tree(out, "$(", "$(params.a)");
	buf_adds(out, "}}}");
}

/* Writes patches that are rejected at their second bracket, but only after
 * libyaml has read a thousand of them. */
static void patches_of_brackets(struct buf *out)
{
	buf_adds(out, "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, "
		      "metadata: {name: a}, spec: {entrypoint: t0, "
		      "templates: [");
	for (unsigned i = 0; i < 1000; i++) {
		buf_addf(out,
			 "{name: t%u, container: {image: i:1}, "
			 "podSpecPatch: '",
			 i);
		repeat(out, "{{a/", 600);
		buf_adds(out, "'},");
	}
	buf_adds(out, "]}}");
}

/* Writes pods at long paths, which are part of each finding. */
static void long_keys(struct buf *out)
{
	buf_adds(out, "{apiVersion: a.b/v1, kind: Any, metadata: {name: a}, "
		      "spec: ");
	for (unsigned i = 0; i < 100; i++) {
		buf_adds(out, "{? ");
		repeat(out, "T", 15000);
		buf_adds(out, " : ");
	}
	buf_adds(out, "{");
	for (unsigned i = 0; i < 700; i++)
		buf_addf(out,
			 "t%u: {spec: {containers: [{name: a, image: i:1, " GPU
			 "}]}},",
			 i);
	repeat(out, "}", 102);
}

/* Writes a variable B, and 1,000 others with the given value. */
static void visible_devices(struct buf *out, const char *value)
{
	buf_adds(out, GPU ", env: [{name: B, value: '");
	repeat(out, "$(", 400000);
	buf_adds(out, "'},");
	for (unsigned i = 0; i < 1000; i++)
		buf_addf(out, "{name: NVIDIA_VISIBLE_DEVICES, %s},", value);
}

static void references(struct buf *out)
{
	buf_adds(out, "{apiVersion: v1, kind: Pod, metadata: {name: a}, "
		      "spec: {containers: [{name: c, image: i:1, ");
	visible_devices(out, "value: $(B)");
	buf_adds(out, "]}]}}");
}

static void annotation(struct buf *out)
{
	buf_adds(out, "{apiVersion: v1, kind: Pod, metadata: {name: a, "
		      "annotations: {a: '");
	repeat(out, "0,", 1200000);
	buf_adds(out, "'}}, spec: {containers: [{name: c, image: i:1, ");
	visible_devices(out, "valueFrom: {fieldRef: {fieldPath: "
			     "\"metadata.annotations['a']\"}}");
	buf_adds(out, "]}]}}");
}

/* Writes a volume that all containers mount. */
static void volume(struct buf *out, const char *field, const char *text)
{
	buf_adds(out, "{apiVersion: v1, kind: Pod, metadata: {name: a}, "
		      "spec: {containers: [");
	for (unsigned i = 0; i < 1000; i++)
		buf_addf(out,
			 "{name: c%u, image: i:1, " GPU ", volumeMounts: "
			 "[{name: v, mountPath: /dev/shm}]},",
			 i);
	buf_addf(out, "], volumes: [{name: v, %s: '", field);
	repeat(out, text, 700000);
	buf_adds(out, "'}}]}}");
}

static void host_path(struct buf *out)
{
	volume(out, "hostPath: {path", "/..");
}

static void size_limit(struct buf *out)
{
	volume(out, "emptyDir: {medium: Memory, sizeLimit", "123");
}

/* Writes Jobs whose pods have the template of a runtime of the cluster. */
static void runtime_jobs(struct buf *out)
{
	buf_adds(out, "{apiVersion: v1, kind: List, items: [");
	for (unsigned i = 0; i < 700; i++)
		buf_addf(out,
			 "{apiVersion: trainer.kubeflow.org/v1alpha1, "
			 "kind: TrainJob, metadata: {name: a%u, namespace: "
			 "ml}, spec: {runtimeRef: {name: large}}},",
			 i);
	buf_adds(out, "]}");
}

/* Writes overrides that are merged one after another into a template with many
 * variables. */
static void overrides(struct buf *out)
{
	buf_adds(out, "{apiVersion: trainer.kubeflow.org/v1alpha1, kind: "
		      "TrainJob, metadata: {name: a, namespace: ml}, spec: "
		      "{runtimeRef: {name: large}, podTemplateOverrides: [");
	for (unsigned i = 0; i < 600; i++)
		buf_addf(out,
			 "{targetJobs: [{name: node}], spec: {containers: "
			 "[{name: node, env: [{name: V%u, value: a}]}]}},",
			 i);
	buf_adds(out, "]}}");
}

/* Writes as many role templates as roles; each role searches them for its
 * template. */
static void patched_roles(struct buf *out)
{
	buf_adds(out, "{apiVersion: workloads.x-k8s.io/v1alpha2, kind: "
		      "RoleBasedGroup, metadata: {name: a, namespace: ml}, "
		      "spec: {roles: [");
	for (unsigned i = 0; i < 101; i++)
		buf_addf(out,
			 "{name: r%u, replicas: 9, standalonePattern: "
			 "{templateRef: {name: t, patch: {metadata: {labels: "
			 "{a: b}}}}}},",
			 i);
	buf_adds(out, "], roleTemplates: [{name: t, template: {spec: "
		      "{containers: [{name: a, image: i:1, " GPU "}]}}}");
	for (unsigned i = 1; i < 101; i++)
		buf_addf(out, ", {name: t%u}", i);
	buf_adds(out, "]}}");
}

/* Writes as many scaling groups as cliques; each clique searches them for its
 * group. */
static void scaled_cliques(struct buf *out)
{
	buf_adds(out, "{apiVersion: grove.io/v1alpha1, kind: PodCliqueSet, "
		      "metadata: {name: a, namespace: ml}, spec: {replicas: 1, "
		      "template: {cliques: [");
	for (unsigned i = 0; i < 101; i++)
		buf_addf(out,
			 "{name: c%u, spec: {roleName: r, replicas: 9, "
			 "podSpec: {containers: [{name: a, image: i:1, " GPU
			 "}]}}},",
			 i);
	buf_adds(out, "], podCliqueScalingGroups: [");
	for (unsigned i = 0; i < 101; i++)
		buf_addf(out, "{name: g%u, cliqueNames: [c0]},", i);
	buf_adds(out, "]}}}");
}

static void set_runtime(struct stage *s)
{
	struct cluster_builder *builder = cluster_builder_new();
	struct cluster *cluster;
	struct buf text;

	buf_init(&text);
	buf_adds(&text,
		 "{apiVersion: trainer.kubeflow.org/v1alpha1, "
		 "kind: ClusterTrainingRuntime, metadata: {name: large}, spec: "
		 "{mlPolicy: {numNodes: 2}, template: {spec: {replicatedJobs: "
		 "[{name: node, template: {metadata: {labels: "
		 "{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}, "
		 "spec: {template: {spec: {containers: [{name: node, "
		 "image: i:1, " GPU ", env: [");
	for (unsigned i = 0; i < 1400; i++)
		buf_addf(&text, "{name: E%u, value: $(E%u)},", i, i + 1);
	buf_adds(&text, "]}]}}}}}]}}}}");
	assert_int_equal(add_object(builder, text.data), 1);
	cluster = cluster_builder_finish(builder, 0);
	admission_set_cluster(s->admission, cluster);
	cluster_builder_free(builder);
	buf_release(&text);
}

/* --- tests ---------------------------------------------------------------- */

static void objects_cost_little(void **state)
{
	static const struct costly_object rows[] = {
		{"tasks of a job", "Job", tasks},
		{"a long name", "Pod", long_name},
		{"tokens", "Pod", tokens},
		{"escapes of a quantity", "Pod", escapes},
		{"launchers", "Pod", launchers},
		{"the name of a claim", "Job", claim_name},
		{"a secret value", "Pod", secret_value},
		{"roles", "Workflow", roles},
		{"a role's name", "PyTorchJob", role_name},
		{"conditions of tasks", "Workflow", conditions},
		{"fields in any case", "Workflow", any_case},
		{"parameters of a task", "TaskRun", parameters},
		{"patches of brackets", "Workflow", patches_of_brackets},
		{"long keys", "Any", long_keys},
		{"references to a variable", "Pod", references},
		{"references to an annotation", "Pod", annotation},
		{"a host's path", "Pod", host_path},
		{"the size of a volume", "Pod", size_limit},
	};

	judge_all(*state, rows, ARRAY_SIZE(rows));
}

/* An object of the cluster is read once, however often it is referred to. */
static void references_cost_little(void **state)
{
	struct stage *s = *state;

	admission_set_policy(s->admission, policy_default(&s->rules, "strict"));
	set_runtime(s);
	judge(s, ADMISSION_VALIDATE, "CREATE", "List", runtime_jobs);
	assert_true(says(s, "invalid-syntax"));
	judge(s, ADMISSION_VALIDATE, "UPDATE", "List", runtime_jobs);
	assert_true(says(s, "invalid-syntax"));
}

/* Devices are found in spite of many values (the merged pod is then unknown)
 * and many names (which are then not looked up). */
static void many_parts_hide_nothing(void **state)
{
	static const struct {
		const char *kind;
		void (*write)(struct buf *out);
	} rows[] = {
		{"TrainJob", overrides},
		{"RoleBasedGroup", patched_roles},
		{"PodCliqueSet", scaled_cliques},
	};
	struct stage *s = *state;

	admission_set_policy(s->admission, policy_default(&s->rules, "strict"));
	set_runtime(s);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		print_message("  %s\n", rows[i].kind);
		judge(s, ADMISSION_VALIDATE, "CREATE", rows[i].kind,
		      rows[i].write);
		assert_true(says(s, "invalid-syntax"));
	}
}

/* A rule that is too costly denies on both paths, with and without a patch. */
static void costly_rules_deny(void **state)
{
	static const struct {
		const char *assert;
		void (*write)(struct buf *out);
	} rows[] = {
		{"container.command.all(c, !c.matches('^(([a-z])+.)+[A-Z]([a-z])+$'))",
		 words},
		{"container.command.all(c, c.replace('a', 'bb').size() > 1 && "
		 "c.findAll('a').size() > 1 && c.split('a').size() > 1)",
		 letters},
	};
	struct stage *s = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		print_message("  %s\n", rows[i].assert);
		set_policy(s, rows[i].assert);
		judge(s, ADMISSION_VALIDATE, "CREATE", "Pod", rows[i].write);
		assert_true(says(s, "invalid-syntax"));
		judge(s, ADMISSION_MUTATE, "CREATE", "Pod", rows[i].write);
		assert_true(says(s, "invalid-syntax"));
		assert_false(says(s, "\"patch\""));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(objects_cost_little,
						stage_setup, stage_teardown),
		cmocka_unit_test_setup_teardown(references_cost_little,
						stage_setup, stage_teardown),
		cmocka_unit_test_setup_teardown(many_parts_hide_nothing,
						stage_setup, stage_teardown),
		cmocka_unit_test_setup_teardown(costly_rules_deny, stage_setup,
						stage_teardown),
	};

	return cmocka_run_group_tests_name("admission_cost", tests, NULL, NULL);
}
