/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods and containers: roles, devices and how a pod gets them, effective
 * requests, accessors.
 */
#include "object_fixture.h"

#include <stdio.h>

#include "base/text.h"

#define POD(spec) "{apiVersion: v1, kind: Pod, spec: " spec "}"

static void containers_know_their_role(void **state)
{
	struct fixture fixture = {0};
	const struct pod *pod = fixture_pod(
		&fixture,
		POD("{initContainers: [{name: a, image: i}, {name: b, image: i, "
		    "restartPolicy: Always}], containers: [{name: c, image: i}]"
		    "}"));

	assert_int_equal(pod->ncontainers, 3);
	assert_string_equal(pod->containers[0].name, "a");
	assert_int_equal(pod->containers[0].role, CONTAINER_INIT);
	assert_int_equal(pod->containers[1].role, CONTAINER_SIDECAR);
	assert_int_equal(pod->containers[1].index, 1);
	assert_int_equal(pod->containers[2].role, CONTAINER_MAIN);
	assert_int_equal(pod->containers[2].index, 0);
	assert_ptr_equal(pod->containers[2].pod, pod);
	fixture_release(&fixture);
	/* A model server inlined in a component. */
	pod = fixture_pod(&fixture,
			  "{apiVersion: serving.kserve.io/v1beta1, kind: "
			  "InferenceService, spec: {predictor: {containers: "
			  "[{name: x, image: i}], model: {storageUri: s}}}}");
	assert_int_equal(pod->ncontainers, 2);
	assert_string_equal(pod->containers[1].name, "kserve-container");
	assert_string_equal(pod->role, "predictor");
	fixture_release(&fixture);
	/* All forms in which Argo writes containers. */
	pod = fixture_pod(
		&fixture,
		"{apiVersion: argoproj.io/v1alpha1, kind: Workflow, spec: "
		"{nodeSelector: {a: b}, podPriorityClassName: p, volumes: "
		"[{name: v}], podMetadata: {labels: {l: m}}, templates: "
		"[{name: t, initContainers: [{name: i, image: i}], "
		"containerSet: {containers: [{name: c, image: i}]}, sidecars: "
		"[{name: s, image: i}], volumes: [{name: w}]}]}}");
	assert_int_equal(pod->ncontainers, 3);
	assert_int_equal(pod->containers[2].role, CONTAINER_SIDECAR);
	assert_non_null(node_get(pod_field(pod, "nodeSelector"), "a"));
	assert_true(node_eq(pod_field(pod, "priorityClassName"), "p"));
	assert_non_null(pod_volume(pod, "v"));
	assert_non_null(pod_volume(pod, "w"));
	assert_null(pod_volume(pod, "x"));
	assert_true(node_eq(pod_label(pod, "l"), "m"));
	assert_null(pod_label(pod, "m"));
	assert_int_equal(pod->restart, RESTART_NEVER);
	fixture_release(&fixture);
}

struct device_row {
	const char *spec;
	int gpus;
	bool unknown;
	unsigned by;
	enum tri uses;
};

static void check_device(const struct device_row *row)
{
	struct fixture fixture = {0};
	const char *yaml = arena_printf(&fixture.arena,
					"{apiVersion: v1, kind: Pod, "
					"metadata: {annotations: {gpu-x: ''}}, "
					"spec: %s}",
					row->spec);
	const struct pod *pod = fixture_pod(&fixture, yaml);

	if (pod->gpus.n != row->gpus || pod->gpus.unknown != row->unknown ||
	    pod->gpu_by != row->by)
		print_error("%s\n", row->spec);
	assert_int_equal(pod->gpus.n, row->gpus);
	assert_int_equal(pod->gpus.unknown, row->unknown);
	assert_int_equal(pod->gpu_by, row->by);
	assert_int_equal(pod_uses_gpu(pod), row->uses);
	fixture_release(&fixture);
}

#define RESOURCES(text) "{containers: [{image: i, resources: {" text "}}]}"

static void containers_know_their_devices(void **state)
{
	static const struct device_row rows[] = {
		{RESOURCES("limits: {nvidia.com/gpu: 8}"), 8, false,
		 GPU_BY_RESOURCE, TRI_YES},
		{RESOURCES("limits: {nvidia.com/gpu: '2'}"), 2, false,
		 GPU_BY_RESOURCE, TRI_YES},
		{RESOURCES("requests: {nvidia.com/gpu: 2}"), 2, false,
		 GPU_BY_RESOURCE, TRI_YES},
		{RESOURCES("limits: {nvidia.com/gpu: 4}, requests: "
			   "{nvidia.com/gpu: 2}"),
		 4, false, GPU_BY_RESOURCE, TRI_YES},
		{RESOURCES("limits: {nvidia.com/gpu: 500m}"), 1, false,
		 GPU_BY_RESOURCE, TRI_YES},
		{RESOURCES("limits: {nvidia.com/mig-1g.10gb: 1, amd.com/gpu: "
			   "2}"),
		 3, false, GPU_BY_RESOURCE, TRI_YES},
		{RESOURCES("limits: {nvidia.com/gpu: '${N}'}"), 0, true,
		 GPU_BY_RESOURCE, TRI_YES},
		{RESOURCES("limits: {nvidia.com/gpu: many}"), 0, true,
		 GPU_BY_RESOURCE, TRI_YES},
		{RESOURCES("limits: '${L}'"), 0, true, 0, TRI_UNKNOWN},
		{"{containers: [{image: i, resources: '${R}'}]}", 0, true, 0,
		 TRI_UNKNOWN},
		{"{containers: '${C}'}", 0, true, 0, TRI_UNKNOWN},
		{RESOURCES("limits: {nvidia.com/gpu: 0}"), 0, false, 0, TRI_NO},
		{RESOURCES("limits: {nvidia.com/gpu: -1}"), 0, false, 0,
		 TRI_NO},
		{RESOURCES("limits: {nvidia.com/gpus: 1, gpu: 1, cpu: 1}"), 0,
		 false, 0, TRI_NO},
		/* Shares of a GPU are not counted as devices, alone or together
		 * with other resources. */
		{RESOURCES("limits: {nvidia.com/gpumem: 3000}"), 0, false,
		 GPU_BY_SHARE, TRI_YES},
		{RESOURCES("limits: {nvidia.com/gpumem: 3000, nvidia.com/gpu: "
			   "2}"),
		 2, false, GPU_BY_SHARE | GPU_BY_RESOURCE, TRI_YES},
		{"{resources: {limits: {nvidia.com/gpu: 1}}, containers: "
		 "[{image: i}]}",
		 0, false, 0, TRI_NO},
		/* Claims. */
		{"{resourceClaims: [{name: gpu, resourceClaimTemplateName: t}]"
		 ", containers: [{image: i}]}",
		 1, true, GPU_BY_CLAIM, TRI_YES},
		{"{resourceClaims: [{name: c, resourceClaimTemplateName: "
		 "one-h100}], containers: [{image: i}]}",
		 1, true, GPU_BY_CLAIM, TRI_YES},
		{"{resourceClaims: [{name: x, resourceClaimName: shared}], "
		 "containers: [{image: i}]}",
		 0, true, 0, TRI_UNKNOWN},
		{"{resourceClaims: [{name: output-unit, "
		 "resourceClaimName: s}], containers: [{image: i}]}",
		 0, true, 0, TRI_UNKNOWN},
		{"{resourceClaims: [{name: anymig, resourceClaimName: s}], "
		 "containers: [{image: i}]}",
		 1, true, GPU_BY_CLAIM, TRI_YES},
		{"{resourceClaims: [{name: rdma-nic, resourceClaimName: n}], "
		 "containers: [{image: i}]}",
		 0, false, 0, TRI_NO},
		{"{resourceClaims: [{name: compute-domain, "
		 "resourceClaimTemplateName: x}], containers: [{image: i, "
		 "resources: {limits: {nvidia.com/gpu: 4}}}]}",
		 4, false, GPU_BY_RESOURCE, TRI_YES},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		check_device(&rows[i]);
}

static void a_pod_needs_what_the_scheduler_adds_up(void **state)
{
	static const struct {
		const char *spec;
		int gpus;
	} rows[] = {
		/* Containers and sidecars add up. */
		{"{initContainers: [{image: i, restartPolicy: Always, "
		 "resources: {limits: {nvidia.com/gpu: 1}}}], containers: "
		 "[{image: i, resources: {limits: {nvidia.com/gpu: 2}}}, "
		 "{image: i, resources: {limits: {nvidia.com/gpu: 4}}}]}",
		 7},
		/* Init containers run alone: the pod's request is the larger
		 * one, including sidecars that started before. */
		{"{initContainers: [{image: i, resources: {limits: "
		 "{nvidia.com/gpu: 1}}}], containers: [{image: i, resources: "
		 "{limits: {nvidia.com/gpu: 2}}}]}",
		 2},
		{"{initContainers: [{image: i, resources: {limits: "
		 "{nvidia.com/gpu: 8}}}], containers: [{image: i}]}",
		 8},
		{"{initContainers: [{image: i, restartPolicy: Always, "
		 "resources: {limits: {nvidia.com/gpu: 1}}}, {image: i, "
		 "resources: {limits: {nvidia.com/gpu: 4}}}], containers: "
		 "[{image: i, resources: {limits: {nvidia.com/gpu: 2}}}]}",
		 5},
		{"{initContainers: [{image: i, resources: {limits: "
		 "{nvidia.com/gpu: 4}}}, {image: i, restartPolicy: Always, "
		 "resources: {limits: {nvidia.com/gpu: 1}}}], containers: "
		 "[{image: i, resources: {limits: {nvidia.com/gpu: 2}}}]}",
		 4},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fixture fixture = {0};
		const char *yaml = arena_printf(
			&fixture.arena, "{apiVersion: v1, kind: Pod, spec: %s}",
			rows[i].spec);
		const struct pod *pod = fixture_pod(&fixture, yaml);
		bool unknown = true;
		struct quantity q =
			pod_request(pod, "nvidia.com/gpu", false, &unknown);

		assert_int_equal(pod->gpus.n, rows[i].gpus);
		assert_int_equal(quantity_value(q), rows[i].gpus);
		assert_false(unknown);
		fixture_release(&fixture);
	}
}

static void requests_fall_back_on_limits(void **state)
{
	static const struct {
		const char *spec, *resource;
		bool limits;
		int64_t milli;
		bool unknown;
	} rows[] = {
		{RESOURCES("requests: {cpu: 500m}, limits: {cpu: 2}"), "cpu",
		 false, 500, false},
		{RESOURCES("requests: {cpu: 500m}, limits: {cpu: 2}"), "cpu",
		 true, 2000, false},
		{RESOURCES("limits: {cpu: 2}"), "cpu", false, 2000, false},
		{RESOURCES("limits: {cpu: '${X}'}"), "cpu", false, 0, true},
		{RESOURCES("limits: '${X}'"), "cpu", true, 0, true},
		{RESOURCES("requests: {memory: 1Gi}"), "cpu", false, 0, false},
		{"{overhead: {cpu: 250m}, containers: [{image: i, resources: "
		 "{requests: {cpu: 1}}}]}",
		 "cpu", false, 1250, false},
		{"{resources: {requests: {cpu: 3}}, containers: [{image: i, "
		 "resources: {requests: {cpu: 1}}}]}",
		 "cpu", false, 3000, false},
		{"'${SPEC}'", "cpu", false, 0, true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fixture fixture = {0};
		const char *yaml = arena_printf(
			&fixture.arena, "{apiVersion: v1, kind: Pod, spec: %s}",
			rows[i].spec);
		const struct pod *pod = fixture_pod(&fixture, yaml);
		bool unknown = !rows[i].unknown;
		struct quantity q = pod_request(pod, rows[i].resource,
						rows[i].limits, &unknown);

		if (unknown != rows[i].unknown)
			print_error("%s\n", rows[i].spec);
		assert_int_equal(quantity_milli(q), rows[i].milli);
		assert_int_equal(unknown, rows[i].unknown);
		fixture_release(&fixture);
	}
}

static void operators_add_devices(void **state)
{
	static const struct {
		const char *yaml;
		unsigned by;
		int gpus;
		bool unknown, flat;
	} rows[] = {
		{"{apiVersion: v1, kind: Pod, metadata: {annotations: "
		 "{gpu-fraction: '0.5'}}, spec: {containers: [{image: i}]}}",
		 GPU_BY_ANNOTATION, 0, false, false},
		{"{apiVersion: sparkoperator.k8s.io/v1beta2, kind: "
		 "SparkApplication, spec: {driver: {gpu: {name: amd.com/gpu, "
		 "quantity: 1}}}}",
		 GPU_BY_OPERATOR | GPU_BY_FIELD, 1, false, false},
		{"{apiVersion: apps.nvidia.com/v1alpha1, kind: NIMService, "
		 "spec: {}}",
		 0, 0, false, false},
		{"{apiVersion: apps.nvidia.com/v1alpha1, kind: NIMService, "
		 "spec: {storage: {nimCache: {name: c, profile: p}}}}",
		 GPU_BY_OPERATOR, 1, true, false},
		{"{apiVersion: apps.nvidia.com/v1alpha1, kind: NIMService, "
		 "spec: {draResources: [{claimCreationSpec: {devices: [{name: "
		 "gpu, count: 2}]}}]}}",
		 GPU_BY_CLAIM, 2, false, false},
		{"{apiVersion: argoproj.io/v1alpha1, kind: Workflow, spec: "
		 "{podSpecPatch: 'containers: [{name: main, resources: "
		 "{limits: {nvidia.com/gpu: 1}}}]', templates: [{container: "
		 "{image: i}}]}}",
		 GPU_BY_OPERATOR | GPU_BY_RESOURCE, 1, false, false},
		/* the patch removes the devices that the container requested */
		{"{apiVersion: argoproj.io/v1alpha1, kind: Workflow, spec: "
		 "{podSpecPatch: 'containers: [{name: main, resources: "
		 "{limits: {nvidia.com/gpu: 0}}}]', templates: [{container: "
		 "{image: i}}]}}",
		 0, 0, false, false},
		{"{apiVersion: argoproj.io/v1alpha1, kind: Workflow, spec: "
		 "{podSpecPatch: 'terminationGracePeriodSeconds: 3', templates"
		 ": [{container: {image: i}}]}}",
		 0, 0, false, false},
		{"{apiVersion: argoproj.io/v1alpha1, kind: Workflow, spec: "
		 "{templates: [{podSpecPatch: '{{inputs.p}}', container: "
		 "{image: i}}]}}",
		 0, 0, true, false},
		{"{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, "
		 "spec: {trainer: {resourcesPerNode: {requests: "
		 "{nvidia.com/gpu: 4}}}}}",
		 GPU_BY_RESOURCE, 4, false, true},
		{"{apiVersion: serving.kserve.io/v1beta1, kind: "
		 "InferenceService, spec: {predictor: {model: {runtime: my-own"
		 "}}}}",
		 0, 0, true, false},
		{"{apiVersion: serving.kserve.io/v1beta1, kind: "
		 "InferenceService, spec: {predictor: {model: {modelFormat: "
		 "{name: sklearn}}}}}",
		 0, 0, true, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fixture fixture = {0};
		const struct pod *pod = fixture_pod(&fixture, rows[i].yaml);

		if (pod->gpu_by != rows[i].by)
			print_error("%s\n", rows[i].yaml);
		assert_int_equal(pod->gpu_by, rows[i].by);
		assert_int_equal(pod->gpus.n, rows[i].gpus);
		assert_int_equal(pod->gpus.unknown, rows[i].unknown);
		assert_int_equal(pod->flat, rows[i].flat);
		fixture_release(&fixture);
	}
}

static void a_container_knows_its_fields(void **state)
{
	struct fixture fixture = {0};
	const struct pod *pod = fixture_pod(
		&fixture,
		POD("{resourceClaims: [{name: gpu, resourceClaimName: a}, "
		    "{name: nic, resourceClaimName: b}], containers: [{image: "
		    "i, env: [{name: A, value: '1'}, {name: A, value: '2'}], "
		    "volumeMounts: [{name: s, mountPath: /dev/shm/}], resources"
		    ": {limits: {cpu: 1}, claims: [{name: gpu}]}}, {image: i, "
		    "resources: {claims: [{name: nic}]}}, {image: i, "
		    "volumeMounts: [{name: s, mountPath: /dev/shmem}]}]}"));
	const struct container *c = pod->containers;
	struct quantity q;

	assert_true(node_eq(node_get(container_env(c, "A"), "value"), "2"));
	assert_null(container_env(c, "B"));
	assert_non_null(container_mount(c, "/dev/shm"));
	assert_non_null(container_mount(c, "/dev/shm/"));
	assert_null(container_mount(c, "/dev"));
	assert_null(container_mount(&c[2], "/dev/shm"));
	assert_non_null(container_limits(c));
	assert_null(container_requests(c));
	assert_int_equal(container_limit(c, "cpu", &q), QUANTITY_OK);
	assert_int_equal(quantity_value(q), 1);
	assert_int_equal(container_request(c, "cpu", &q), QUANTITY_ABSENT);
	assert_int_equal(container_uses_gpu(c), TRI_YES);
	assert_int_equal(container_uses_gpu(&c[1]), TRI_NO);
	assert_int_equal(container_uses_gpu(&c[2]), TRI_NO);
	fixture_release(&fixture);
}

/* Containers beyond CONTAINERS_MAX are not stored, only their devices are
 * counted. A row: a list and its length, whether the pod is cut, and whether
 * the number of devices is known. */
static void containers_beyond_the_limit_are_only_counted(void **state)
{
	static const struct {
		const char *list;
		unsigned n;
		bool cut, known;
	} rows[] = {
		{"containers", CONTAINERS_MAX, false, true},
		{"containers", CONTAINERS_MAX + 1, true, true},
		{"containers", 3 * CONTAINERS_MAX, true, true},
		{"initContainers", CONTAINERS_MAX + 1, true, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fixture fixture = {0};
		const struct pod *pod;
		bool unknown = true;
		struct buf yaml;

		buf_init(&yaml);
		buf_addf(&yaml, "{apiVersion: v1, kind: Pod, spec: {%s: [",
			 rows[i].list);
		for (unsigned c = 0; c < rows[i].n; c++)
			buf_adds(&yaml, "{image: i, resources: {limits: "
					"{nvidia.com/gpu: 1}}}, ");
		buf_adds(&yaml, "]}}");
		pod = fixture_pod(&fixture, yaml.data);
		assert_int_equal(pod->ncontainers, CONTAINERS_MAX);
		assert_int_equal(pod->cut, rows[i].cut);
		assert_int_equal(pod->gpus.unknown, !rows[i].known);
		if (!strcmp(rows[i].list, "containers"))
			assert_int_equal(pod->gpus.n, rows[i].n);
		pod_request(pod, "nvidia.com/gpu", false, &unknown);
		assert_int_equal(unknown, rows[i].cut);
		buf_release(&yaml);
		fixture_release(&fixture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(containers_know_their_role),
		cmocka_unit_test(containers_know_their_devices),
		cmocka_unit_test(a_pod_needs_what_the_scheduler_adds_up),
		cmocka_unit_test(requests_fall_back_on_limits),
		cmocka_unit_test(operators_add_devices),
		cmocka_unit_test(a_container_knows_its_fields),
		cmocka_unit_test(containers_beyond_the_limit_are_only_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
