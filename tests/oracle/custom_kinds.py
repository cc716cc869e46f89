# SPDX-License-Identifier: Apache-2.0
"""The kinds of rules/kube/data/custom_types.tsv, and facts about their operators
that their definitions do not tell."""
KINDS = {
    "ray.io/v1": ["RayCluster", "RayJob", "RayService", "RayCronJob"],
    "leaderworkerset.x-k8s.io/v1": ["LeaderWorkerSet"],
    "disaggregatedset.x-k8s.io/v1": ["DisaggregatedSet"],
    "disaggregatedset.x-k8s.io/v1alpha1": ["DisaggregatedSet"],
    "jobset.x-k8s.io/v1alpha2": ["JobSet"],
    "trainer.kubeflow.org/v1alpha1": [
        "TrainJob", "TrainingRuntime", "ClusterTrainingRuntime",
        "OptimizationJob"],
    "kubeflow.org/v1": [
        "PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "Notebook"],
    "kubeflow.org/v2beta1": ["MPIJob"],
    "kubeflow.org/v1beta1": [
        "Experiment", "Suggestion", "Trial", "Notebook", "Workspace",
        "WorkspaceKind"],
    "batch.volcano.sh/v1alpha1": ["Job", "CronJob"],
    "scheduling.volcano.sh/v1beta1": ["Queue", "PodGroup"],
    "flow.volcano.sh/v1alpha1": ["JobFlow", "JobTemplate"],
    "apps.nvidia.com/v1alpha1": [
        "NIMService", "NIMCache", "NIMPipeline", "NIMBuild", "NemoCustomizer",
        "NemoDatastore", "NemoEntitystore", "NemoEvaluator", "NemoGuardrail"],
    **{f"kueue.x-k8s.io/{version}": [
        "AdmissionCheck", "ClusterQueue", "Cohort", "LocalQueue",
        "MultiKueueCluster", "MultiKueueConfig", "ProvisioningRequestConfig",
        "ResourceFlavor", "Topology", "Workload", "WorkloadPriorityClass"]
       for version in ("v1alpha1", "v1beta1", "v1beta2")},
    "scheduling.run.ai/v2": ["Queue"],
    "scheduling.run.ai/v2alpha2": ["PodGroup"],
    "serving.kserve.io/v1beta1": ["InferenceService"],
    "serving.kserve.io/v1alpha1": [
        "ServingRuntime", "ClusterServingRuntime", "InferenceGraph",
        "LLMInferenceService", "LLMInferenceServiceConfig"],
    "serving.kserve.io/v1alpha2": [
        "LLMInferenceService", "LLMInferenceServiceConfig"],
    "karpenter.sh/v1": ["NodePool", "NodeClaim"],
    "karpenter.sh/v1beta1": ["NodePool", "NodeClaim"],
    "karpenter.sh/v1alpha1": ["NodeOverlay"],
    "karpenter.sh/v1alpha5": ["Provisioner"],
    "karpenter.k8s.aws/v1": ["EC2NodeClass"],
    "karpenter.k8s.aws/v1beta1": ["EC2NodeClass"],
    "keda.sh/v1alpha1": ["ScaledObject", "ScaledJob"],
    "inference.networking.k8s.io/v1": ["InferencePool"],
    "inference.networking.x-k8s.io/v1alpha2": [
        "InferencePool", "InferenceModel", "InferenceObjective"],
    "gateway.networking.k8s.io/v1": ["HTTPRoute", "GRPCRoute", "Gateway"],
    "gateway.networking.k8s.io/v1beta1": ["HTTPRoute", "Gateway"],
    "serving.knative.dev/v1": ["Service", "Configuration", "Revision"],
    "argoproj.io/v1alpha1": [
        "Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate",
        "CronWorkflow"],
    "sparkoperator.k8s.io/v1beta2": [
        "SparkApplication", "ScheduledSparkApplication"],
    "sparkoperator.k8s.io/v1alpha1": ["SparkConnect"],
    "grove.io/v1alpha1": ["PodCliqueSet", "PodClique"],
    **{f"workloads.x-k8s.io/{version}": [
        "RoleBasedGroup", "RoleBasedGroupSet", "ClusterEngineRuntimeProfile"]
       for version in ("v1alpha1", "v1alpha2")},
    "kaito.sh/v1alpha1": ["Workspace", "RAGEngine", "InferenceSet"],
    "kaito.sh/v1beta1": ["Workspace", "RAGEngine"],
    "orchestration.aibrix.ai/v1alpha1": [
        "StormService", "RoleSet", "PodSet", "KVCache", "RayClusterFleet",
        "RayClusterReplicaSet"],
    "model.aibrix.ai/v1alpha1": ["ModelAdapter"],
    "autoscaling.aibrix.ai/v1alpha1": ["PodAutoscaler"],
    "workload.serving.volcano.sh/v1alpha1": [
        "ModelServing", "ModelBooster", "AutoscalingPolicy",
        "AutoscalingPolicyBinding"],
    "networking.serving.volcano.sh/v1alpha1": ["ModelRoute", "ModelServer"],
    "mlops.seldon.io/v1alpha1": [
        "Model", "Pipeline", "Experiment", "Server", "ServerConfig",
        "SeldonRuntime", "SeldonConfig"],
}
# Kinds that a mutating webhook of their operator or of Kueue decodes to a Go
# type and encodes again. Fields that are missing get the zero value of the type
# before the API server validates the object, so that only those are required
# whose zero value it rejects.
MUTATED = {
    "kueue.x-k8s.io": ["ClusterQueue", "ResourceFlavor", "Workload"],
    "serving.kserve.io": ["InferenceService", "LLMInferenceService"],
    "trainer.kubeflow.org": ["TrainJob"],
    "sparkoperator.k8s.io": None,
    "kubeflow.org": None,
    "ray.io": None,
    "jobset.x-k8s.io": None,
    "leaderworkerset.x-k8s.io": None,
    "batch.volcano.sh": None,
    "scheduling.volcano.sh": None,
    "serving.knative.dev": None,
    "karpenter.k8s.aws": None,
    "karpenter.sh": ["Provisioner"],
    "grove.io": None,
    "workloads.x-k8s.io": None,
    "kaito.sh": None,
    "orchestration.aibrix.ai": None,
    "model.aibrix.ai": None,
    "autoscaling.aibrix.ai": None,
    "workload.serving.volcano.sh": None,
    "networking.serving.volcano.sh": None,
    "mlops.seldon.io": None,
}
# Kinds whose mutating webhook fills required fields in: type of a
# SparkApplication (api/v1beta2/defaults.go), cliques of a PodCliqueSet
# (internal/webhook/admission/pcs/defaulting/podcliqueset.go).
FILLED = {
    "sparkoperator.k8s.io": None,
    "grove.io": ["PodCliqueSet"],
}
# Inline fields of the operators before the Training Operator; the first release
# of mpi-operator's v2beta1 had cleanPodPolicy.
EARLIER = {
    ("kubeflow.org/v1", kind): [
        "activeDeadlineSeconds", "backoffLimit", "cleanPodPolicy",
        "schedulingPolicy", "ttlSecondsAfterFinished"]
    for kind in ("PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob")
}
EARLIER["kubeflow.org/v2beta1", "MPIJob"] = ["cleanPodPolicy"]
# Fields that are left out: only KubeRay 1.0 has serveConfig, and serveConfigV2
# replaced it there.
FORMER = {"ray.io/v1": ["serveConfig"]}
# The definitions that Argo Workflows installs up to 3.7 preserve all fields, and
# its types read numbers and booleans as strings (AnyString).
ANY_SCALARS = ["argoproj.io"]
# Groups whose operator's version a policy or a snapshot may give. A constraint
# that only later releases have names the first of them.
RELEASED = (
    "batch.volcano.sh", "flow.volcano.sh", "jobset.x-k8s.io",
    "kueue.x-k8s.io", "leaderworkerset.x-k8s.io", "ray.io",
    "scheduling.run.ai", "scheduling.volcano.sh", "trainer.kubeflow.org")
# Fields whose negative values volcano-rejects reports.
SAID = {"batch.volcano.sh": (
    "maxRetry", "minAvailable", "ttlSecondsAfterFinished")}
