/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The class of names of extended resources, near misses, names that only look
 * similar, additions of a policy, fabric resources and taint keys.
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

static void same(const char *what, const char *is, const char *should)
{
	if (!text_eq(is, should))
		fail_msg("%s: %s, should be %s", what, is ? is : "NULL",
			 should ? should : "NULL");
}

/* --- resource names ------------------------------------------------------- */

static const struct {
	const char *name, *vendor;
	enum accel_class class;
	const char *taint;
} accelerators[] = {
	{"nvidia.com/gpu", "nvidia", ACCEL_WHOLE, "nvidia.com/gpu"},
	{"nvidia.com/gpu.shared", "nvidia", ACCEL_SHARED, "nvidia.com/gpu"},
	{"nvidia.com/mig-1g.10gb", "nvidia", ACCEL_MIG, "nvidia.com/gpu"},
	{"nvidia.com/mig-1g.12gb.me", "nvidia", ACCEL_MIG, "nvidia.com/gpu"},
	{"nvidia.com/vgpu", "nvidia", ACCEL_VIRTUAL, "nvidia.com/gpu"},
	{"nvidia.com/pgpu", "nvidia", ACCEL_VIRTUAL, "nvidia.com/gpu"},
	{"nvidia.com/gpumem", "nvidia", ACCEL_SHARE, "nvidia.com/gpu"},
	{"nvidia.com/gpucores", "nvidia", ACCEL_SHARE, "nvidia.com/gpu"},
	{"nvidia.com/gpumem-percentage", "nvidia", ACCEL_SHARE,
	 "nvidia.com/gpu"},
	{"volcano.sh/vgpu-number", "nvidia", ACCEL_VIRTUAL, "nvidia.com/gpu"},
	{"volcano.sh/vgpu-memory", "nvidia", ACCEL_SHARE, "nvidia.com/gpu"},
	{"aliyun.com/gpu-mem", "nvidia", ACCEL_SHARE, "nvidia.com/gpu"},
	{"deviceclass.resource.kubernetes.io/gpu.nvidia.com", "nvidia",
	 ACCEL_WHOLE, "nvidia.com/gpu"},
	{"amd.com/gpu", "amd", ACCEL_WHOLE, "amd.com/gpu"},
	{"amd.com/spx_nps1", "amd", ACCEL_WHOLE, "amd.com/gpu"},
	{"amd.com/cpx_nps8", "amd", ACCEL_VIRTUAL, "amd.com/gpu"},
	{"gpu.intel.com/i915", "intel", ACCEL_WHOLE, "gpu.intel.com/i915"},
	{"gpu.intel.com/xe", "intel", ACCEL_WHOLE, "gpu.intel.com/xe"},
	{"gpu.intel.com/memory.max", "intel", ACCEL_SHARE,
	 "gpu.intel.com/i915"},
	{"npu.intel.com/accel", "intel", ACCEL_WHOLE, "npu.intel.com/accel"},
	{"habana.ai/gaudi", "habana", ACCEL_WHOLE, "habana.ai/gaudi"},
	{"aws.amazon.com/neuron", "aws", ACCEL_WHOLE, "aws.amazon.com/neuron"},
	{"aws.amazon.com/neurondevice", "aws", ACCEL_WHOLE,
	 "aws.amazon.com/neuron"},
	{"aws.amazon.com/neuroncore", "aws", ACCEL_VIRTUAL,
	 "aws.amazon.com/neuron"},
	{"google.com/tpu", "google", ACCEL_WHOLE, "google.com/tpu"},
	{"huawei.com/Ascend910", "huawei", ACCEL_WHOLE, NULL},
	{"huawei.com/Ascend910B4", "huawei", ACCEL_WHOLE, NULL},
	{"huawei.com/Ascend910B4-memory", "huawei", ACCEL_SHARE, NULL},
	{"huawei.com/ascend-1980", "huawei", ACCEL_WHOLE, NULL},
	{"cambricon.com/mlu", "cambricon", ACCEL_WHOLE, NULL},
	{"cambricon.com/vmlu", "cambricon", ACCEL_VIRTUAL, NULL},
	{"cambricon.com/mlu370.smlu.vmemory", "cambricon", ACCEL_SHARE, NULL},
	{"hygon.com/dcu", "hygon", ACCEL_WHOLE, NULL},
	{"hygon.com/dcunum", "hygon", ACCEL_VIRTUAL, NULL},
	{"hygon.com/dcumem", "hygon", ACCEL_SHARE, NULL},
	{"mthreads.com/vgpu", "mthreads", ACCEL_VIRTUAL, NULL},
	{"mthreads.com/sgpu-core", "mthreads", ACCEL_SHARE, NULL},
	{"metax-tech.com/gpu", "metax", ACCEL_WHOLE, NULL},
	{"metax-tech.com/sgpu", "metax", ACCEL_VIRTUAL, NULL},
	{"metax-tech.com/vcore", "metax", ACCEL_SHARE, NULL},
	{"enflame.com/gcu", "enflame", ACCEL_WHOLE, NULL},
	{"enflame.com/drs-gcu", "enflame", ACCEL_SHARE, NULL},
	{"kunlunxin.com/xpu", "kunlunxin", ACCEL_WHOLE, NULL},
	{"birentech.com/gpu", "birentech", ACCEL_WHOLE, NULL},
	{"iluvatar.ai/BI-V100-vgpu", "iluvatar", ACCEL_VIRTUAL, NULL},
	{"iluvatar.ai/BI-V100.vMem", "iluvatar", ACCEL_SHARE, NULL},
	{"iluvatar.ai/MR-V100.vCore", "iluvatar", ACCEL_SHARE, NULL},
	{"rebellions.ai/ATOM", "rebellions", ACCEL_WHOLE, NULL},
};

static void known_names_have_vendor_and_taint(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(accelerators); i++) {
		const struct accelerator *a =
			accelerator_find(NULL, accelerators[i].name);

		if (!a)
			fail_msg("unknown: %s", accelerators[i].name);
		same(accelerators[i].name, a->vendor, accelerators[i].vendor);
		same(accelerators[i].name, a->taint, accelerators[i].taint);
		assert_int_equal(a->class, accelerators[i].class);
		assert_true(accelerator_counts(a) == (a->class != ACCEL_SHARE));
		assert_null(accelerator_resembles(NULL, accelerators[i].name));
		assert_false(fabric_resource(accelerators[i].name));
	}
	assert_false(accelerator_counts(NULL));
	assert_null(accelerator_find(NULL, NULL));
}

static void misspelled_names_resemble_the_right_one(void **state)
{
	static const struct {
		const char *name, *meant;
	} rows[] = {
		/* Upper or lower case. */
		{"nvidia.com/GPU", "nvidia.com/gpu"},
		{"nvidia.com/Gpu", "nvidia.com/gpu"},
		{"NVIDIA.com/gpu", "nvidia.com/gpu"},
		{"Nvidia.COM/GPU", "nvidia.com/gpu"},
		{"nvidia.com/MIG-1g.10gb", "nvidia.com/mig-*"},
		{"amd.com/GPU", "amd.com/gpu"},
		{"google.com/TPU", "google.com/tpu"},
		{"huawei.com/ascend910b", "huawei.com/Ascend*"},
		{"huawei.com/ASCEND910", "huawei.com/Ascend*"},
		{"rebellions.ai/atom", "rebellions.ai/ATOM"},
		/* Misspelled devices. */
		{"nvidia.com/gpus", "nvidia.com/gpu"},
		{"nvidia.com/GPUs", "nvidia.com/gpu"},
		{"nvidia.com/gp", "nvidia.com/gpu"},
		{"nvidia.com/gup", "nvidia.com/gpu"},
		{"nvidia.com/pgu", "nvidia.com/gpu"},
		{"nvidia.com/ggpu", "nvidia.com/gpu"},
		{"nvidia.com/gpu-shared", "nvidia.com/gpu.shared"},
		{"nvidia.com/gpushared", "nvidia.com/gpu.shared"},
		{"nvidia.com/gpu.share", "nvidia.com/gpu.shared"},
		{"nvidia.com/gpu-mem", "nvidia.com/gpumem"},
		{"nvidia.com/gpucore", "nvidia.com/gpucores"},
		{"nvidia.com/nvidia-gpu", "nvidia.com/gpu"},
		{"nvidia.com/gpu-count", "nvidia.com/gpu"},
		{"amd.com/gpus", "amd.com/gpu"},
		{"google.com/tpus", "google.com/tpu"},
		{"aws.amazon.com/neurons", "aws.amazon.com/neuron"},
		{"aws.amazon.com/nueron", "aws.amazon.com/neuron"},
		{"aws.amazon.com/neuron-core", "aws.amazon.com/neuroncore"},
		{"aws.amazon.com/neuroncores", "aws.amazon.com/neuroncore"},
		{"habana.ai/guadi", "habana.ai/gaudi"},
		{"habana.ai/gaudi2", "habana.ai/gaudi"},
		{"gpu.intel.com/i951", "gpu.intel.com/i915"},
		/* Misspelled domains. */
		{"nvida.com/gpu", "nvidia.com/gpu"},
		{"nividia.com/gpu", "nvidia.com/gpu"},
		{"nvdia.com/gpu", "nvidia.com/gpu"},
		{"nvidea.com/gpu", "nvidia.com/gpu"},
		{"nvidia.cm/gpu", "nvidia.com/gpu"},
		{"nvidia.io/gpu", "nvidia.com/gpu"},
		{"nvidia.con/gpus", "nvidia.com/gpu"},
		{"nvidia.com.gpu", "nvidia.com/gpu"},
		{"amd.con/gpu", "amd.com/gpu"},
		{"aws.amazon.co/neuron", "aws.amazon.com/neuron"},
		{"gogle.com/tpu", "google.com/tpu"},
		/* Missing parts of names, and former names. */
		{"gpu", "nvidia.com/gpu"},
		{"GPU", "nvidia.com/gpu"},
		{"gpus", "nvidia.com/gpu"},
		{"nvidia/gpu", "nvidia.com/gpu"},
		{"NVIDIA/GPU", "nvidia.com/gpu"},
		{"nvidia-gpu", "nvidia.com/gpu"},
		{"amd/gpu", "amd.com/gpu"},
		{"google/tpu", "google.com/tpu"},
		{"tpu", "google.com/tpu"},
		{"alpha.kubernetes.io/nvidia-gpu", "nvidia.com/gpu"},
		{"cloud-tpus.google.com/v3", "google.com/tpu"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct accelerator *a =
			accelerator_resembles(NULL, rows[i].name);

		same(rows[i].name, a ? a->name : NULL, rows[i].meant);
		assert_null(accelerator_find(NULL, rows[i].name));
	}
}

static const char *const right_names[] = {
	"cpu",
	"memory",
	"ephemeral-storage",
	"hugepages-2Mi",
	"hugepages-1Gi",
	"storage",
	"pods",
	"attachable-volumes-aws-ebs",
	"requests.nvidia.com/gpu",
	"limits.nvidia.com/gpu",
	"requests.cpu",
	"count/pods",
	"nvidia.com/hostdev",
	"nvidia.com/rdma_shared_device_a",
	"nvidia.com/sriov-rdma",
	"nvidia.com/resibp24s0",
	"nvidia.com/mlnxnics",
	"nvidia.com/pf",
	"nvidia.com/vf",
	"nvidia.com/ib",
	"nvidia.com/dpu",
	"nvidia.com/a800",
	"nvidia.com/l4",
	"nvidia.com/t4",
	"nvidia.com/h100-80gb",
	"nvidia.com/gpu-a100",
	"nvidia.com/gpu.a100",
	"nvidia.com/gpu-l40s-48gb",
	"nvidia.com/GA102GL_A10",
	"nvidia.com/TU104GL_Tesla_T4",
	"nvidia.com/GRID_T4-1Q",
	"nvidia.com/dla0",
	"rdma/hca",
	"rdma/hca_shared_devices_a",
	"rdma/ib",
	"vpc.amazonaws.com/efa",
	"vpc.amazonaws.com/pod-eni",
	"vpc.amazonaws.com/PrivateIPv4Address",
	"vke.volcengine.com/rdma",
	"smarter-devices/x",
	"smarter-devices/gpiomem",
	"smarter-devices/fuse",
	"devices.kubevirt.io/kvm",
	"devices.kubevirt.io/tun",
	"squat.ai/gpu-like",
	"github.com/fuse",
	"example.com/gpu",
	"example.com/dongle",
	"gpu.example.com/gpu",
	"arm.com/gpu",
	"ibm.com/gpu",
	"and-more.com/gpu",
	"amd.com/npu",
	"amd.com/vnic",
	"amd.com/epyc",
	"intel.com/intel_sriov_netdevice",
	"intel.com/qat",
	"qat.intel.com/cy",
	"dlb.intel.com/pf",
	"dlb.intel.com/vf",
	"dsa.intel.com/wq-user-shared",
	"sgx.intel.com/epc",
	"fpga.intel.com/af-ce4",
	"gpu.intel.com/i915_monitoring",
	"gpu.intel.com/xe_monitoring",
	"xilinx.com/fpga-xilinx_u30",
	"xilinx/aws-vu9p-f1",
	"openshift.io/mlxnics",
	"mellanox.com/cx6",
	"networking.gke.io.networks/rdma-0",
	"google.com/gpu",
	"google.com/fpga",
	"cloud.google.com/gke-accelerator",
	"aws.amazon.com/efa",
	"aws.amazon.com/gpu",
	"k8s.amazonaws.com/accelerator",
	"aliyun.com/gpu-topology-mode",
	"volcano.sh/host",
	"kubernetes.io/batch-cpu",
	"koordinator.sh/batch-cpu",
	"koordinator.sh/rdma",
	"tencent.com/eni-ip",
	"kubevirt.io/schedulable",
	"cloud-provider.vcluster.com/gpu",
	"acme.com/tpu",
	"acme.com/neuron",
	"a/b",
	"/",
	"/gpu",
	"nvidia.com/",
	"",
};

static void other_resources_resemble_none(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(right_names); i++) {
		const struct accelerator *a =
			accelerator_resembles(NULL, right_names[i]);

		same(right_names[i], a ? a->name : NULL, NULL);
		assert_null(accelerator_find(NULL, right_names[i]));
	}
	assert_null(accelerator_resembles(NULL, NULL));
}

/* A very long name is not treated as a misspelling, and does not take long. */
static void a_very_long_name_resembles_none(void **state)
{
	char name[300];

	memset(name, 'a', sizeof(name));
	memcpy(name, "nvidia.com/", 11);
	name[sizeof(name) - 1] = '\0';
	assert_null(accelerator_resembles(NULL, name));
	assert_null(accelerator_find(NULL, name));
}

static void a_policy_adds_names(void **state)
{
	static const struct accelerator items[] = {
		{"acme.com/chip", "acme", ACCEL_WHOLE, "acme.com/taint", false},
		{"nvidia.com/gpu-a100", "nvidia", ACCEL_WHOLE, NULL, false},
		{"nvidia.com/vgpu", "nvidia", ACCEL_SHARE, NULL, false},
		{"pool.example/*", "example", ACCEL_VIRTUAL, NULL, false},
	};
	const struct accelerator_extra extra = {items, ARRAY_SIZE(items), NULL,
						NULL};
	const struct accelerator *a;

	assert_ptr_equal(accelerator_find(&extra, "acme.com/chip"), &items[0]);
	assert_ptr_equal(accelerator_find(&extra, "pool.example/x"), &items[3]);
	assert_null(accelerator_find(&extra, "pool.other/x"));
	/* An entry of the policy takes precedence over the built-in one. */
	assert_int_equal(accelerator_find(&extra, "nvidia.com/vgpu")->class,
			 ACCEL_SHARE);
	assert_null(accelerator_resembles(&extra, "nvidia.com/gpu-a100"));
	a = accelerator_resembles(&extra, "acme.com/chips");
	assert_ptr_equal(a, &items[0]);
	assert_null(accelerator_resembles(NULL, "acme.com/chips"));
	a = accelerator_resembles(&extra, "nvidia.com/gpus");
	same("nvidia.com/gpus", a ? a->name : NULL, "nvidia.com/gpu");
	assert_true(gpu_taint_key(&extra, "acme.com/taint"));
	assert_false(gpu_taint_key(NULL, "acme.com/taint"));
	assert_true(gpu_taint_key(&extra, "nvidia.com/gpu"));
}

static void network_devices_are_fabric(void **state)
{
	static const char *const yes[] = {"rdma/hca",
					  "rdma/ib",
					  "rdma/roce_gdr",
					  "rdma/rdma_shared_a",
					  "vpc.amazonaws.com/efa",
					  "nvidia.com/hostdev",
					  "nvidia.com/sriov_rdma",
					  "mellanox.com/cx6",
					  "openshift.io/x",
					  "vke.volcengine.com/rdma",
					  "networking.gke.io.networks/rdma-0"};
	static const char *const no[] = {"nvidia.com/gpu",
					 "nvidia.com/mig-1g.5gb",
					 "cpu",
					 "memory",
					 "rdma",
					 "vpc.amazonaws.com/pod-eni",
					 "smarter-devices/x",
					 "example.com/rdma",
					 "intel.com",
					 ""};

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		assert_true(fabric_resource(yes[i]));
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		assert_false(fabric_resource(no[i]));
	assert_false(fabric_resource(NULL));
}

static void accelerator_taints_are_known(void **state)
{
	static const char *const yes[] = {
		"nvidia.com/gpu", "amd.com/gpu", "google.com/tpu",
		"aws.amazon.com/neuron", "habana.ai/gaudi"};
	static const char *const no[] = {"nvidia.com/gpu.shared",
					 "nvidia.com/mig-1g.10gb",
					 "dedicated",
					 "node.kubernetes.io/not-ready",
					 "gpu.example.com/unhealthy",
					 "cloud.google.com/gke-spot",
					 "aws.amazon.com/neuroncore",
					 ""};

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		assert_true(gpu_taint_key(NULL, yes[i]));
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		assert_false(gpu_taint_key(NULL, no[i]));
	assert_false(gpu_taint_key(NULL, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_names_have_vendor_and_taint),
		cmocka_unit_test(misspelled_names_resemble_the_right_one),
		cmocka_unit_test(other_resources_resemble_none),
		cmocka_unit_test(a_very_long_name_resembles_none),
		cmocka_unit_test(a_policy_adds_names),
		cmocka_unit_test(network_devices_are_fabric),
		cmocka_unit_test(accelerator_taints_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
