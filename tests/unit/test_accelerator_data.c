/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Node labels, instance types and images, and the form of the tables: sorted,
 * without duplicates, with consistent taints.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/text.h"
#include "kube/accelerator.h"
#include "rules/kube/data.h"

static void same(const char *what, const char *is, const char *should)
{
	if (!text_eq(is, should))
		fail_msg("%s: %s, should be %s", what, is ? is : "NULL",
			 should ? should : "NULL");
}

/* --- labels, instance types, MIG ------------------------------------------ */

static void node_labels_have_a_meaning(void **state)
{
	static const struct {
		const char *key;
		int meaning; /* 0: not known */
		const char *vendor;
	} rows[] = {
		{"nvidia.com/gpu.product", LABEL_PRODUCT, "nvidia"},
		{"nvidia.com/gpu.present", LABEL_PRESENCE, "nvidia"},
		{"nvidia.com/gpu.count", LABEL_COUNT, "nvidia"},
		{"nvidia.com/gpu.deploy.dcgm", LABEL_PRESENCE, "nvidia"},
		{"nvidia.com/cuda.driver-version.major", LABEL_PRESENCE,
		 "nvidia"},
		{"nvidia.com/mig-1g.5gb.count", LABEL_PRESENCE, "nvidia"},
		{"cloud.google.com/gke-accelerator", LABEL_PRODUCT, NULL},
		{"cloud.google.com/gke-accelerator-count", LABEL_COUNT, NULL},
		{"cloud.google.com/gke-tpu-accelerator", LABEL_PRODUCT,
		 "google"},
		{"cloud.google.com/gke-tpu-topology", LABEL_TOPOLOGY, "google"},
		{"cloud.google.com/gke-spot", LABEL_SPOT, NULL},
		{"cloud.google.com/gke-nodepool", LABEL_POOL, NULL},
		{"k8s.amazonaws.com/accelerator", LABEL_PRODUCT, NULL},
		{"karpenter.k8s.aws/instance-gpu-name", LABEL_PRODUCT, NULL},
		{"karpenter.k8s.aws/instance-gpu-count", LABEL_COUNT, NULL},
		{"karpenter.sh/capacity-type", LABEL_SPOT, NULL},
		{"eks.amazonaws.com/capacityType", LABEL_SPOT, NULL},
		{"kubernetes.azure.com/accelerator", LABEL_PRESENCE, NULL},
		{"amd.com/gpu.family", LABEL_PRODUCT, "amd"},
		{"beta.amd.com/gpu.family.AI", LABEL_PRODUCT, "amd"},
		{"aliyun.accelerator/nvidia_name", LABEL_PRODUCT, NULL},
		{"cloud.tencent.com/tke-accelerator", LABEL_PRODUCT, NULL},
		{"node.kubernetes.io/instance-type", LABEL_INSTANCE, NULL},
		{"kubernetes.io/hostname", 0, NULL},
		{"kubernetes.io/arch", 0, NULL},
		{"topology.kubernetes.io/zone", 0, NULL},
		{"nvidia.com/gpu.producer", 0, NULL},
		{"nvidia.com/", 0, NULL},
		{"node-role.kubernetes.io/worker", 0, NULL},
		{"amd.com/gpu", 0, NULL},
		{"", 0, NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct node_label *l = node_label_find(rows[i].key);

		if ((l ? (int)l->meaning : 0) != rows[i].meaning)
			fail_msg("%s: %d", rows[i].key,
				 l ? (int)l->meaning : 0);
		same(rows[i].key, l ? l->vendor : NULL, rows[i].vendor);
	}
	assert_null(node_label_find(NULL));
}

static void values_of_labels_name_products(void **state)
{
	static const char gke[] = "cloud.google.com/gke-accelerator";
	const struct label_value *v = label_value_find(gke, "nvidia-a100-80gb");

	assert_non_null(v);
	assert_non_null(label_value_find(gke, "nvidia-tesla-v100"));
	assert_non_null(label_value_find(gke, "nvidia-gb200"));
	assert_null(label_value_find(gke, "nvidia-a100"));
	assert_null(label_value_find(gke, "tpu-v6e-slice"));
	assert_null(label_value_find("other", "nvidia-l4"));
	assert_non_null(label_value_next(gke, NULL));
	assert_non_null(
		label_value_next("cloud.google.com/gke-tpu-accelerator", NULL));
	assert_null(label_value_next("nvidia.com/gpu.product", NULL));
	for (v = NULL; (v = label_value_next(gke, v));)
		assert_string_equal(v->key, gke);
}

static const struct {
	const char *name, *vendor, *product;
	int accelerators;
} instance_rows[] = {
	{"p5.48xlarge", "nvidia", "H100-80GB", 8},
	{"p5.4xlarge", "nvidia", "H100-80GB", 1},
	{"p5en.48xlarge", "nvidia", "H200", 8},
	{"p4d.24xlarge", "nvidia", "A100-40GB", 8},
	{"p4de.24xlarge", "nvidia", "A100-80GB", 8},
	{"p6-b200.48xlarge", "nvidia", "B200", 8},
	{"g4dn.metal", "nvidia", "T4", 8},
	{"g4ad.16xlarge", "amd", "V520", 4},
	{"g5.24xlarge", "nvidia", "A10G", 4},
	{"g6e.16xlarge", "nvidia", "L40S", 1},
	{"g7e.12xlarge", "nvidia", "RTX-PRO-6000", 2},
	{"g6f.xlarge", "nvidia", "L4", 1},
	{"gr6f.4xlarge", "nvidia", "L4", 1},
	{"ml.g5.8xlarge", "nvidia", "A10G", 1},
	{"trn1.32xlarge", "aws", "trainium", 16},
	{"inf2.24xlarge", "aws", "inferentia2", 6},
	{"dl1.24xlarge", "habana", "gaudi", 8},
	{"dl2q.24xlarge", "qualcomm", "AI100", 8},
	{"p5", "nvidia", "H100-80GB", 8},
	{"p5e", "nvidia", "H200", 8},
	{"g6f", "nvidia", "L4", 1},
	{"c5.9xlarge", NULL, NULL, 0},
	{"c6id.xlarge", NULL, NULL, 0},
	{"c5", NULL, NULL, 0},
	{"m7i-flex.large", NULL, NULL, 0},
	{"ml.m5.xlarge", NULL, NULL, 0},
	{"a2-highgpu-8g", "nvidia", "A100-40GB", 8},
	{"a2-megagpu-16g", "nvidia", "A100-40GB", 16},
	{"a3-ultragpu-8g", "nvidia", "H200", 8},
	{"a3", "nvidia", NULL, 8},
	{"g2-standard-24", "nvidia", "L4", 2},
	{"g4-standard-384", "nvidia", "RTX-PRO-6000", 8},
	{"ct6e-standard-4t", "google", "v6e", 4},
	{"n2-standard-64", NULL, NULL, 0},
	{"e2", NULL, NULL, 0},
	{"Standard_NC24ads_A100_v4", "nvidia", "A100-80GB", 1},
	{"Standard_ND96isr_H100_v5", "nvidia", "H100-80GB", 8},
	{"Standard_NC6s_v3", "nvidia", "V100", 1},
	{"Standard_ND96isr_MI300X_v5", "amd", "MI300X", 8},
	{"Standard_D8s_v5", NULL, NULL, 0},
	{"BM.GPU.H100.8", "nvidia", "H100-80GB", 8},
};

static void instance_types_name_their_accelerators(void **state)
{
	static const char *const unknown[] = {"",
					      "p5.",
					      "p5.96xlarge",
					      "p99.large",
					      "n1-standard-8",
					      "Standard_NV6_Promo",
					      "Standard_N",
					      "standard_d8s_v5",
					      "gpu",
					      "spot",
					      "ml.",
					      "g5.8XLARGE",
					      "ecs.gn7i-c8g1.2xlarge",
					      "c5x.large",
					      "c",
					      "e",
					      "*",
					      "VM.Standard.E5.Flex"};

	for (size_t i = 0; i < ARRAY_SIZE(instance_rows); i++) {
		const struct instance_type *type =
			instance_type_find(instance_rows[i].name);

		if (!type)
			fail_msg("unknown: %s", instance_rows[i].name);
		same(instance_rows[i].name, type->vendor,
		     instance_rows[i].vendor);
		same(instance_rows[i].name, type->product,
		     instance_rows[i].product);
		assert_int_equal(type->accelerators,
				 instance_rows[i].accelerators);
	}
	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++)
		assert_null(instance_type_find(unknown[i]));
	assert_null(instance_type_find(NULL));
}

/* --- images --------------------------------------------------------------- */

enum { NEITHER, GPU, INFRASTRUCTURE };

static int sort_of(const char *image)
{
	struct image_type sort = image_type(image);

	return sort.gpu * GPU + sort.infrastructure * INFRASTRUCTURE;
}

static const char *const gpu_images[] = {
	"nvidia/cuda",
	"nvidia/cuda:12.5.0-devel-ubuntu22.04",
	"docker.io/nvidia/cuda:13.0.2-base-ubi8",
	"nvcr.io/nvidia/pytorch:25.01-py3",
	"nvcr.io/nvidia/tritonserver:23.05-py3",
	"nvcr.io/nvidia/k8s/cuda-sample:nbody-cuda11.6.0-ubuntu18.04",
	"mirror:5000/nvcr.io/nvidia/nemo:26.02",
	"nvcr.io/nim/meta/llama3-8b-instruct:1.0.0",
	"pytorch/pytorch:2.5.0-cuda12.4-cudnn9-runtime",
	"pytorch/pytorch",
	"vllm/vllm-openai:latest",
	"vllm/vllm-openai",
	"aibrix/vllm-openai:v0.7.3.self.post1",
	"vllm/vllm-openai@sha256:0123456789abcdef",
	"ghcr.io/huggingface/text-generation-inference:2.3",
	"lmsysorg/sglang:v0.5.9-cu124",
	"lmsysorg/sglang",
	"ghcr.io/llm-d/llm-d-cuda:v0.9.0",
	"rayproject/ray:2.40.0-py311-gpu",
	"rayproject/ray-ml:2.46.0.0e19ea-py311-gpu",
	"tensorflow/tensorflow:latest-gpu",
	"tensorflow/serving:2.13.1-gpu",
	"registry.example.com:5000/team/train-gpu",
	"registry.example.com:5000/team/train-gpu:v1",
	"rocm/pytorch:latest",
	"rocm/vllm:rocm6.2_mi300",
	"paddlepaddle/paddle:2.4.0rc0-gpu-cuda11.2-cudnn8.1-trt8.0",
};

static void images_for_accelerators_are_known(void **state)
{
	static const char *const infrastructure[] = {
		"nvcr.io/nvidia/k8s-device-plugin:v0.17.0",
		"nvcr.io/nvidia/k8s/dcgm-exporter:3.3.5-3.4.0-ubuntu22.04",
		"nvcr.io/nvidia/gpu-operator:v24.9.0",
		"nvcr.io/nvidia/cloud-native/gpu-operator-validator:v1.10.1",
		"nvcr.io/nvidia/cloud-native/dcgm:3.3.9-1-ubuntu22.04",
		"nvcr.io/nvidia/driver:550.90.07-ubuntu22.04",
		"nvcr.io/nvidia/k8s-dra-driver-gpu:v25.3.0",
		"nvcr.io/nvidia/k8s/container-toolkit:v1.16.2",
		"rocm/k8s-device-plugin",
		"intel/intel-gpu-plugin-device-plugin:0.30",
		"registry.k8s.io/nfd/node-feature-discovery:v0.16.4",
		"public.ecr.aws/neuron/neuron-device-plugin:2.19",
		"projecthami/hami:v2.4",
	};
	static const char *const neither[] = {
		"nginx",
		"busybox:latest",
		"ubuntu:22.04",
		"python:3.12",
		"vllm/vllm-openai-cpu:v0.19.0",
		"docker.io/vllm/vllm-openai-cpu:v0.23.0",
		"vllm/vllm-tpu:latest",
		"lmsysorg/sglang-router:v0.2.4",
		"nvcr.io/nvidia/tritonserver:24.01-py3-sdk",
		"rayproject/ray:2.52.0",
		"rayproject/ray:2.56.0-py312-cpu",
		"tensorflow/tensorflow:2.14.0",
		"tensorflow/serving:2.6.2",
		"ghcr.io/kubeflow/katib/pytorch-mnist-cpu:latest",
		"ghcr.io/kubeflow/training-v1/pytorch-dist-mnist:latest",
		"mypytorch/pytorchx",
		"example.com/notrocm/app",
		"registry.example.com:5000/gpu-billing:v1",
		"pytorch-cpu:py3.8",
		"x@sha256:00",
		":",
		"/",
		"",
	};

	for (size_t i = 0; i < ARRAY_SIZE(gpu_images); i++)
		if (sort_of(gpu_images[i]) != GPU)
			fail_msg("no GPU image: %s", gpu_images[i]);
	for (size_t i = 0; i < ARRAY_SIZE(infrastructure); i++)
		if (sort_of(infrastructure[i]) != INFRASTRUCTURE)
			fail_msg("no infrastructure: %s", infrastructure[i]);
	for (size_t i = 0; i < ARRAY_SIZE(neither); i++)
		if (sort_of(neither[i]) != NEITHER)
			fail_msg("neither: %s", neither[i]);
	assert_int_equal(sort_of(NULL), NEITHER);
}

/* --- the tables ----------------------------------------------------------- */

static void tables_are_sorted_and_whole(void **state)
{
	for (size_t i = 0; i < data_accelerators_n; i++) {
		const struct accelerator *a = &data_accelerators[i];

		assert_non_null(strchr(a->name, '/'));
		if (i)
			assert_true(strcmp(a[-1].name, a->name) < 0);
		/* All NVIDIA resources have the same taint key, or a site's own
		 * name, none. */
		if (text_starts(a->name, "nvidia.com/") && a->taint)
			same(a->name, a->taint, "nvidia.com/gpu");
		if (!strchr(a->name, '*'))
			assert_ptr_equal(accelerator_find(NULL, a->name), a);
	}
	for (size_t i = 1; i < data_node_labels_n; i++)
		assert_true(strcmp(data_node_labels[i - 1].key,
				   data_node_labels[i].key) < 0);
	for (size_t i = 0; i < data_instance_types_n; i++) {
		const struct instance_type *t = &data_instance_types[i];

		if (i)
			assert_true(strcmp(t[-1].name, t->name) < 0);
		assert_true(t->accelerators >= 0 && t->accelerators <= 16);
		if (!t->vendor)
			assert_true(!t->accelerators && !t->product);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(node_labels_have_a_meaning),
		cmocka_unit_test(values_of_labels_name_products),
		cmocka_unit_test(instance_types_name_their_accelerators),
		cmocka_unit_test(images_for_accelerators_are_known),
		cmocka_unit_test(tables_are_sorted_and_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
