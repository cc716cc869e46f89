/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Properties of a pod at run time: its effective restart policy, its operator's
 * additions, its purpose, and the label that selects accelerator nodes.
 */
#include "kube/purpose/purpose.h"
#include "object_fixture.h"

#define POD(spec) "{apiVersion: v1, kind: Pod, spec: " spec "}"

static void restart_policies_are_effective_ones(void **state)
{
	static const struct {
		const char *yaml;
		enum restart_policy restart;
		bool written;
	} rows[] = {
		{POD("{containers: [{image: i}]}"), RESTART_ALWAYS, false},
		{POD("{restartPolicy: Never, containers: [{image: i}]}"),
		 RESTART_NEVER, true},
		{POD("{restartPolicy: '${R}', containers: [{image: i}]}"),
		 RESTART_UNKNOWN, true},
		{"{apiVersion: batch/v1, kind: Job, spec: {template: {spec: "
		 "{restartPolicy: OnFailure, containers: [{image: i}]}}}}",
		 RESTART_ON_FAILURE, true},
		/* The replica's policy overrides the template's. */
		{"{apiVersion: kubeflow.org/v1, kind: PyTorchJob, spec: "
		 "{pytorchReplicaSpecs: {Worker: {template: {spec: "
		 "{restartPolicy: Never, containers: [{image: i}]}}}}}}",
		 RESTART_ON_FAILURE, false},
		{"{apiVersion: kubeflow.org/v1, kind: PyTorchJob, spec: "
		 "{pytorchReplicaSpecs: {Worker: {restartPolicy: ExitCode, "
		 "template: {spec: {containers: [{image: i}]}}}}}}",
		 RESTART_EXIT_CODE, true},
		{"{apiVersion: kubeflow.org/v1, kind: TFJob, spec: "
		 "{tfReplicaSpecs: {Worker: {template: {spec: {containers: "
		 "[{image: i}]}}}}}}",
		 RESTART_NEVER, false},
		{"{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, spec: "
		 "{mpiReplicaSpecs: {Launcher: {template: {spec: {containers: "
		 "[{image: i}]}}}}}}",
		 RESTART_ON_FAILURE, false},
		{"{apiVersion: kubeflow.org/v1, kind: MPIJob, spec: "
		 "{mpiReplicaSpecs: {Launcher: {template: {spec: {containers: "
		 "[{image: i}]}}}}}}",
		 RESTART_NEVER, false},
		{"{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, spec: "
		 "{replicatedJobs: [{template: {spec: {template: {spec: "
		 "{containers: [{image: i}]}}}}}]}}",
		 RESTART_ON_FAILURE, false},
		{"{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, spec: "
		 "{tasks: [{template: {spec: {containers: [{image: i}]}}}]}}",
		 RESTART_ALWAYS, false},
		{"{apiVersion: ray.io/v1, kind: RayCluster, spec: "
		 "{enableInTreeAutoscaling: true, autoscalerOptions: {version:"
		 " v2}, headGroupSpec: {template: {spec: {restartPolicy: "
		 "Always, containers: [{image: i}]}}}}}",
		 RESTART_NEVER, false},
		{"{apiVersion: ray.io/v1, kind: RayCluster, spec: "
		 "{headGroupSpec: {template: {spec: {containers: [{image: i}]}"
		 "}}}}",
		 RESTART_ALWAYS, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fixture fixture = {0};
		const struct pod *pod = fixture_pod(&fixture, rows[i].yaml);

		if (pod->restart != rows[i].restart)
			print_error("%s\n", rows[i].yaml);
		assert_int_equal(pod->restart, rows[i].restart);
		assert_int_equal(!!pod->restart_node, rows[i].written);
		fixture_release(&fixture);
	}
}

#define PREDICTOR(fields)                                                      \
	"{apiVersion: serving.kserve.io/v1beta1, kind: InferenceService, "     \
	"spec: {predictor: {" fields "}}}"
#define RAY(fields)                                                                \
	"{apiVersion: ray.io/v1, kind: RayCluster, spec: {headGroupSpec: {" fields \
	"template: {spec: {containers: [{image: i}]}}}}}"

static void injected_fields_are_known(void **state)
{
	static const struct {
		const char *yaml;
		unsigned set, clear;
	} rows[] = {
		{POD("{containers: [{image: i}]}"), 0, ~0U},
		{RAY(""), INJECT_SHM_FIRST | INJECT_PROBES,
		 INJECT_SHM | INJECT_SHM_UNKNOWN},
		{RAY("rayStartParams: {plasma-directory: /x}, "), INJECT_PROBES,
		 INJECT_SHM_FIRST},
		{PREDICTOR("model: {modelFormat: {name: huggingface}}"),
		 INJECT_SHM | INJECT_MEMORY, INJECT_SHM_UNKNOWN | INJECT_GPU},
		{PREDICTOR("huggingface: {}"), INJECT_SHM, INJECT_GPU},
		{PREDICTOR("model: {modelFormat: {name: pytorch}}"),
		 INJECT_MEMORY, INJECT_SHM | INJECT_SHM_UNKNOWN},
		{PREDICTOR("triton: {}"), INJECT_MEMORY, INJECT_SHM},
		{PREDICTOR("model: {runtime: mine, modelFormat: {name: "
			   "huggingface}}"),
		 INJECT_SHM_UNKNOWN, INJECT_SHM},
		{PREDICTOR("model: {runtime: kserve-huggingfaceserver}"),
		 INJECT_SHM, INJECT_SHM_UNKNOWN},
		{PREDICTOR("model: {modelFormat: {name: vLLM}}, workerSpec: {"
			   "}"),
		 INJECT_SHM | INJECT_GPU, 0},
		{"{apiVersion: apps.nvidia.com/v1alpha1, kind: NIMService, "
		 "spec: {}}",
		 INJECT_SHM | INJECT_GPU, INJECT_SHM_UNKNOWN},
		{"{apiVersion: nvidia.com/v1alpha1, kind: "
		 "DynamoGraphDeployment, spec: {services: {a: {}}}}",
		 INJECT_SHM, 0},
		{"{apiVersion: nvidia.com/v1alpha1, kind: "
		 "DynamoGraphDeployment, spec: {services: {a: {sharedMemory: "
		 "{disabled: true}}}}}",
		 0, INJECT_SHM},
		{"{apiVersion: production-stack.vllm.ai/v1alpha1, kind: "
		 "VLLMRuntime, spec: {deploymentConfig: {shmSize: 1Gi}}}",
		 INJECT_SHM, 0},
		{"{apiVersion: production-stack.vllm.ai/v1alpha1, kind: "
		 "VLLMRuntime, spec: {deploymentConfig: {replicas: 1}}}",
		 INJECT_GPU, INJECT_SHM},
		{"{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, "
		 "spec: {trainer: {image: i}}}",
		 INJECT_SHM_UNKNOWN, INJECT_SHM},
		{"{apiVersion: batch/v1, kind: Job, metadata: {labels: "
		 "{kueue.x-k8s.io/queue-name: q}}, spec: {template: {spec: "
		 "{containers: [{image: i}]}}}}",
		 INJECT_SELECTOR, INJECT_SHM},
		{"{apiVersion: kubeflow.org/v1, kind: TFJob, spec: "
		 "{tfReplicaSpecs: {Worker: {template: {spec: {containers: "
		 "[{image: i}]}}}}}}",
		 INJECT_RESTART, INJECT_SHM | INJECT_SELECTOR},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fixture fixture = {0};
		const struct pod *pod = fixture_pod(&fixture, rows[i].yaml);

		if ((pod->injects & rows[i].set) != rows[i].set ||
		    pod->injects & rows[i].clear)
			print_error("%s\n", rows[i].yaml);
		assert_int_equal(pod->injects & rows[i].set, rows[i].set);
		assert_int_equal(pod->injects & rows[i].clear, 0);
		fixture_release(&fixture);
	}
}

#define RUN(kind, fields)                                                      \
	"{apiVersion: apps/v1, kind: " kind                                    \
	", spec: {selector: {}, template: "                                    \
	"{spec: {containers: [{name: c, " fields "}]}}}}"

static const struct {
	const char *yaml;
	bool training, serving;
} purpose_rows[] = {
	{RUN("Deployment", "image: i, command: [torchrun, train.py]"), true,
	 false},
	{RUN("Deployment", "image: i, command: [accelerate, launch, x]"), true,
	 false},
	{RUN("Deployment", "image: i, command: [sh, -c, 'cd /w && "
			   "python -u /w/train_llm.py --lr 1']"),
	 true, false},
	{RUN("Deployment", "image: i, command: [python, -m, "
			   "torch.distributed.run, x.py]"),
	 true, false},
	{RUN("Deployment", "image: i, command: [accelerate, config]"), false,
	 false},
	{RUN("Deployment", "image: i, command: [python, trainer.txt]"), false,
	 false},
	{RUN("Deployment", "image: i, command: [vllm, serve, m]"), false, true},
	{RUN("Deployment", "image: i, command: [python3, -m, "
			   "vllm.entrypoints.openai.api_server]"),
	 false, true},
	{RUN("Deployment", "image: i, command: [sh, -c, 'tritonserver "
			   "--model-repository=/m']"),
	 false, true},
	{RUN("Deployment", "image: vllm/vllm-openai:v1"), false, true},
	{RUN("Deployment", "image: vllm/vllm-openai:v1, command: [sleep, inf]"),
	 false, false},
	{RUN("Deployment", "image: i, ports: [{containerPort: 80}]"), false,
	 true},
	{RUN("Deployment", "image: i"), false, false},
	{RUN("DaemonSet", "image: i, command: [vllm, serve, m]"), false, false},
	{"{apiVersion: kubeflow.org/v1, kind: PyTorchJob, spec: "
	 "{pytorchReplicaSpecs: {Worker: {template: " GPU_POD(1) "}}}}",
	 true, false},
	{"{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, spec: "
	 "{tasks: [{template: " GPU_POD(1) "}]}}",
	 false, false},
	{"{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, spec: "
	 "{plugins: {pytorch: []}, tasks: [{template: " GPU_POD(1) "}]}}",
	 true, false},
	{"{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, spec: "
	 "{replicatedJobs: [{replicas: 2, template: {spec: {template: " GPU_POD(
		 1) "}}}]}}",
	 true, false},
	{"{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, spec: "
	 "{replicatedJobs: [{template: {spec: {template: " GPU_POD(1) "}}}]}}",
	 false, false},
	{PREDICTOR("model: {}"), false, true},
	{"{apiVersion: ray.io/v1, kind: RayService, spec: "
	 "{rayClusterConfig: {headGroupSpec: {template: " GPU_POD(1) "}}}}",
	 false, true},
	{"{apiVersion: batch/v1, kind: Job, spec: {template: " GPU_POD(1) "}}",
	 false, false},
};

static void training_and_serving_are_recognized(void **state)
{
	for (size_t i = 0; i < sizeof(purpose_rows) / sizeof(*purpose_rows);
	     i++) {
		struct fixture fixture = {0};
		const struct pod *pod =
			fixture_pod(&fixture, purpose_rows[i].yaml);

		if (pod_is_training(pod) != purpose_rows[i].training ||
		    pod_is_serving(pod) != purpose_rows[i].serving)
			print_error("%s\n", purpose_rows[i].yaml);
		assert_int_equal(pod_is_training(pod),
				 purpose_rows[i].training);
		assert_int_equal(pod_is_serving(pod), purpose_rows[i].serving);
		fixture_release(&fixture);
	}
}

#define POD_IN(namespace, image)                                                                                \
	"{apiVersion: v1, kind: Pod, metadata: {namespace: " namespace "}, spec: {containers: [{image: '" image \
								       "'}]}}"
#define DAEMON_IN(namespace)                                                   \
	"{apiVersion: apps/v1, kind: DaemonSet, metadata: {namespace: " namespace "}, spec: {selector: {}, template: {spec: {containers: [{image: i}]}}}}"

static void infrastructure_is_recognized(void **state)
{
	static const struct {
		const char *yaml;
		bool infrastructure;
	} rows[] = {
		/* the namespace is unknown: pods that look like infrastructure
		 * are skipped
		 */
		{RUN("DaemonSet", "image: i"), true},
		{RUN("Deployment", "image: i"), false},
		{RUN("Deployment", "image: nvcr.io/nvidia/k8s/dcgm-exporter:3"),
		 true},
		{POD_IN("gpu-operator", "i"), true},
		{POD_IN("kube-system", "i"), true},
		{POD_IN("kube-systems", "i"), false},
		{POD_IN("gpu", "i"), false},
		/* A tenant may choose names that begin alike, or look alike. */
		{POD_IN("nvidia-nim", "i"), false},
		{POD_IN("gpu-operator-2", "i"), false},
		{POD_IN("ml", "nvcr.io/nvidia/k8s-device-plugin:1"), false},
		{DAEMON_IN("ml"), false},
		{DAEMON_IN("nvidia-device-plugin"), true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fixture fixture = {0};
		const struct pod *pod = fixture_pod(&fixture, rows[i].yaml);
		struct object *object = &fixture.list.items[0];

		object->infrastructure = namespace_is_infrastructure(
			&fixture.config, object->namespace);
		assert_int_equal(pod_is_infrastructure(pod),
				 rows[i].infrastructure);
		assert_int_equal(pod_is_trusted(pod), rows[i].infrastructure);
		fixture_release(&fixture);
	}
}

#define AFFINITY(terms)                                                        \
	"{affinity: {nodeAffinity: "                                           \
	"{requiredDuringSchedulingIgnoredDuringExecution: "                    \
	"{nodeSelectorTerms: [" terms "]}}}, containers: [{image: i}]}"
#define TERM(key, operator, values)                                            \
	"{matchExpressions: [{key: " key ", operator: "                        \
	operator", values: [" values "]}]}"

static void the_selector_of_gpu_nodes_is_found(void **state)
{
	static const struct {
		const char *yaml, *key;
	} rows[] = {
		{POD("{nodeSelector: {nvidia.com/gpu.product: X}, containers: "
		     "[{image: i}]}"),
		 "nvidia.com/gpu.product"},
		{POD("{nodeSelector: {nvidia.com/gpu.present: 'true'}, "
		     "containers: [{image: i}]}"),
		 "nvidia.com/gpu.present"},
		{POD("{nodeSelector: {nvidia.com/gpu.present: 'false'}, "
		     "containers: [{image: i}]}"),
		 NULL},
		{POD("{nodeSelector: {nvidia.com/gpu.product: ''}, containers:"
		     " [{image: i}]}"),
		 NULL},
		{POD("{nodeSelector: {disktype: ssd}, containers: [{image: i}]"
		     "}"),
		 NULL},
		{POD("{nodeSelector: {node.kubernetes.io/instance-type: "
		     "p5.48xlarge}, containers: [{image: i}]}"),
		 "node.kubernetes.io/instance-type"},
		{POD("{nodeSelector: {node.kubernetes.io/instance-type: "
		     "no-such-type}, containers: [{image: i}]}"),
		 NULL},
		{POD("{containers: [{image: i}]}"), NULL},
		{POD(AFFINITY(TERM("nvidia.com/gpu.product", "In", "A, B"))),
		 "nvidia.com/gpu.product"},
		{POD(AFFINITY(TERM("nvidia.com/gpu.count", "Gt", "'3'"))),
		 "nvidia.com/gpu.count"},
		{POD(AFFINITY(TERM("nvidia.com/gpu.product", "Exists", ""))),
		 "nvidia.com/gpu.product"},
		{POD(AFFINITY(TERM("nvidia.com/gpu.product", "NotIn", "A"))),
		 NULL},
		{POD(AFFINITY(
			 TERM("nvidia.com/gpu.product", "DoesNotExist", ""))),
		 NULL},
		/* Terms are alternatives. */
		{POD(AFFINITY(TERM("nvidia.com/gpu.product", "In",
				   "A") ", " TERM("zone", "In", "b"))),
		 NULL},
		{POD(AFFINITY(TERM("nvidia.com/gpu.product", "In",
				   "A") ", " TERM("nvidia.com/gpu.count", "In",
						  "'8'"))),
		 "nvidia.com/gpu.product"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fixture fixture = {0};
		const struct node_label *label = NULL;
		const struct pod *pod = fixture_pod(&fixture, rows[i].yaml);
		const struct node *node = pod_gpu_selector(pod, &label);

		if (!!node != !!rows[i].key)
			print_error("%s\n", rows[i].yaml);
		assert_int_equal(!!node, !!rows[i].key);
		assert_int_equal(!!label, !!rows[i].key);
		if (node && !node_eq(node, rows[i].key))
			assert_string_equal(node->key, rows[i].key);
		fixture_release(&fixture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(restart_policies_are_effective_ones),
		cmocka_unit_test(injected_fields_are_known),
		cmocka_unit_test(training_and_serving_are_recognized),
		cmocka_unit_test(infrastructure_is_recognized),
		cmocka_unit_test(the_selector_of_gpu_nodes_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
