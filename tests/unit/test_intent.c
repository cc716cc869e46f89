/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signs that a pod is meant to use GPUs, and signs against it; images, models
 * and caches that rules query; spellings of quantities.
 */
#include <stdio.h>

#include "kube/command/command.h"
#include "kube/command/server.h"
#include "kube/purpose/purpose.h"
#include "kube/scheduling/node_devices.h"
#include "kube/typed.h"
#include "object_fixture.h"

#define POD(fields, container)                                                 \
	"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n" fields       \
	"  containers:\n  - {name: c, " container "}\n"

static const struct intent_case {
	const char *yaml;
	enum intent_by by;
	int64_t devices;
} intents[] = {
	{POD("", "image: registry.example.com/a:1"), INTENT_NONE, 0},
	{POD("", "image: a, args: [--tensor-parallel-size, '4']"), INTENT_FLAG,
	 4},
	{POD("", "image: a, args: [--tp=8]"), INTENT_FLAG, 8},
	{POD("", "image: a, args: [--tp=1]"), INTENT_NONE, 0},
	{POD("", "image: a, args: [--tp=$TP]"), INTENT_NONE, 0},
	{POD("", "image: a, args: [--tp=2, --device, cpu]"), INTENT_NONE, 0},
	{POD("", "image: a, env: [{name: NUM_SHARD, value: '2'}]"), INTENT_FLAG,
	 2},
	{POD("", "image: a, command: [nvidia-smi]"), INTENT_PROGRAM, 0},
	{POD("", "image: a, command: [sh, -c, 'sleep 5 && nvidia-smi']"),
	 INTENT_PROGRAM, 0},
	{POD("", "image: 'nvidia/cuda:12.4.1-base'"), INTENT_IMAGE, 0},
	{POD("", "image: 'nvidia/cuda:12.4.1-base', command: [sleep, inf]"),
	 INTENT_NONE, 0},
	{POD("", "image: 'vllm/vllm-openai-cpu:v1'"), INTENT_NONE, 0},
	{POD("", "image: 'nvidia/cuda:12.4.1-base', env: "
		 "[{name: NVIDIA_VISIBLE_DEVICES, value: none}]"),
	 INTENT_NONE, 0},
	{POD("  runtimeClassName: nvidia\n", "image: a"), INTENT_RUNTIME_CLASS,
	 0},
	{POD("  runtimeClassName: gvisor\n", "image: a"), INTENT_NONE, 0},
	{POD("  nodeSelector: {nvidia.com/gpu.present: 'true'}\n", "image: a"),
	 INTENT_SELECTOR, 0},
	{POD("  nodeSelector: {nvidia.com/gpu.present: 'false'}\n", "image: a"),
	 INTENT_NONE, 0},
	{POD("  tolerations: [{key: nvidia.com/gpu, operator: Exists}]\n",
	     "image: a"),
	 INTENT_NONE, 0},
	{POD("  tolerations: [{key: nvidia.com/gpu, operator: Exists}]\n",
	     "image: a, command: [python, train.py]"),
	 INTENT_TOLERATION, 0},
	{POD("  tolerations: [{operator: Exists}]\n", "image: a"), INTENT_NONE,
	 0},
	{POD("  tolerations: [{key: nvidia.com/gpu, operator: Exists}]\n",
	     "image: 'redis:7'"),
	 INTENT_NONE, 0},
	{POD("", "image: 'nvidia/cuda:12.4.1-base', "
		 "resources: {limits: {example.com/npu: 1}}"),
	 INTENT_NONE, 0},
	{POD("", "image: 'nvidia/cuda:12.4.1-base', "
		 "resources: {limits: {rdma/hca: 1}}"),
	 INTENT_IMAGE, 0},
};

static void signs_of_gpu_use_are_found(void **state)
{
	for (size_t i = 0; i < sizeof(intents) / sizeof(*intents); i++) {
		struct fixture fixture = {0};
		const struct object *o =
			fixture_object(&fixture, intents[i].yaml);
		struct intent intent;

		assert_int_equal(o->npods, 1);
		intent = pod_gpu_intent(&fixture.config.accelerators, o->pods);
		if (intent.by != intents[i].by)
			fail_msg("intent %d, not %d:\n%s", intent.by,
				 intents[i].by, intents[i].yaml);
		assert_int_equal(intent.devices, intents[i].devices);
		fixture_release(&fixture);
	}
	(void)state;
}

static void cpu_images_are_no_sign_of_gpu_use(void **state)
{
	static const char *const cpu[] = {
		"nginx", "docker.io/library/redis:7.2", "python:3.12-slim",
		"registry.example.com:5000/busybox@sha256:00", "vllm:v1-cpu"};
	static const char *const other[] = {
		"nginx-gpu:1", "pytorch/pytorch:2.5", "registry/python-train:1",
		"example.com/rediscover:1"};

	for (size_t i = 0; i < sizeof(cpu) / sizeof(*cpu); i++)
		assert_true(image_is_cpu(cpu[i]));
	for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++)
		assert_false(image_is_cpu(other[i]));
	assert_false(image_is_cpu(NULL));
	(void)state;
}

static const struct model_case {
	const char *container, *model;
} models[] = {
	{"image: vllm/vllm-openai, args: [--model, o/m]", "o/m"},
	{"image: a, args: [--model, o/m]", "o/m"},
	{"image: x/text-embeddings-inference, args: [--model-id, o/m]", "o/m"},
	{"image: a, args: [serve, o/m, --download-dir=/d]", "o/m"},
	{"image: a, args: [serve, /models/m]", NULL},
	{"image: a, args: [--model, ./o/m]", NULL},
	{"image: a, args: [--model, 's3://b/m']", NULL},
	{"image: a, args: [--model, $MODEL]", NULL},
	{"image: 'x/text-generation-inference:3', "
	 "env: [{name: MODEL_ID, value: o/m}]",
	 "o/m"},
	{"image: a, env: [{name: MODEL_ID, value: o/m}]", NULL},
	{"modelFormat: {name: vLLM}, args: [--model=o/m]", "o/m"},
};

static void a_models_name_and_flags_are_read(void **state)
{
	for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++) {
		struct fixture fixture = {0};
		char yaml[512];
		const struct container *c;
		struct argv argv;
		const char *model;

		snprintf(yaml, sizeof(yaml), POD("", "%s"),
			 models[i].container);
		c = fixture_object(&fixture, yaml)->pods->containers;
		argv = container_argv(c);
		model = container_hub_model(&argv, c);
		if (!models[i].model)
			assert_null(model);
		else
			assert_string_equal(model, models[i].model);
		fixture_release(&fixture);
	}
	(void)state;
}

static void selectors_show_the_devices_of_a_node(void **state)
{
	struct fixture fixture = {0};
	struct node_devices found = pod_node_devices(
		fixture_object(&fixture,
			       POD("  nodeSelector: {node.kubernetes.io/"
				   "instance-type: p5.48xlarge}\n",
				   "image: a"))
			->pods);

	assert_int_equal(found.most, 8);
	assert_non_null(found.type);
	fixture_release(&fixture);
	found = pod_node_devices(
		fixture_object(&fixture, POD("", "image: a"))->pods);
	assert_int_equal(found.most, 0);
	assert_null(found.type);
	fixture_release(&fixture);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signs_of_gpu_use_are_found),
		cmocka_unit_test(cpu_images_are_no_sign_of_gpu_use),
		cmocka_unit_test(a_models_name_and_flags_are_read),
		cmocka_unit_test(selectors_show_the_devices_of_a_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
