/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects as JSON, as kube-apiserver passes them to a
 * ValidatingAdmissionPolicy. In the expected objects, "" is an unknown value,
 * and null a value that may be missing.
 */
#include <stdio.h>

#include "object_fixture.h"

#include "kube/typed.h"

#define ONE "containers: [{name: c, image: x}]"
#define META(kind, version)                                                    \
	"{apiVersion: " version ", kind: " kind                                \
	", metadata: {name: a, namespace: ml}, "
#define POD(spec) META("Pod", "v1") "spec: " spec "}"

static const struct {
	const char *yaml, *path, *json;
} cases[] = {
	/* defaults of a type, wherever it occurs */
	{POD("{" ONE "}"), "spec.dnsPolicy", "\"ClusterFirst\""},
	{META("Deployment",
	      "apps/v1") "spec: {selector: {}, template: {spec: {containers: "
			 "[{name: c, image: x}]}}}}",
	 "spec.template.spec.restartPolicy", "\"Always\""},
	{META("Deployment",
	      "apps/v1") "spec: {selector: {}, template: {spec: {" ONE "}}}}",
	 "spec.strategy",
	 "{\"type\":\"RollingUpdate\",\"rollingUpdate\":{\"maxUnavailable\":"
	 "\"25%\",\"maxSurge\":\"25%\"}}"},
	{META("Deployment",
	      "apps/v1") "spec: {selector: {}, strategy: {type: Recreate}, template: {spec: {" ONE
			 "}}}}",
	 "spec.strategy", "{\"type\":\"Recreate\"}"},
	{META("Job", "batch/v1") "spec: {parallelism: 4, template: {spec: {" ONE
				 "}}}}",
	 "spec.completions", NULL},
	{META("Job", "batch/v1") "spec: {template: {spec: {" ONE "}}}}",
	 "spec.completions", "1"},
	{META("CronJob",
	      "batch/v1") "spec: {jobTemplate: {spec: {template: {spec: {" ONE
			  "}}}}}}",
	 "spec.jobTemplate.spec.backoffLimit", NULL},
	/* a default of a Pod, not of a template */
	{POD("{" ONE "}"), "spec.enableServiceLinks", "true"},
	{META("Deployment",
	      "apps/v1") "spec: {selector: {}, template: {spec: {" ONE "}}}}",
	 "spec.template.spec.enableServiceLinks", NULL},
	{POD("{containers: [{name: c, image: x, resources: {limits: "
	     "{nvidia.com/gpu: 8}}}]}"),
	 "spec.containers",
	 "[{\"name\":\"c\",\"image\":\"x\",\"resources\":{\"limits\":{\"nvidia.com/gpu\":"
	 "\"8\"},\"requests\":{\"nvidia.com/gpu\":\"8\"}},"
	 "\"terminationMessagePath\":\"/dev/termination-log\","
	 "\"terminationMessagePolicy\":\"File\",\"imagePullPolicy\":\"Always\"}]"},
	{POD("{hostNetwork: true, containers: [{name: c, image: 'x:latest', "
	     "ports: [{containerPort: 80}]}]}"),
	 "spec.containers",
	 "[{\"name\":\"c\",\"image\":\"x:latest\",\"ports\":"
	 "[{\"containerPort\":80,\"protocol\":\"TCP\",\"hostPort\":80}],"
	 "\"resources\":{},"
	 "\"terminationMessagePath\":\"/dev/termination-log\","
	 "\"terminationMessagePolicy\":\"File\","
	 "\"imagePullPolicy\":\"Always\"}]"},
	/* defaults of a LimitRange, from its other maps and for its type */
	{META("LimitRange", "v1") "spec: {limits: [{type: Container, max: "
				  "{nvidia.com/gpu: 4, cpu: 8}, default: {cpu: "
				  "2}, min: {memory: 1Gi, cpu: 1}}, {type: "
				  "Pod, max: {cpu: 8}}]}}",
	 "spec.limits",
	 "[{\"type\":\"Container\",\"max\":{\"nvidia.com/gpu\":\"4\",\"cpu\":"
	 "\"8\"},\"min\":{\"memory\":\"1Gi\",\"cpu\":\"1\"},\"default\":"
	 "{\"cpu\":\"2\",\"nvidia.com/gpu\":\"4\"},\"defaultRequest\":"
	 "{\"cpu\":\"2\",\"nvidia.com/gpu\":\"4\",\"memory\":\"1Gi\"}},"
	 "{\"type\":\"Pod\",\"max\":{\"cpu\":\"8\"}}]"},
	/* defaults that depend on other fields */
	{POD("{" ONE ", volumes: [{name: v}]}"), "spec.volumes",
	 "[{\"name\":\"v\",\"emptyDir\":{}}]"},
	{POD("{" ONE ", volumes: [{name: v, hostPath: {path: /x}}]}"),
	 "spec.volumes",
	 "[{\"name\":\"v\",\"hostPath\":{\"path\":\"/x\",\"type\":\"\"}}]"},
	{META("Service", "v1") "spec: {ports: [{port: 80}]}}", "spec.ports",
	 "[{\"port\":80,\"protocol\":\"TCP\",\"targetPort\":80}]"},
	{META("RoleBinding", "rbac.authorization.k8s.io/v1") "subjects: "
							     "[{kind: User, "
							     "name: u}]}",
	 "subjects",
	 "[{\"kind\":\"User\",\"name\":\"u\",\"apiGroup\":"
	 "\"rbac.authorization.k8s.io\"}]"},
	/* quantities are canonical, integers whole */
	{POD("{containers: [{name: c, image: x, resources: {requests: {cpu: 1000m, "
	     "memory: 4.1Gi}}}]}"),
	 "spec.containers",
	 "[{\"name\":\"c\",\"image\":\"x\",\"resources\":{\"requests\":{\"cpu\":\"1\","
	 "\"memory\":\"4402341478400m\"}},"
	 "\"terminationMessagePath\":\"/dev/termination-log\","
	 "\"terminationMessagePolicy\":\"File\",\"imagePullPolicy\":\"Always\"}]"},
	{POD("{" ONE ", terminationGracePeriodSeconds: 60.0}"),
	 "spec.terminationGracePeriodSeconds", "60"},
	/* empty fields are omitted, except pointers */
	{POD("{" ONE ", hostNetwork: false, volumes: []}"), "spec.hostNetwork",
	 NULL},
	{POD("{" ONE ", volumes: []}"), "spec.volumes", NULL},
	{POD("{" ONE ", automountServiceAccountToken: false}"),
	 "spec.automountServiceAccountToken", "false"},
	{POD("{" ONE ", nodeName: null}"), "spec.nodeName", NULL},
	/* fields that are not in the type */
	{POD("{" ONE ", surprise: 1}"), "spec.surprise", NULL},
	{META("ConfigMap", "v1") "data: {surprise: '1'}}", "data.surprise",
	 "\"1\""},
	/* unknown values */
	{POD("{" ONE "}"), "spec.serviceAccountName", "null"},
	{META("Job", "batch/v1") "spec: {template: {spec: {" ONE "}}}}",
	 "spec.template.metadata.labels",
	 "{\"controller-uid\":\"\",\"batch.kubernetes.io/controller-uid\":"
	 "\"\",\"job-name\":\"\",\"batch.kubernetes.io/job-name\":\"\"}"},
	{POD("{" ONE ", serviceAccountName: s}"), "spec.serviceAccountName",
	 "\"s\""},
	{"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {" ONE "}}",
	 "metadata.namespace", "\"\""},
	{POD("{" ONE "}"), "metadata.namespace", "\"ml\""},
	{META("Secret", "v1") "stringData: {b: x}, data: {a: YQ==}}", "data",
	 "{\"a\":\"YQ==\",\"b\":\"\"}"},
	{META("Pod", "v1") "spec: {" ONE "}, status: {phase: Running}}",
	 "status.phase", "\"Pending\""},
	{META("StatefulSet", "apps/v1") "spec: {selector: {}, template: {spec: "
					"{" ONE "}}, updateStrategy: {type: "
					"RollingUpdate}}}",
	 "spec.updateStrategy.rollingUpdate", NULL},
	/* a kind without a schema stays unchanged */
	{"{apiVersion: example.com/v1, kind: Run, metadata: {name: r}, spec: "
	 "{x: 0}}",
	 "spec", "{\"x\":0}"},
};

static void test_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fixture fixture = {0};
		const struct object *object =
			fixture_object(&fixture, cases[i].yaml);
		const struct node *at =
			node_path(typed_object(&fixture.arena, object, NULL),
				  cases[i].path);
		struct buf text;

		buf_init(&text);
		if (at)
			node_json(at, &text);
		buf_addc(&text, '\0');
		if (!cases[i].json)
			assert_null(at);
		else if (strcmp(text.data, cases[i].json) != 0)
			fail_msg("%s: %s, not %s", cases[i].path, text.data,
				 cases[i].json);
		buf_release(&text);
		fixture_release(&fixture);
	}
}

/* A value that is not an image does not get the tag `latest`. */
static void test_pull_policy(void **state)
{
	static const char *const rows[][2] = {
		{"x", "Always"},
		{"example.com/x/y:1", "IfNotPresent"},
		{"X.com:5000/x/y", "Always"},
		{"example.com/X/y", "IfNotPresent"},
		{"ko://example.com/y", "IfNotPresent"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fixture fixture = {0};
		char yaml[256];
		const struct node *typed, *containers;

		snprintf(yaml, sizeof(yaml),
			 POD("{containers: [{name: c, image: '%s'}]}"),
			 rows[i][0]);
		typed = typed_object(&fixture.arena,
				     fixture_object(&fixture, yaml), NULL);
		containers = node_path(typed, "spec.containers");
		assert_string_equal(node_str(node_get(node_at(containers, 0),
						      "imagePullPolicy")),
				    rows[i][1]);
		fixture_release(&fixture);
	}
}

/* A value with a placeholder is unknown: its node is marked so. */
static void test_unknown(void **state)
{
	struct fixture fixture = {0};
	const struct object *object = fixture_object(
		&fixture, POD("{containers: [{name: c, image: x, command: "
			      "[run, '--of=${JOB}']}]}"));
	const struct node *typed = typed_object(&fixture.arena, object, NULL);
	const struct node *container =
		node_at(node_path(typed, "spec.containers"), 0);
	const struct node *command = node_get(container, "command");

	(void)state;
	assert_true(node_is_unknown(node_path(typed, "spec.tolerations")));
	assert_true(node_is_perhaps(node_path(typed, "spec.tolerations")));
	assert_true(node_is_unknown(node_path(typed, "metadata.uid")));
	assert_false(node_is_perhaps(node_path(typed, "metadata.uid")));
	assert_true(node_is_unknown(node_at(command, 1)));
	assert_true(node_eq(node_at(command, 0), "run"));
	fixture_release(&fixture);
}

static void test_origin(void **state)
{
	struct fixture fixture = {0};
	const struct object *object =
		fixture_object(&fixture, POD("{" ONE "}"));
	const struct node *typed = typed_object(&fixture.arena, object, NULL);
	const struct node *container =
		node_at(node_path(typed, "spec.containers"), 0);
	const struct node *own =
		node_at(node_path(object->root, "spec.containers"), 0);

	(void)state;
	assert_ptr_equal(typed_origin(container, typed, object->root), own);
	assert_ptr_equal(
		typed_origin(node_get(container, "image"), typed, object->root),
		node_get(own, "image"));
	/* A value that was filled in has the position of its parent. */
	assert_ptr_equal(typed_origin(node_get(container, "resources"), typed,
				      object->root),
			 own);
	assert_null(typed_origin(object->root, typed, object->root));
	fixture_release(&fixture);
}

/* A fragment has only its own fields. */
static void test_fragment(void **state)
{
	struct fixture fixture = {.config.fragment = true};
	const struct object *object =
		fixture_object(&fixture, POD("{priority: 3}"));
	const struct node *typed = typed_object(&fixture.arena, object, NULL);

	(void)state;
	assert_int_equal(node_count(node_get(typed, "spec")), 1);
	assert_null(node_get(typed, "status"));
	fixture_release(&fixture);
}

#define SCHEMA                                                                 \
	"{apiVersion: v1, kind: Schema, properties: {spec: {type: object, "    \
	"properties: {n: {type: string}, l: {type: string, nullable: true}, "  \
	"m: {type: integer, default: 3}, o: {type: object, "                   \
	"default: {}, properties: {p: {type: string, default: q}}}}}}}"

static void test_custom(void **state)
{
	struct fixture fixture = {0}, of_schema = {0};
	const struct object *schema = fixture_object(&of_schema, SCHEMA);
	const struct object *object = fixture_object(
		&fixture, "{apiVersion: example.com/v1, kind: Run, metadata: "
			  "{name: r, labels: {a: b}}, spec: {gone: 1, "
			  "n: null, l: null, m: null}}");
	const struct node *typed =
		typed_object(&fixture.arena, object, schema->root);
	struct buf text;

	(void)state;
	buf_init(&text);
	node_json(node_get(typed, "spec"), &text);
	buf_addc(&text, '\0');
	assert_string_equal(text.data,
			    "{\"l\":null,\"m\":3,\"o\":{\"p\":\"q\"}}");
	assert_non_null(node_path(typed, "metadata.labels.a"));
	buf_release(&text);
	fixture_release(&of_schema);
	fixture_release(&fixture);
}

static void test_resources(void **state)
{
	struct arena arena = ARENA_INIT;

	(void)state;
	assert_string_equal(typed_resource(&arena, "networking.k8s.io", "v1",
					   "NetworkPolicy")
				    .plural,
			    "networkpolicies");
	assert_true(
		typed_resource(&arena, "", "v1", "Namespace").cluster_scoped);
	assert_string_equal(
		typed_resource(&arena, "example.com", "v1", "Box").plural,
		"boxes");
	assert_string_equal(
		typed_resource(&arena, "example.com", "v1", "Run").plural,
		"runs");
	assert_true(
		typed_serves("autoscaling", "v1", "horizontalpodautoscalers"));
	assert_false(typed_serves("apps", "v1beta1", "deployments"));
	arena_release(&arena);
}

static unsigned survey(const char *yaml)
{
	struct fixture fixture = {0};
	const struct object *object = fixture_object(&fixture, yaml);
	unsigned found = typed_survey(&fixture.arena, object);

	fixture_release(&fixture);
	return found & ~(unsigned)TYPED_SURVEYED;
}

static void test_survey(void **state)
{
	(void)state;
	assert_int_equal(survey(POD("{" ONE "}")), 0);
	assert_int_equal(survey(POD("{" ONE ", hostNetwrk: true}")),
			 TYPED_UNKNOWN);
	assert_int_equal(survey(POD("{" ONE ", hostNetwork: 1}")), TYPED_TYPES);
	assert_int_equal(survey(POD("{" ONE ", nodeSelector: {a: true}}")),
			 TYPED_TYPES);
	assert_int_equal(survey(POD("{" ONE ", dnsPolicy: Cluster}")),
			 TYPED_VALUES);
	assert_int_equal(survey(POD("{" ONE ", hostname: a_b}")), TYPED_VALUES);
	assert_int_equal(survey(POD("{containers: [{image: x}]}")),
			 TYPED_VALUES);
	assert_int_equal(survey("{apiVersion: example.com/v1, kind: Run}") |
				 TYPED_SURVEYED,
			 TYPED_ALL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_pull_policy),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_origin),
		cmocka_unit_test(test_fragment),
		cmocka_unit_test(test_custom),
		cmocka_unit_test(test_resources),
		cmocka_unit_test(test_survey),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
