/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents into objects: identity, lists, embedded objects, fragments, the
 * shape of unknown kinds and the kinds of a policy.
 */
#include "object_fixture.h"

#include "base/text.h"

static void group_version_kind_and_name_are_read(void **state)
{
	static const struct {
		const char *yaml;
		const char *group, *version, *kind, *name, *namespace;
	} rows[] = {
		{"{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: "
		 "b}}",
		 "", "v1", "Pod", "a", "b"},
		{"{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: "
		 "{generateName: a-}}",
		 "kubeflow.org", "v1", "PyTorchJob", NULL, NULL},
		{"{apiVersion: a.b/v1, kind: C, metadata: {name: '${X}'}}",
		 "a.b", "v1", "C", NULL, NULL},
		{"{apiVersion: v1, kind: Pod, metadata: {name: 3}}", "", "v1",
		 "Pod", NULL, NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fixture fixture = {0};
		const struct object *object =
			fixture_object(&fixture, rows[i].yaml);

		assert_string_equal(object->group, rows[i].group);
		assert_string_equal(object->version, rows[i].version);
		assert_string_equal(object->kind, rows[i].kind);
		assert_true(text_eq(object->name, rows[i].name));
		assert_true(text_eq(object->namespace, rows[i].namespace));
		fixture_release(&fixture);
	}
}

static void other_documents_have_no_object(void **state)
{
	static const char *const texts[] = {
		"{apiVersion: v1}",
		"{kind: Pod}",
		"{apiVersion: v1, kind: 3}",
		"{apiVersion: '${V}', kind: Pod}",
		"[{apiVersion: v1, kind: Pod}]",
		"text",
		"{apiVersion: v1, kind: List, items: []}",
		"{apiVersion: v1, kind: List, items: [{}, 3, null]}",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct fixture fixture = {0};

		fixture_read(&fixture, texts[i]);
		assert_int_equal(fixture.list.n, 0);
		fixture_release(&fixture);
	}
}

static void items_of_a_list_are_objects(void **state)
{
	struct fixture fixture = {0};

	fixture_read(
		&fixture,
		"{apiVersion: v1, kind: List, items: [{apiVersion: v1, "
		"kind: Pod, spec: " GPU_SPEC(
			1) "}, {apiVersion: v1, "
			   "kind: Service}]}\n---\n"
			   "{apiVersion: v1, kind: PodList, items: [{metadata: "
			   "{name: a}, spec: " GPU_SPEC(
				   1) "}]}\n---\n"
				      "{apiVersion: v1, kind: AllowList, spec: {}}\n");
	assert_int_equal(fixture.list.n, 4);
	assert_null(fixture.nested);
	assert_string_equal(fixture.list.items[1].kind, "Service");
	assert_string_equal(fixture.list.items[2].kind, "Pod");
	assert_string_equal(fixture.list.items[2].api_version, "v1");
	assert_int_equal(fixture.list.items[2].npods, 1);
	assert_string_equal(fixture.list.items[3].kind, "AllowList");
	/* The list has moved since the first document was added. */
	for (size_t i = 0; i < fixture.list.n; i++)
		FOR_EACH_POD(&fixture.list.items[i], pod) {
			assert_ptr_equal(pod->object, &fixture.list.items[i]);
			FOR_EACH_CONTAINER(pod, c)
				assert_ptr_equal(c->pod, pod);
		}
	fixture_release(&fixture);
	fixture_read(&fixture,
		     "{apiVersion: v1, kind: List, items: [{apiVersion: v1, "
		     "kind: List, items: [{apiVersion: v1, kind: Pod}]}]}");
	assert_int_equal(fixture.list.n, 1);
	assert_non_null(fixture.nested);
	assert_true(node_eq(node_get(fixture.nested, "kind"), "List"));
	fixture_release(&fixture);
}

static void objects_inside_strings_are_read(void **state)
{
	struct fixture fixture = {0};
	const struct object *object, *child;

	object = fixture_object(
		&fixture,
		"apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nspec:\n"
		"  templates:\n  - name: t\n    resource:\n      manifest: |\n"
		"        apiVersion: batch/v1\n        kind: Job\n"
		"        metadata:\n          name: {{workflow.name}}\n"
		"        spec:\n          parallelism: {{inputs.n}}\n"
		"          template:\n            spec:\n"
		"              containers:\n"
		"              - {name: c, image: \"{{i}}\", resources: {limits: "
		"{nvidia.com/gpu: 2}}}\n");
	assert_int_equal(object->nembedded, 1);
	child = &object->embedded[0];
	assert_ptr_equal(child->parent, object);
	assert_string_equal(child->kind, "Job");
	assert_null(child->name);
	assert_true(child->pods[0].steady.unknown);
	assert_int_equal(child->pods[0].gpus.n, 2);
	assert_ptr_equal(child->pods[0].object, child);
	assert_ptr_equal(child->doc->host, object->doc);
	assert_true(node_is_unset(child->doc->host_node) == false);
	assert_string_equal(child->doc->host_node->key, "manifest");
	fixture_release(&fixture);
	/* Strings that are not YAML, or not an object: nothing is embedded. */
	object = fixture_object(
		&fixture, "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, "
			  "spec: {templates: [{resource: {manifest: '{['}}, "
			  "{resource: {manifest: 'a: b'}}, {resource: "
			  "{manifest: 3}}]}}");
	assert_int_equal(object->nembedded, 0);
	fixture_release(&fixture);
}

static void fragments_are_recognized(void **state)
{
	static const struct {
		bool fragment;
		const char *yaml;
	} rows[] = {
		{false, "{apiVersion: apps/v1, kind: Deployment, spec: "
			"{selector: {matchLabels: {a: b}}, template: " GPU_POD(
				1) "}}"},
		{true, "{apiVersion: apps/v1, kind: Deployment, spec: "
		       "{template: " GPU_POD(1) "}}"},
		{true, "{apiVersion: apps/v1, kind: Deployment, spec: "
		       "{replicas: 3}}"},
		{true, "{apiVersion: apps/v1, kind: DaemonSet, spec: "
		       "{selector: {a: b}, template: {spec: {containers: "
		       "[{name: c}]}}}}"},
		{true, "{apiVersion: apps/v1, kind: StatefulSet, spec: "
		       "{selector: {a: b}, template: {spec: {nodeSelector: {a:"
		       " b}}}}}"},
		{false, "{apiVersion: extensions/v1beta1, kind: Deployment, "
			"spec: {template: " GPU_POD(1) "}}"},
		{false, "{apiVersion: apps/v1beta1, kind: Deployment, spec: "
			"{template: " GPU_POD(1) "}}"},
		{false,
		 "{apiVersion: batch/v1, kind: Job, spec: {template: " GPU_POD(
			 1) "}}"},
		{true, "{apiVersion: batch/v1, kind: Job, spec: {suspend: "
		       "true}}"},
		{true, "{apiVersion: batch/v1, kind: Job, spec: {template: "
		       "{spec: {containers: [{name: c, resources: {}}]}}}}"},
		{true, "{apiVersion: v1, kind: Pod, spec: {containers: [{name:"
		       " c}]}}"},
		{false, "{apiVersion: v1, kind: Pod, spec: {containers: "
			"[{name: c, image: '${I}'}]}}"},
		{false, "{apiVersion: v1, kind: Pod, spec: '${SPEC}'}"},
		{true, "{apiVersion: v1, kind: Service, $patch: delete}"},
		{false, "{apiVersion: v1, kind: Service, spec: {}}"},
		{true, "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, spec: "
		       "{pytorchReplicaSpecs: {Worker: {template: {spec: "
		       "{containers: [{name: pytorch}]}}}}}}"},
		/* Operators set the image. */
		{false, "{apiVersion: machinelearning.seldon.io/v1, kind: "
			"SeldonDeployment, spec: {predictors: [{componentSpecs"
			": [{spec: {containers: [{name: c}]}}]}]}}"},
		{false, "{apiVersion: serving.kserve.io/v1beta1, kind: "
			"InferenceService, spec: {predictor: {model: {}}}}"},
		{false, "{apiVersion: serving.kserve.io/v1alpha2, kind: "
			"LLMInferenceService, spec: {template: {containers: "
			"[{name: main}]}}}"},
		{false, "{apiVersion: x.y/v1, kind: Z, spec: {containers: "
			"[{name: c}]}}"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fixture fixture = {0};
		const struct object *object =
			fixture_object(&fixture, rows[i].yaml);

		if (object->fragment != rows[i].fragment)
			print_error("%s\n", rows[i].yaml);
		assert_int_equal(object->fragment, rows[i].fragment);
		fixture_release(&fixture);
		fixture.config.fragment = true;
		object = fixture_object(&fixture, rows[i].yaml);
		assert_true(object->fragment);
		fixture_release(&fixture);
	}
}

static void unknown_kinds_are_read_by_their_shape(void **state)
{
	static const struct object_row rows[] = {
		{"{apiVersion: x.y/v1, kind: Z, spec: {replicas: 3, template: " GPU_POD(
			 2) "}}",
		 ":3/3x2 | 6/6 gang 1 none"},
		{"{apiVersion: x.y/v1, kind: Z, spec: {roles: [{replicas: 3, "
		 "podSpec: " GPU_SPEC(1) "}, {pod: " GPU_SPEC(1) "}]}}",
		 ":3/3x1 :1/1x1 | 4/4 gang 1 none"},
		{"{apiVersion: x.y/v1, kind: Z, spec: {replicas: '${N}', "
		 "template: " GPU_POD(2) "}}",
		 ":0+/0+x2 | 0+/0+ gang 1 none"},
		{"{apiVersion: x.y/v1, kind: Z, spec: {predictor: {replicas: "
		 "2, containers: [{image: i, resources: {limits: "
		 "{nvidia.com/gpu: 1}}}]}}}",
		 ":2/2x1 | 2/2 gang 1 none"},
		/* Nested groups, and a number that does not count replicas. */
		{"{apiVersion: x.y/v1, kind: Z, spec: {replicas: 2, groupTemplate: "
		 "{roles: [{replicas: 3, template: " GPU_POD(1) "}]}}}",
		 ":6/6x1 | 6/6 gang 1 none"},
		{"{apiVersion: x.y/v1, kind: Z, spec: {jobs: [{replicas: 4, "
		 "template: {spec: {template: " GPU_POD(8) "}}}]}}",
		 ":4/4x8 | 32/32 gang 1 none"},
		{"{apiVersion: x.y/v1, kind: Z, spec: {replicas: '${N}', "
		 "template: {pods: [{replicas: 3, pod: " GPU_SPEC(1) "}]}}}",
		 ":0+/0+x1 | 0+/0+ gang 1 none"},
		{"{apiVersion: x.y/v1, kind: Z, spec: {replicas: 5, helper: "
		 "{template: " GPU_POD(1) "}}}",
		 ":1/1x1 | 1/1 gang 1 none"},
		/* A known object inside is read as one. */
		{"{apiVersion: x.y/v1, kind: Z, spec: {manifests: [{apiVersion"
		 ": batch/v1, kind: Job, spec: {template: " GPU_POD(1) "}}]}}",
		 "| 1/2 gang 0 none [1 of :1/2x1 | 1/2 gang 1 none]"},
		/* Objects that create no pods. */
		{"{apiVersion: x.y/v1, kind: Z, spec: {containers: []}}",
		 "| 0/0 gang 0 none"},
		{"{apiVersion: x.y/v1, kind: Z, spec: {containers: [a, b]}}",
		 "| 0/0 gang 0 none"},
		{"{apiVersion: x.y/v1, kind: Z, spec: {containers: [{size: 1}]"
		 "}}",
		 "| 0/0 gang 0 none"},
		{"{apiVersion: x.y/v1, kind: Z, spec: {containers: {name: a}}}",
		 "| 0/0 gang 0 none"},
		{"{apiVersion: x.y/v1, kind: Z, spec: {azureBlob: {containers:"
		 " [{name: a}]}}}",
		 "| 0/0 gang 0 none"},
		{"{apiVersion: x.y/v1, kind: Z, status: {spec: " GPU_SPEC(
			 1) "}}",
		 "| 0/0 gang 0 none"},
		{"{apiVersion: v1, kind: ConfigMap, data: {spec: " GPU_SPEC(
			 1) "}}",
		 "| 0/0 gang 0 none"},
		{"{apiVersion: kyverno.io/v1, kind: ClusterPolicy, spec: "
		 "{rules: [{pattern: {spec: " GPU_SPEC(1) "}}]}}",
		 "| 0/0 gang 0 none"},
	};
	struct fixture fixture = {0};
	const struct object *object;

	check_rows(rows, sizeof(rows) / sizeof(*rows));
	object = fixture_object(&fixture, rows[0].yaml);
	assert_true(object->pods_inferred);
	assert_null(object->type);
	fixture_release(&fixture);
	object = fixture_object(&fixture, rows[9].yaml);
	assert_false(object->pods_inferred);
	fixture_release(&fixture);
}

static void a_policy_adds_kinds(void **state)
{
	static const struct policy_kind kinds[] = {
		{"platform.example.com/v1", "TrainingRun",
		 "/spec/roles/*/template", "/spec/roles/*/replicas"},
		{"platform.example.com/v1", "Fleet", "/spec/a~1b/pod", NULL},
		{"platform.example.com/v1", "Task", "/pods/1", "/count"},
	};
	static const struct object_row rows[] = {
		{"{apiVersion: platform.example.com/v1, kind: TrainingRun, "
		 "spec: {roles: {a: {replicas: 2, template: " GPU_POD(
			 8) "}, b: {template: " GPU_POD(1) "}}}}",
		 "a:2/2x8 b:1/1x1 | 17/17 gang 1 none"},
		{"{apiVersion: platform.example.com/v1, kind: TrainingRun, "
		 "spec: {roles: [{name: w, replicas: '${N}', template: " GPU_POD(
			 8) "}]}}",
		 "w:0+/0+x8 | 0+/0+ gang 1 none"},
		{"{apiVersion: platform.example.com/v1, kind: Fleet, spec: "
		 "{a/b: {pod: " GPU_SPEC(1) "}}}",
		 ":1/1x1 | 1/1 gang 1 none"},
		{"{apiVersion: platform.example.com/v1, kind: Task, count: 3, "
		 "pods: [1, " GPU_SPEC(1) "]}",
		 ":3/3x1 | 3/3 gang 1 none"},
		{"{apiVersion: platform.example.com/v1, kind: TrainingRun, "
		 "spec: {template: " GPU_POD(1) "}}",
		 "| 0/0 gang 0 none"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fixture fixture = {
			.config = {.kinds = kinds, .nkinds = 3}};
		const struct object *object =
			fixture_object(&fixture, rows[i].yaml);
		struct buf line;

		buf_init(&line);
		object_line(object, &line);
		assert_string_equal(line.data, rows[i].line);
		assert_false(object->pods_inferred);
		buf_release(&line);
		fixture_release(&fixture);
	}
}

static void flags_are_those_of_the_kind(void **state)
{
	struct fixture fixture = {0};
	const struct object *object;

	object = fixture_object(&fixture,
				"{apiVersion: v1, kind: Namespace, metadata: "
				"{name: a}}");
	assert_true(object->cluster_scoped);
	assert_int_equal(object->class, KIND_OTHER);
	fixture_release(&fixture);
	object = fixture_object(&fixture,
				"{apiVersion: ray.io/v1, kind: RayJob, "
				"metadata: {labels: {kueue.x-k8s.io/queue-name"
				": q}}, spec: {suspend: true}}");
	assert_false(object->cluster_scoped);
	assert_true(object->suspended);
	assert_true(object->kueue);
	assert_int_equal(object->class, KIND_RAY);
	assert_non_null(object_label(object, "kueue.x-k8s.io/queue-name"));
	assert_null(object_label(object, "queue-name"));
	assert_null(object_annotation(object, "kueue.x-k8s.io/queue-name"));
	fixture_release(&fixture);
	object = fixture_object(
		&fixture, "{apiVersion: kubeflow.org/v1, kind: TFJob, "
			  "metadata: {annotations: {a: b}}, spec: "
			  "{suspend: true, runPolicy: {suspend: false}}}");
	assert_false(object->suspended);
	assert_false(object->kueue);
	assert_true(node_eq(object_annotation(object, "a"), "b"));
	fixture_release(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(group_version_kind_and_name_are_read),
		cmocka_unit_test(other_documents_have_no_object),
		cmocka_unit_test(items_of_a_list_are_objects),
		cmocka_unit_test(objects_inside_strings_are_read),
		cmocka_unit_test(fragments_are_recognized),
		cmocka_unit_test(unknown_kinds_are_read_by_their_shape),
		cmocka_unit_test(a_policy_adds_kinds),
		cmocka_unit_test(flags_are_those_of_the_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
