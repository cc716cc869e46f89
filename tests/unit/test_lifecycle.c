/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Properties of a pod that the lifecycle rules query: the type of its command,
 * the size of its model, its probes, spot capacity, and the limits of its runs.
 */
#include <stdio.h>

#include "object_fixture.h"

#include "base/text.h"
#include "kube/command/command.h"
#include "kube/command/server.h"
#include "kube/lifecycle/lifecycle.h"
#include "kube/scheduling/affinity.h"

#define POD(container)                                                         \
	"{apiVersion: v1, kind: Pod, spec: {containers: [" container "]}}"

static void commands_end_wait_or_run(void **state)
{
	static const struct {
		const char *container;
		enum command_type type;
		const char *what;
	} rows[] = {
		{"{command: [nvidia-smi, -L]}", COMMAND_ENDS, "nvidia-smi"},
		{"{command: [/usr/bin/nvidia-smi]}", COMMAND_ENDS,
		 "nvidia-smi"},
		{"{command: [nvidia-smi, -l]}", COMMAND_UNKNOWN, NULL},
		{"{command: [nvidia-smi, --loop=5]}", COMMAND_UNKNOWN, NULL},
		{"{command: [python3, -u, a/eval.py]}", COMMAND_ENDS,
		 "eval.py"},
		{"{command: [python3, server.py]}", COMMAND_UNKNOWN, NULL},
		{"{command: [python3, -m, eval.py]}", COMMAND_UNKNOWN, NULL},
		{"{command: [python3, eval.py], ports: [{}]}", COMMAND_UNKNOWN,
		 NULL},
		{"{command: [sh, -c, 'python x.py; sleep 5']}", COMMAND_UNKNOWN,
		 NULL},
		{"{image: registry.k8s.io/cuda-vector-add:v0.1}", COMMAND_ENDS,
		 "registry.k8s.io/cuda-vector-add:v0.1"},
		{"{image: registry.k8s.io/cuda-vector-add:v0.1, args: [x]}",
		 COMMAND_UNKNOWN, NULL},
		{"{image: any}", COMMAND_UNKNOWN, NULL},
		{"{command: [sleep, infinity]}", COMMAND_WAITS, "sleep"},
		{"{command: [sleep], args: ['3600']}", COMMAND_WAITS, "sleep"},
		{"{command: [sleep, '3599']}", COMMAND_UNKNOWN, NULL},
		{"{command: [sleep, 60m]}", COMMAND_WAITS, "sleep"},
		{"{command: [sleep, 1d]}", COMMAND_WAITS, "sleep"},
		{"{command: [sh, -c, 'while true; do sleep 5; done']}",
		 COMMAND_WAITS, "sleep"},
		{"{command: [bash, -c, \"nvidia-smi -L; trap 'exit 0' TERM; "
		 "sleep 9999 & wait\"]}",
		 COMMAND_WAITS, "sleep"},
		{"{command: [tail, -f, /dev/null]}", COMMAND_WAITS, "tail"},
		{"{command: [tail, -f, /var/log/x]}", COMMAND_UNKNOWN, NULL},
		{"{command: [sh, -c, 'python train.py; sleep infinity']}",
		 COMMAND_UNKNOWN, NULL},
		{"{command: [sh, -c, './run & sleep infinity']}",
		 COMMAND_UNKNOWN, NULL},
		{"{command: [sh, -c, 'echo $X; sleep infinity']}",
		 COMMAND_UNKNOWN, NULL},
		{"{command: [sh, -c, 'echo up; sleep infinity']}",
		 COMMAND_WAITS, "sleep"},
		{"{command: [jupyter, lab]}", COMMAND_INTERACTIVE, "jupyter"},
		{"{command: [/bin/bash], tty: true}", COMMAND_INTERACTIVE,
		 "bash"},
		{"{command: [/bin/bash]}", COMMAND_UNKNOWN, NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fixture fixture = {0};
		char yaml[512];
		struct container_command command;

		snprintf(yaml, sizeof(yaml), POD("%s"), rows[i].container);
		command = container_command(
			&fixture_pod(&fixture, yaml)->containers[0]);
		if (command.type != rows[i].type)
			print_error("%s\n", rows[i].container);
		assert_int_equal(command.type, rows[i].type);
		assert_true(text_eq(command.what, rows[i].what));
		assert_true(!command.what == !command.at);
		fixture_release(&fixture);
	}
}

static void a_models_size_is_read_from_its_name(void **state)
{
	static const struct {
		const char *container;
		int64_t size;
	} rows[] = {
		{"{args: [--model, meta-llama/Llama-3.1-70B-Instruct]}", 700},
		{"{args: ['--model=Qwen/Qwen2.5-1.5B']}", 15},
		{"{command: [vllm, serve, mistralai/Mixtral-8x7B-v0.1]}", 70},
		{"{args: [--model, facebook/opt-125m]}", 1},
		{"{args: [--model, /models/llama3b8]}", 0},
		{"{env: [{name: MODEL_ID, value: google/gemma-2-27b-it}]}",
		 270},
		{"{args: [--model, o/embed-7000M]}", 70},
		{"{image: 'x/text-embeddings-inference:1'}", 10},
		{"{image: 'x.example.com/llm:8b'}", 80},
		{"{image: 'x.example.com/llm@sha256:a-9b'}", 0},
		{"{image: 'x.example.com/llm:3.12'}", 0},
		{"{}", 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fixture fixture = {0};
		char yaml[512];

		snprintf(yaml, sizeof(yaml), POD("%s"), rows[i].container);
		assert_int_equal(
			container_model_size(
				&fixture_pod(&fixture, yaml)->containers[0]),
			rows[i].size);
		fixture_release(&fixture);
	}
}

static void probes_have_the_api_servers_defaults(void **state)
{
	struct fixture fixture = {0};
	const struct container *c =
		fixture_pod(&fixture,
			    POD("{livenessProbe: {httpGet: {}, periodSeconds: "
				"0}, readinessProbe: {tcpSocket: {}, "
				"initialDelaySeconds: 5, periodSeconds: 2, "
				"failureThreshold: 4, timeoutSeconds: 9}, "
				"startupProbe: {exec: {}, periodSeconds: "
				"'${P}'}}"))
			->containers;
	struct container_probe probe;

	assert_true(container_probe(c, "livenessProbe", &probe));
	assert_int_equal(probe_budget(&probe), 30);
	assert_int_equal(probe.timeout, 1);
	assert_false(probe.unknown || probe.exec || probe.tcp);
	assert_true(container_probe(c, "readinessProbe", &probe));
	assert_int_equal(probe_budget(&probe), 13);
	assert_int_equal(probe.timeout, 9);
	assert_true(probe.tcp);
	assert_true(container_probe(c, "startupProbe", &probe));
	assert_true(probe.unknown && probe.exec);
	assert_false(container_probe(c, "lifecycle", &probe));
	fixture_release(&fixture);
}

static void selectors_and_tolerations_show_spot_nodes(void **state)
{
	static const struct {
		const char *fields;
		bool spot;
	} rows[] = {
		{"nodeSelector: {karpenter.sh/capacity-type: spot}", true},
		{"nodeSelector: {karpenter.sh/capacity-type: on-demand}",
		 false},
		{"nodeSelector: {cloud.google.com/gke-spot: 'true'}", true},
		{"nodeSelector: {cloud.google.com/gke-spot: 'false'}", false},
		{"nodeSelector: {eks.amazonaws.com/capacityType: '${T}'}",
		 false},
		{"nodeSelector: {speed: spot}", false},
		{"tolerations: [{key: kubernetes.azure.com/scalesetpriority, "
		 "value: spot}]",
		 true},
		{"tolerations: [{key: cloud.google.com/gke-spot, operator: "
		 "Exists}]",
		 true},
		{"tolerations: [{operator: Exists}]", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fixture fixture = {0};
		char yaml[512];

		snprintf(yaml, sizeof(yaml),
			 "{apiVersion: v1, kind: Pod, spec: {%s, containers: "
			 "[{}]}}",
			 rows[i].fields);
		assert_int_equal(pod_spot(fixture_pod(&fixture, yaml)) != NULL,
				 rows[i].spot);
		fixture_release(&fixture);
	}
}

#define JOB(fields)                                                            \
	"{" fields "activeDeadlineSeconds: 7, template: " GPU_POD(1) "}"

static void deadlines_of_runs_are_found(void **state)
{
	static const struct {
		const char *yaml;
		bool job; /* created from a batch/v1 JobSpec */
	} rows[] = {
		{"{apiVersion: batch/v1, kind: Job, spec: " JOB("") "}", true},
		{"{apiVersion: batch/v1, kind: CronJob, spec: {jobTemplate: "
		 "{spec: " JOB("") "}}}",
		 true},
		{"{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, spec: "
		 "{replicatedJobs: [{template: {spec: " JOB("") "}}]}}",
		 true},
		{"{apiVersion: kubeflow.org/v1, kind: PyTorchJob, spec: "
		 "{runPolicy: {activeDeadlineSeconds: 7}, "
		 "pytorchReplicaSpecs: {Worker: {template: " GPU_POD(1) "}}}}",
		 false},
		{"{apiVersion: kubeflow.org/v1, kind: PyTorchJob, spec: "
		 "{activeDeadlineSeconds: 7, "
		 "pytorchReplicaSpecs: {Worker: {template: " GPU_POD(1) "}}}}",
		 false},
		{"{apiVersion: ray.io/v1, kind: RayCronJob, spec: "
		 "{jobTemplate: {activeDeadlineSeconds: 7, rayClusterSpec: "
		 "{headGroupSpec: {template: " GPU_POD(1) "}}}}}",
		 false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fixture fixture = {0};
		const struct pod *pod = fixture_pod(&fixture, rows[i].yaml);
		int64_t seconds = 0;

		assert_true(node_int(pod_run_deadline(pod), &seconds));
		assert_int_equal(seconds, 7);
		assert_int_equal(pod_job_spec(pod) != NULL, rows[i].job);
		assert_ptr_equal(object_gpu_pod(pod->object), pod);
		fixture_release(&fixture);
	}
}

/* Kinds and places where a run has no deadline. */
static void kinds_without_a_deadline_have_none(void **state)
{
	static const char *const rows[] = {
		"{apiVersion: v1, kind: Pod, spec: {activeDeadlineSeconds: 7, "
		"containers: [{}]}}",
		"{apiVersion: apps/v1, kind: Deployment, spec: " JOB("") "}",
		"{apiVersion: example.com/v1, kind: Job, spec: " JOB("") "}",
		"{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, spec: "
		"{activeDeadlineSeconds: 7, tasks: [{template: " GPU_POD(
			1) "}]}}",
		"{apiVersion: batch/v1, kind: Job, spec: {template: " GPU_POD(
			1) "}}",
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fixture fixture = {0};

		assert_null(pod_run_deadline(fixture_pod(&fixture, rows[i])));
		fixture_release(&fixture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_end_wait_or_run),
		cmocka_unit_test(a_models_size_is_read_from_its_name),
		cmocka_unit_test(probes_have_the_api_servers_defaults),
		cmocka_unit_test(selectors_and_tolerations_show_spot_nodes),
		cmocka_unit_test(deadlines_of_runs_are_found),
		cmocka_unit_test(kinds_without_a_deadline_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
