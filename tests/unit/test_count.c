/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Number of pods of each kind, in the steady state and at the peak, and pods
 * that must run at once: the table of the built-in controllers and operators.
 */
#include "object_fixture.h"

#define ROWS(rows) check_rows(rows, sizeof(rows) / sizeof(*(rows)))

static void built_in_kinds_are_counted(void **state)
{
	static const struct object_row rows[] = {
		{"{apiVersion: v1, kind: Pod, spec: " GPU_SPEC(8) "}",
		 ":1/1x8 | 8/8 gang 1 none"},
		{"{apiVersion: v1, kind: PodTemplate, template: " GPU_POD(
			 8) "}",
		 ":0/0x8 | 0/0 gang 0 none"},
		{"{apiVersion: apps/v1, kind: Deployment, spec: {selector: {}, "
		 "template: " GPU_POD(2) "}}",
		 ":1/2x2 | 2/4 gang 1 none"},
		{"{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 5, "
		 "template: " GPU_POD(1) "}}",
		 ":5/7x1 | 5/7 gang 1 none"},
		{"{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 4, "
		 "strategy: {type: Recreate}, template: " GPU_POD(1) "}}",
		 ":4/4x1 | 4/4 gang 1 none"},
		{"{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 4, "
		 "strategy: {rollingUpdate: {maxSurge: 3}}, template: " GPU_POD(
			 1) "}}",
		 ":4/7x1 | 4/7 gang 1 none"},
		{"{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 4, "
		 "strategy: {rollingUpdate: {maxSurge: 0}}, template: " GPU_POD(
			 1) "}}",
		 ":4/4x1 | 4/4 gang 1 none"},
		{"{apiVersion: apps/v1, kind: Deployment, spec: {replicas: -3, "
		 "template: " GPU_POD(1) "}}",
		 ":0/0x1 | 0/0 gang 0 none"},
		{"{apiVersion: apps/v1, kind: Deployment, spec: {replicas: "
		 "'${N}', template: " GPU_POD(1) "}}",
		 ":0+/0+x1 | 0+/0+ gang 1 none"},
		{"{apiVersion: extensions/v1beta1, kind: Deployment, spec: "
		 "{template: " GPU_POD(1) "}}",
		 ":1/2x1 | 1/2 gang 1 none"},
		{"{apiVersion: apps/v1, kind: ReplicaSet, spec: {replicas: 3, "
		 "template: " GPU_POD(1) "}}",
		 ":3/3x1 | 3/3 gang 1 none"},
		{"{apiVersion: v1, kind: ReplicationController, spec: "
		 "{replicas: 3, template: " GPU_POD(1) "}}",
		 ":3/3x1 | 3/3 gang 1 none"},
		{"{apiVersion: apps/v1, kind: StatefulSet, spec: {replicas: 4, "
		 "template: " GPU_POD(1) "}}",
		 ":4/4x1 | 4/4 gang 1 none"},
		{"{apiVersion: apps/v1, kind: DaemonSet, spec: {template: " GPU_POD(
			 1) "}}",
		 ":1/1x1 | 1/1 gang 1 none"},
	};

	ROWS(rows);
}

static void jobs_are_counted(void **state)
{
	static const struct object_row rows[] = {
		{"{apiVersion: batch/v1, kind: Job, spec: {template: " GPU_POD(
			 4) "}}",
		 ":1/2x4 | 4/8 gang 1 none"},
		{"{apiVersion: batch/v1, kind: Job, spec: {parallelism: 8, "
		 "completions: 3, podReplacementPolicy: Failed, template: " GPU_POD(
			 1) "}}",
		 ":3/3x1 | 3/3 gang 1 none"},
		{"{apiVersion: batch/v1, kind: Job, spec: {completions: 5, "
		 "podFailurePolicy: {rules: []}, template: " GPU_POD(1) "}}",
		 ":1/1x1 | 1/1 gang 1 none"},
		{"{apiVersion: batch/v1, kind: Job, spec: {parallelism: 0, "
		 "template: " GPU_POD(1) "}}",
		 ":0/0x1 | 0/0 gang 0 none"},
		/* Ranks of one program need each other. */
		{"{apiVersion: batch/v1, kind: Job, spec: {parallelism: 4, "
		 "template: {spec: {containers: [{image: i, command: "
		 "[torchrun, --nnodes=4, train.py]}]}}}}",
		 ":4/8x0 | 0/0 gang 4 needed"},
		{"{apiVersion: batch/v1, kind: Job, spec: {parallelism: 4, "
		 "template: {spec: {containers: [{image: i, command: "
		 "[torchrun, --nnodes=1, train.py]}]}}}}",
		 ":4/8x0 | 0/0 gang 1 none"},
		{"{apiVersion: batch/v1, kind: Job, spec: {parallelism: 4, "
		 "template: {spec: {containers: [{image: i, env: [{name: "
		 "WORLD_SIZE, value: '4'}]}]}}}}",
		 ":4/8x0 | 0/0 gang 4 needed"},
		{"{apiVersion: batch/v1, kind: Job, spec: {parallelism: 4, "
		 "completionMode: Indexed, template: {spec: {subdomain: s, "
		 "containers: [{image: i}]}}}}",
		 ":4/8x0 | 0/0 gang 4 needed"},
		{"{apiVersion: batch/v1, kind: Job, metadata: {labels: "
		 "{kueue.x-k8s.io/queue-name: q}}, spec: {parallelism: 4, "
		 "suspend: true, template: " GPU_POD(1) "}}",
		 ":4/8x1 | 4/8 gang 4 operator"},
		{"{apiVersion: batch/v1, kind: CronJob, spec: {jobTemplate: "
		 "{spec: {parallelism: 2, template: " GPU_POD(1) "}}}}",
		 ":2/4+x1 | 2/4+ gang 1 none"},
		{"{apiVersion: batch/v1, kind: CronJob, spec: "
		 "{concurrencyPolicy: Forbid, jobTemplate: {spec: {parallelism"
		 ": 2, podReplacementPolicy: Failed, template: " GPU_POD(
			 1) "}}}}",
		 ":2/2x1 | 2/2 gang 1 none"},
		{"{apiVersion: flux-framework.org/v1alpha2, kind: MiniCluster, "
		 "spec: {size: 4, maxSize: 6, containers: [{resources: "
		 "{limits: {nvidia.com/gpu: 8}}}], services: [{image: a}]}}",
		 ":4/6x8 services:1/1x0 | 32/48 gang 4 needed"},
		{"{apiVersion: flux-framework.org/v1alpha2, kind: MiniCluster, "
		 "spec: {jobLabels: {kueue.x-k8s.io/queue-name: q}, "
		 "containers: [{resources: {limits: {nvidia.com/gpu: 2}}}]}}",
		 ":1/1x2 | 2/2 gang 1 none"},
		{"{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, spec: "
		 "{replicatedJobs: [{name: a, replicas: 2, template: {spec: "
		 "{parallelism: 4, completions: 4, template: " GPU_POD(
			 8) "}}}, {name: b, template: {spec: {template: " GPU_POD(0) "}}}]}}",
		 "a:8/8x8 b:1/1x0 | 64/64 gang 9 needed"},
		/* A job that waits for the end of another is a later gang. */
		{"{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, spec: "
		 "{replicatedJobs: [{name: a, template: {spec: {parallelism: "
		 "4, template: " GPU_POD(
			 1) "}}}, {name: b, dependsOn: [{name"
			    ": a, status: Complete}], template: {spec: {template: " GPU_POD(
				    1) "}}}]}}",
		 "a:4/4x1 b:1/1x1 | 5/5 gang 4 needed"},
	};

	ROWS(rows);
}

static void kubeflow_jobs_are_counted(void **state)
{
	static const struct object_row rows[] = {
		{"{apiVersion: kubeflow.org/v1, kind: PyTorchJob, spec: "
		 "{pytorchReplicaSpecs: {Master: {template: " GPU_POD(
			 8) "}, Worker: {replicas: 3, template: " GPU_POD(8) "}}}}",
		 "Master:1/1x8 Worker:3/3x8 | 32/32 gang 4 needed"},
		{"{apiVersion: kubeflow.org/v1, kind: PyTorchJob, spec: "
		 "{elasticPolicy: {minReplicas: 2, maxReplicas: 9}, "
		 "pytorchReplicaSpecs: {Worker: {replicas: 3, template: " GPU_POD(
			 1) "}}}}",
		 "Worker:3/3x1 | 3/3 gang 2 needed"},
		{"{apiVersion: kubeflow.org/v1, kind: PyTorchJob, spec: "
		 "{elasticPolicy: {minReplicas: 1, maxReplicas: 9, metrics: "
		 "[{}]}, pytorchReplicaSpecs: {Worker: {replicas: 3, template"
		 ": " GPU_POD(1) "}}}}",
		 "Worker:3/9x1 | 3/9 gang 1 none"},
		{"{apiVersion: kubeflow.org/v1, kind: TFJob, spec: {runPolicy"
		 ": {schedulingPolicy: {minAvailable: 2}}, tfReplicaSpecs: "
		 "{PS: {replicas: 2, template: " GPU_POD(
			 0) "}, Worker: "
			    "{replicas: 2, template: " GPU_POD(1) "}}}}",
		 "PS:2/2x0 Worker:2/2x1 | 2/2 gang 2 operator"},
		{"{apiVersion: kubeflow.org/v1, kind: XGBoostJob, spec: "
		 "{xgbReplicaSpecs: {Master: {template: " GPU_POD(1) "}}}}",
		 "Master:1/1x1 | 1/1 gang 1 none"},
		{"{apiVersion: kubeflow.org/v1, kind: PaddleJob, spec: "
		 "{paddleReplicaSpecs: {Worker: {replicas: 2, template: " GPU_POD(
			 1) "}}}}",
		 "Worker:2/2x1 | 2/2 gang 2 needed"},
		{"{apiVersion: kubeflow.org/v1, kind: JAXJob, spec: "
		 "{jaxReplicaSpecs: {Worker: {replicas: 2, template: {spec: "
		 "{schedulerName: volcano, containers: [{image: i}]}}}}}}",
		 "Worker:2/2x0 | 0/0 gang 2 operator"},
		{"{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, spec: "
		 "{mpiReplicaSpecs: {Launcher: {template: " GPU_POD(
			 0) "}, Worker: {replicas: 2, template: " GPU_POD(8) "}}}}",
		 "Launcher:1/1x0 Worker:2/2x8 | 16/16 gang 3 needed"},
		{"{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, spec: "
		 "{mpiReplicaSpecs: {Launcher: {template: " GPU_POD(
			 1) "}, Worker: {template: " GPU_POD(8) "}}}}",
		 "Launcher:1/1x1 Worker:0/0x8 | 1/1 gang 1 none"},
		{"{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, "
		 "spec: {trainer: {numNodes: 4, resourcesPerNode: {limits: "
		 "{nvidia.com/gpu: 8}}}}}",
		 "node:4/4x8 | 32/32 gang 4 operator"},
		{"{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, "
		 "spec: {trainer: {image: i}}}",
		 "node:1+/1+x0+ | 0+/0+ gang 1+ operator"},
		{"{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, "
		 "spec: {runtimeRef: {name: r}}}",
		 "node:1+/1+x0+ | 0+/0+ gang 1+ operator"},
		{"{apiVersion: trainer.kubeflow.org/v1alpha1, kind: "
		 "ClusterTrainingRuntime, spec: {template: {spec: "
		 "{replicatedJobs: [{name: node, template: {spec: {template: " GPU_POD(
			 1) "}}}]}}}}",
		 "node:0/0x1 | 0/0 gang 0 none"},
		{"{apiVersion: sagemaker.amazonaws.com/v1, kind: "
		 "HyperPodPyTorchJob, spec: {replicaSpecs: [{name: w, "
		 "replicas: 4, template: " GPU_POD(8) "}]}}",
		 "w:4/4x8 | 32/32 gang 4 needed"},
	};

	ROWS(rows);
}

static void volcano_jobs_are_counted(void **state)
{
	static const struct object_row rows[] = {
		{"{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, spec: "
		 "{minAvailable: 3, tasks: [{name: m, template: " GPU_POD(
			 0) "}, {name: w, replicas: 4, template: " GPU_POD(2) "}]}}",
		 "m:0/0x0 w:4/4x2 | 8/8 gang 3 operator"},
		{"{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, spec: "
		 "{tasks: [{name: m, template: " GPU_POD(
			 0) "}, {name: w, "
			    "replicas: 4, minAvailable: 2, template: " GPU_POD(
				    2) "}]}}",
		 "m:0/0x0 w:4/4x2 | 8/8 gang 2 operator"},
		{"{apiVersion: batch.volcano.sh/v1alpha1, kind: CronJob, spec:"
		 " {jobTemplate: {spec: {tasks: [{name: w, replicas: 2, "
		 "template: " GPU_POD(1) "}]}}}}",
		 "w:2/2+x1 | 2/2+ gang 2 operator"},
		{"{apiVersion: flow.volcano.sh/v1alpha1, kind: JobTemplate, "
		 "spec: {tasks: [{name: w, replicas: 2, template: " GPU_POD(
			 1) "}]}}",
		 "w:0/0x1 | 0/0 gang 0 none"},
		/* A kind with this name in another group is another kind. */
		{"{apiVersion: batch/v1, kind: Job, spec: {tasks: [{name: w, "
		 "template: " GPU_POD(1) "}]}}",
		 "| 0/0 gang 0 none"},
		{"{apiVersion: leaderworkerset.x-k8s.io/v1, kind: "
		 "LeaderWorkerSet, spec: {replicas: 2, leaderWorkerTemplate: "
		 "{size: 4, workerTemplate: " GPU_POD(8) "}}}",
		 "worker:8/8x8 | 64/64 gang 4 needed"},
		{"{apiVersion: leaderworkerset.x-k8s.io/v1, kind: "
		 "LeaderWorkerSet, spec: {replicas: 2, rolloutStrategy: "
		 "{rollingUpdateConfiguration: {maxSurge: 1}}, "
		 "leaderWorkerTemplate: {size: 4, leaderTemplate: " GPU_POD(
			 1) ", workerTemplate: " GPU_POD(8) "}}}",
		 "leader:2/3x1 worker:6/9x8 | 50/75 gang 4 needed"},
		{"{apiVersion: leaderworkerset.x-k8s.io/v1, kind: "
		 "LeaderWorkerSet, spec: {leaderWorkerTemplate: "
		 "{workerTemplate: " GPU_POD(8) "}}}",
		 "worker:1/1x8 | 8/8 gang 1 none"},
	};

	ROWS(rows);
}

static void ray_clusters_are_counted(void **state)
{
	static const struct object_row rows[] = {
		{"{apiVersion: ray.io/v1, kind: RayCluster, spec: "
		 "{headGroupSpec: {template: " GPU_POD(
			 0) "}, workerGroupSpecs"
			    ": [{groupName: g, replicas: 3, numOfHosts: 2, template: " GPU_POD(
				    4) "}]}}",
		 "Head:1/1x0 g:6/6x4 | 24/24 gang 7 none"},
		/* replicas is limited by minReplicas and maxReplicas. */
		{"{apiVersion: ray.io/v1, kind: RayCluster, spec: "
		 "{headGroupSpec: {template: " GPU_POD(
			 0) "}, workerGroupSpecs"
			    ": [{groupName: a, replicas: 9, maxReplicas: 2, template: " GPU_POD(1) "}, {groupName: b, minReplicas: 1, template: " GPU_POD(
				    1) "}, {groupName: c, suspend: true, replicas: 2, "
				       "template: " GPU_POD(1) "}]}}",
		 "Head:1/1x0 a:2/2x1 b:1/1x1 c:0/0x1 | 3/3 gang 4 none"},
		{"{apiVersion: ray.io/v1, kind: RayCluster, metadata: {labels:"
		 " {ray.io/gang-scheduling-enabled: 'true'}}, spec: "
		 "{enableInTreeAutoscaling: true, headGroupSpec: {template: " GPU_POD(
			 0) "}, workerGroupSpecs: [{groupName: g, replicas: 2,"
			    " minReplicas: 1, maxReplicas: 8, template: " GPU_POD(
				    1) "}]}}",
		 "Head:1/1x0 g:2/8x1 | 2/8 gang 2 operator"},
		{"{apiVersion: ray.io/v1, kind: RayCluster, spec: "
		 "{enableInTreeAutoscaling: true, headGroupSpec: {template: " GPU_POD(
			 0) "}, workerGroupSpecs: [{groupName: g, replicas: 2,"
			    " template: " GPU_POD(1) "}]}}",
		 "Head:1/1x0 g:2/2+x1 | 2/2+ gang 1 none"},
		{"{apiVersion: ray.io/v1, kind: RayJob, spec: "
		 "{submitterPodTemplate: " GPU_POD(
			 0) ", rayClusterSpec: "
			    "{headGroupSpec: {template: " GPU_POD(1) "}}}}",
		 "Head:1/1x1 submitter:1/1x0 | 1/1 gang 1 none"},
		{"{apiVersion: ray.io/v1, kind: RayJob, spec: "
		 "{submissionMode: HTTPMode, submitterPodTemplate: " GPU_POD(
			 0) ", rayClusterSpec: {headGroupSpec: {template: " GPU_POD(1) "}}}}",
		 "Head:1/1x1 submitter:0/0x0 | 1/1 gang 1 none"},
		{"{apiVersion: ray.io/v1, kind: RayService, spec: "
		 "{rayClusterConfig: {headGroupSpec: {template: " GPU_POD(
			 1) "}}}}",
		 "Head:1/2x1 | 1/2 gang 1 none"},
		{"{apiVersion: ray.io/v1, kind: RayService, spec: "
		 "{upgradeStrategy: {type: None}, rayClusterConfig: "
		 "{headGroupSpec: {template: " GPU_POD(1) "}}}}",
		 "Head:1/1x1 | 1/1 gang 1 none"},
		{"{apiVersion: ray.io/v1, kind: RayCronJob, spec: {jobTemplate"
		 ": {rayClusterSpec: {headGroupSpec: {template: " GPU_POD(
			 1) "}}}}}",
		 "Head:1/1x1 | 1/1 gang 1 none"},
		{"{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: "
		 "RayClusterFleet, spec: {replicas: 2, template: {spec: "
		 "{headGroupSpec: {template: " GPU_POD(
			 8) "}, "
			    "workerGroupSpecs: [{groupName: g, replicas: 1, template: " GPU_POD(
				    8) "}]}}}}",
		 "Head:2/2x8 g:2/2x8 | 32/32 gang 2 none"},
	};

	ROWS(rows);
}

static void kserve_services_are_counted(void **state)
{
	static const struct object_row rows[] = {
		{"{apiVersion: serving.kserve.io/v1beta1, kind: "
		 "InferenceService, spec: {predictor: {minReplicas: 2, "
		 "maxReplicas: 5, model: {modelFormat: {name: huggingface}, "
		 "resources: {limits: {nvidia.com/gpu: 1}}}}}}",
		 "predictor:2/5x1 | 2/5 gang 1 none"},
		{"{apiVersion: serving.kserve.io/v1beta1, kind: "
		 "InferenceService, spec: {predictor: {minReplicas: 0, model: "
		 "{resources: {limits: {nvidia.com/gpu: 1}}}}}}",
		 "predictor:0/1x1 | 0/1 gang 1 none"},
		{"{apiVersion: serving.kserve.io/v1beta1, kind: "
		 "InferenceService, metadata: {annotations: "
		 "{serving.kserve.io/deploymentMode: RawDeployment}}, spec: "
		 "{predictor: " GPU_SPEC(1) "}}",
		 "predictor:1/2x1 | 1/2 gang 1 none"},
		{"{apiVersion: serving.kserve.io/v1beta1, kind: "
		 "InferenceService, spec: {predictor: {model: {modelFormat: "
		 "{name: huggingface}}, workerSpec: {pipelineParallelSize: 4, "
		 "tensorParallelSize: 2, containers: [{resources: {requests: "
		 "{nvidia.com/gpu: 2}}}]}}}}",
		 "predictor:1/2x2 worker:3/6x2 | 8/16 gang 4 needed"},
		/* Ray: one GPU per node if the worker requests none. */
		{"{apiVersion: serving.kserve.io/v1beta1, kind: "
		 "InferenceService, spec: {predictor: {model: {modelFormat: "
		 "{name: huggingface}}, workerSpec: {pipelineParallelSize: 2, "
		 "tensorParallelSize: 2}}}}",
		 "predictor:1/2x1 worker:3/6x1 | 4/8 gang 4 needed"},
		/* Only the head requests GPUs: workers with one GPU each
		 * provide the rest. */
		{"{apiVersion: serving.kserve.io/v1beta1, kind: "
		 "InferenceService, spec: {predictor: {model: {resources: "
		 "{limits: {nvidia.com/gpu: 2}}}, workerSpec: "
		 "{pipelineParallelSize: 2, tensorParallelSize: 2}}}}",
		 "predictor:1/2x2 worker:2/4x1 | 4/8 gang 3 needed"},
		{"{apiVersion: serving.kserve.io/v1alpha2, kind: "
		 "LLMInferenceService, spec: {replicas: 3, template: " GPU_SPEC(
			 1) ", router: {scheduler: {template: " GPU_SPEC(0) "}}}}",
		 ":3/3x1 scheduler:1/1x0 | 3/3 gang 1 none"},
		{"{apiVersion: serving.kserve.io/v1alpha2, kind: "
		 "LLMInferenceService, spec: {scaling: {minReplicas: 2, "
		 "maxReplicas: 4}, parallelism: {data: 16, dataLocal: 4}, "
		 "template: " GPU_SPEC(8) ", worker: " GPU_SPEC(
			 8) ", prefill:"
			    " {parallelism: {pipeline: 2}, template: " GPU_SPEC(
				    8) ", worker: " GPU_SPEC(8) "}}}",
		 ":2/4x8 worker:6/12x8 prefill:1/1x8 prefill-worker:1/1x8 | "
		 "80/144 gang 4 needed"},
		{"{apiVersion: serving.kserve.io/v1alpha1, kind: "
		 "ClusterServingRuntime, spec: " GPU_SPEC(1) "}",
		 "predictor:0/0x1 | 0/0 gang 0 none"},
	};

	ROWS(rows);
}

static const struct object_row serving_kinds_rows[] = {
	{"{apiVersion: serving.knative.dev/v1, kind: Service, spec: "
	 "{template: " GPU_POD(1) "}}",
	 ":1/1+x1 | 1/1+ gang 1 none"},
	{"{apiVersion: serving.knative.dev/v1, kind: Service, spec: "
	 "{template: {metadata: {annotations: "
	 "{autoscaling.knative.dev/min-scale: '2', "
	 "autoscaling.knative.dev/max-scale: '6'}}, spec: " GPU_SPEC(1) "}}}",
	 ":2/6x1 | 2/6 gang 1 none"},
	{"{apiVersion: machinelearning.seldon.io/v1, kind: "
	 "SeldonDeployment, spec: {predictors: [{replicas: 3, "
	 "componentSpecs: [{spec: " GPU_SPEC(1) "}, {replicas: 2, "
						"spec: " GPU_SPEC(1) "}]}]}}",
	 ":3/3x1 :2/2x1 | 5/5 gang 1 none"},
	{"{apiVersion: apps.nvidia.com/v1alpha1, kind: NIMService, "
	 "spec: {replicas: 2, resources: {limits: {nvidia.com/gpu: 4}}"
	 "}}",
	 ":2/2x4 | 8/8 gang 1 none"},
	{"{apiVersion: apps.nvidia.com/v1alpha1, kind: NIMService, "
	 "spec: {image: {repository: r}}}",
	 ":1/1x0 | 0/0 gang 1 none"},
	{"{apiVersion: apps.nvidia.com/v1alpha1, kind: NIMService, "
	 "spec: {storage: {nimCache: {name: c, profile: p}}}}",
	 ":1/1x1+ | 1+/1+ gang 1 none"},
	{"{apiVersion: apps.nvidia.com/v1alpha1, kind: NIMService, "
	 "spec: {storage: {nimCache: {name: c, profile: p}}, scale: {hpa: {minReplicas: 1, maxReplicas: 3}}, "
	 "multiNode: {parallelism: {pipeline: 2, tensor: 8}}}}",
	 ":2/6x8 | 16/48 gang 2 needed"},
	{"{apiVersion: apps.nvidia.com/v1alpha1, kind: NIMPipeline, "
	 "spec: {services: [{name: a, spec: {resources: {limits: "
	 "{nvidia.com/gpu: 1}}}}]}}",
	 ":1/1x1 | 1/1 gang 1 none"},
	{"{apiVersion: production-stack.vllm.ai/v1alpha1, kind: "
	 "VLLMRuntime, spec: {deploymentConfig: {replicas: 2, "
	 "resources: {cpu: '4', gpu: '2'}}}}",
	 ":2/2x2 | 4/4 gang 1 none"},
	{"{apiVersion: slinky.slurm.net/v1beta1, kind: NodeSet, spec: "
	 "{replicas: 4, slurmd: {resources: {limits: "
	 "{nvidia.com/gpu: 8}}}}}",
	 "slurmd:4/4x8 | 32/32 gang 1 none"},
	{"{apiVersion: slinky.slurm.net/v1beta1, kind: NodeSet, spec: "
	 "{replicas: 4, scalingMode: DaemonSet, slurmd: {resources: "
	 "{limits: {nvidia.com/gpu: 8}}}}}",
	 "slurmd:1+/1+x8 | 8+/8+ gang 1 none"},
	{"{apiVersion: kubeai.org/v1, kind: Model, spec: "
	 "{resourceProfile: 'nvidia-gpu-l4:2', minReplicas: 1, "
	 "maxReplicas: 3}}",
	 ":1/3x2 | 2/6 gang 1 none"},
	{"{apiVersion: kubeai.org/v1, kind: Model, spec: "
	 "{resourceProfile: 'cpu:2'}}",
	 ":1/1x0 | 0/0 gang 1 none"},
	{"{apiVersion: kaito.sh/v1beta1, kind: Workspace, resource: "
	 "{count: 2, instanceType: Standard_NC24ads_A100_v4}, "
	 "inference: {preset: {name: p}}}",
	 ":2/2x1 | 2/2 gang 1 none"},
	{"{apiVersion: nvidia.com/v1alpha1, kind: "
	 "DynamoGraphDeployment, spec: {services: {Worker: {replicas: "
	 "2, multinode: {nodeCount: 2}, resources: {limits: {gpu: '4'}"
	 "}, extraPodSpec: {mainContainer: {image: i}}}}}}",
	 "Worker:4/4x4 | 16/16 gang 2 operator"},
	{"{apiVersion: nvidia.com/v1beta1, kind: "
	 "DynamoGraphDeployment, spec: {components: [{name: w, "
	 "replicas: 2, podTemplate: " GPU_POD(1) "}]}}",
	 "w:2/2x1 | 2/2 gang 1 none"},
	{"{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: "
	 "StormService, spec: {replicas: 2, template: {spec: {roles: "
	 "[{name: p, replicas: 1, podGroupSize: 2, template: " GPU_POD(
		 1) "}]}}}}",
	 "p:4/4x1 | 4/4 gang 2 needed"},
	{"{apiVersion: workload.serving.volcano.sh/v1alpha1, kind: "
	 "ModelServing, spec: {replicas: 2, template: {roles: [{name: "
	 "r, replicas: 1, workerReplicas: 2, entryTemplate: " GPU_POD(
		 1) ", workerTemplate: " GPU_POD(1) "}]}}}",
	 "r:2/2x1 r:4/4x1 | 6/6 gang 6 operator"},
	{"{apiVersion: disaggregatedset.x-k8s.io/v1, kind: "
	 "DisaggregatedSet, spec: {roles: [{name: p, spec: {replicas: "
	 "2, leaderWorkerTemplate: {size: 3, workerTemplate: " GPU_POD(
		 1) "}}}]}}",
	 "worker:6/6x1 | 6/6 gang 3 needed"},
	{"{apiVersion: disaggregatedset.x-k8s.io/v1, kind: "
	 "DisaggregatedSet, spec: {slices: 2, roles: [{name: p, spec: "
	 "{replicas: 2, leaderWorkerTemplate: {size: 3, workerTemplate:"
	 " " GPU_POD(1) "}}}]}}",
	 "worker:12/12x1 | 12/12 gang 3 needed"},
	{"{apiVersion: disaggregatedset.x-k8s.io/v1alpha1, kind: "
	 "DisaggregatedSet, spec: {roles: [{name: p, replicas: 2, "
	 "leaderWorkerTemplate: {size: 3, leaderTemplate: " GPU_POD(
		 1) ", workerTemplate: " GPU_POD(2) "}}]}}",
	 "leader:2/2x1 worker:4/4x2 | 10/10 gang 3 needed"},
	{"{apiVersion: disaggregatedset.x-k8s.io/v1alpha1, kind: "
	 "DisaggregatedSet, spec: {phases: [{name: p, replicas: 2, "
	 "leaderWorkerTemplate: {size: 3, workerTemplate: " GPU_POD(1) "}}]}}",
	 "worker:6/6x1 | 6/6 gang 3 needed"},
};

static void serving_kinds_are_counted(void **state)
{
	ROWS(serving_kinds_rows);
}

static void groups_of_pods_are_counted(void **state)
{
	static const struct object_row rows[] = {
		{"{apiVersion: grove.io/v1alpha1, kind: PodCliqueSet, spec: "
		 "{replicas: 2, template: {cliques: [{name: a, spec: "
		 "{replicas: 3, minAvailable: 2, podSpec: " GPU_SPEC(1) "}}, {name: b, spec: {replicas: 2, podSpec: " GPU_SPEC(
			 1) "}}], podCliqueScalingGroups: [{name: g, replicas: 2, "
			    "minAvailable: 1, cliqueNames: [b]}]}}}",
		 "a:6/6x1 b:8/8x1 | 14/14 gang 4 operator"},
		{"{apiVersion: workloads.x-k8s.io/v1alpha2, kind: "
		 "RoleBasedGroup, spec: {roles: [{name: r, replicas: 2, "
		 "standalonePattern: {template: " GPU_POD(
			 1) "}}, {name: l, "
			    "replicas: 2, leaderWorkerPattern: {size: 4, template: " GPU_POD(
				    1) "}}]}}",
		 "r:2/2x1 l:8/8x1 | 10/10 gang 4 needed"},
		/* Devices of a role template, or of a role's patch. */
		{"{apiVersion: workloads.x-k8s.io/v1alpha2, kind: "
		 "RoleBasedGroup, spec: {roleTemplates: [{name: t, template: " GPU_POD(
			 1) "}], roles: [{name: a, replicas: 3, "
			    "standalonePattern: {templateRef: {name: t}}}, {name: b, "
			    "replicas: 2, standalonePattern: {templateRef: {name: t, "
			    "patch: " GPU_POD(4) "}}}]}}",
		 "t:3/3x1 b:2/2x4 | 11/11 gang 1 none"},
		/* A patch of any other field keeps the template's devices. */
		{"{apiVersion: workloads.x-k8s.io/v1alpha2, kind: "
		 "RoleBasedGroup, spec: {roleTemplates: [{name: t, template: " GPU_POD(
			 1) "}], roles: [{name: a, replicas: 3, "
			    "standalonePattern: {templateRef: {name: t, patch: "
			    "{spec: {hostIPC: true}}}}}, {name: b, "
			    "standalonePattern: {templateRef: {name: none, "
			    "patch: " GPU_POD(4) "}}}]}}",
		 "a:3/3x1 b:1/1x4 | 7/7 gang 1 none"},
		{"{apiVersion: workloads.x-k8s.io/v1alpha2, kind: "
		 "RoleBasedGroup, spec: {roles: [{name: a, replicas: 2, "
		 "leaderWorkerPattern: {size: 4, template: " GPU_POD(1) ", workerTemplatePatch: " GPU_POD(
			 2) "}}, {name: b, "
			    "leaderWorkerPattern: {size: 2, "
			    "template: " GPU_POD(
				    1) ", leaderTemplatePatch: "
				       "{spec: {hostIPC: true}}, "
				       "workerTemplatePatch: " GPU_POD(
					       8) "}}]}}",
		 "a:2/2x1 b:1/1x1 a:6/6x2 b:1/1x8 | 23/23 gang 4 needed"},
		{"{apiVersion: workloads.x-k8s.io/v1alpha1, kind: "
		 "RoleBasedGroupSet, spec: {replicas: 2, template: {roles: "
		 "[{name: r, replicas: 2, template: " GPU_POD(1) "}]}}}",
		 "r:4/4x1 | 4/4 gang 1 none"},
		/* Templates at a path where the kind does not have its pods. */
		{"{apiVersion: kubeflow.org/v1alpha1, kind: TFJob, spec: "
		 "{replicaSpecs: [{replicas: 2, template: " GPU_POD(1) "}]}}",
		 ":2/2x1 | 2/2 gang 2 needed"},
		{"{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, spec: "
		 "{podSets: [{name: m, count: 3, template: " GPU_POD(1) "}]}}",
		 "m:3/3x1 | 3/3 gang 1 none"},
	};

	ROWS(rows);
}

static void other_kinds_are_counted(void **state)
{
	static const struct object_row rows[] = {
		{"{apiVersion: sparkoperator.k8s.io/v1beta2, kind: "
		 "SparkApplication, spec: {driver: {cores: 1}, executor: "
		 "{instances: 4, gpu: {name: nvidia.com/gpu, quantity: 2}}}}",
		 "driver:1/1x0 executor:4/4x2 | 8/8 gang 1 none"},
		{"{apiVersion: sparkoperator.k8s.io/v1beta2, kind: "
		 "SparkApplication, spec: {batchScheduler: volcano, "
		 "dynamicAllocation: {enabled: true, initialExecutors: 2, "
		 "minExecutors: 3, maxExecutors: 9}, driver: {}, executor: "
		 "{gpu: {name: nvidia.com/gpu, quantity: 1}}}}",
		 "driver:1/1x0 executor:3/9x1 | 3/9 gang 4 operator"},
		{"{apiVersion: kubeflow.org/v1, kind: Notebook, spec: "
		 "{template: " GPU_POD(1) "}}",
		 ":1/1x1 | 1/1 gang 1 none"},
		{"{apiVersion: kubeflow.org/v1, kind: Notebook, metadata: "
		 "{annotations: {kubeflow-resource-stopped: x}}, spec: "
		 "{template: " GPU_POD(1) "}}",
		 ":0/0x1 | 0/0 gang 0 none"},
		{"{apiVersion: argoproj.io/v1alpha1, kind: Rollout, spec: "
		 "{replicas: 3, strategy: {blueGreen: {}}, template: " GPU_POD(
			 1) "}}",
		 ":3/6x1 | 3/6 gang 1 none"},
		{"{apiVersion: argoproj.io/v1alpha1, kind: Rollout, spec: "
		 "{replicas: 4, strategy: {canary: {}}, template: " GPU_POD(
			 1) "}}",
		 ":4/5x1 | 4/5 gang 1 none"},
		/* Only the largest step is certain. */
		{"{apiVersion: argoproj.io/v1alpha1, kind: Workflow, spec: "
		 "{templates: [{name: main, steps: []}, {name: a, container: "
		 "{image: i, resources: {limits: {nvidia.com/gpu: 1}}}}, "
		 "{name: b, script: {image: i, resources: {limits: "
		 "{nvidia.com/gpu: 4}}}}]}}",
		 "a:0+/0+x1 b:1/1x4 | 4+/4+ gang 1 none"},
		{"{apiVersion: argoproj.io/v1alpha1, kind: Workflow, spec: "
		 "{templates: [{name: main, steps: [[{name: s, template: a, "
		 "withParam: '{{x}}'}]]}, {name: a, container: {image: i, "
		 "resources: {limits: {nvidia.com/gpu: 1}}}}]}}",
		 "a:1+/1+x1 | 1+/1+ gang 1 none"},
		{"{apiVersion: argoproj.io/v1alpha1, kind: WorkflowTemplate, "
		 "spec: {templates: [{name: a, container: {image: i, resources"
		 ": {limits: {nvidia.com/gpu: 1}}}}]}}",
		 "a:0/0x1 | 0/0 gang 0 none"},
		{"{apiVersion: kubeflow.org/v1beta1, kind: Experiment, spec: "
		 "{parallelTrialCount: 2, trialTemplate: {trialSpec: "
		 "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, spec: "
		 "{pytorchReplicaSpecs: {Worker: {replicas: 2, template: " GPU_POD(
			 1) "}}}}}}}",
		 "| 4/4 gang 4 none [2 of Worker:2/2x1 | 2/2 gang 2 needed]"},
		{"{apiVersion: workload.codeflare.dev/v1beta2, kind: "
		 "AppWrapper, metadata: {labels: {kueue.x-k8s.io/queue-name: "
		 "q}}, spec: {components: [{template: {apiVersion: v1, kind: "
		 "Service}}, {template: {apiVersion: kubeflow.org/v1, kind: "
		 "PyTorchJob, spec: {pytorchReplicaSpecs: {Worker: {replicas: "
		 "2, template: " GPU_POD(1) "}}}}}]}}",
		 "| 2/2 gang 2 operator [1 of | 0/0 gang 0 none] "
		 "[1 of Worker:2/2x1 | 2/2 gang 2 operator]"},
	};

	ROWS(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(built_in_kinds_are_counted),
		cmocka_unit_test(jobs_are_counted),
		cmocka_unit_test(kubeflow_jobs_are_counted),
		cmocka_unit_test(volcano_jobs_are_counted),
		cmocka_unit_test(ray_clusters_are_counted),
		cmocka_unit_test(kserve_services_are_counted),
		cmocka_unit_test(serving_kinds_are_counted),
		cmocka_unit_test(groups_of_pods_are_counted),
		cmocka_unit_test(other_kinds_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
