# SPDX-License-Identifier: Apache-2.0
"""Defects that operators or the API server reject, each with a near miss (see
defects.py)."""
from defects import computing, defect, near, nvidia
from pod_paths import at, group_kind

__all__ = []
TOPOLOGY = "cloud.google.com/gke-tpu-topology"


# --- slices -------------------------------------------------------------------

@defect("tpu-slice-mismatch", "pod", "all")
def half_of_the_hosts(obj, pod):
    boxes = computing(obj, pod)
    job = {("batch", "Job"): pod[:-2],
           ("jobset.x-k8s.io", "JobSet"): pod[:-2]}.get(group_kind(obj))
    if not job or len(boxes) != 1 or \
            "google.com/tpu" not in str(at(obj, boxes[0])):
        return None
    (at(obj, pod[:-1]).get("metadata") or {}).pop("annotations", None)
    at(obj, boxes[0])["resources"] = {"limits": {"google.com/tpu": 4}}
    at(obj, job).update(parallelism=8, completions=8)
    at(obj, pod)["nodeSelector"] = {
        "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
        TOPOLOGY: "8x8"}
    return pod + ("nodeSelector", TOPOLOGY)


@near(half_of_the_hosts)
def all_hosts(obj, pod):
    at(obj, pod[:-2]).update(parallelism=16, completions=16)


# --- rejections of webhooks ---------------------------------------------------

CONTAINERS = {"PyTorchJob": "pytorch", "TFJob": "tensorflow",
              "XGBoostJob": "xgboost", "PaddleJob": "paddle", "JAXJob": "jax"}


def kubeflow_v1(obj):
    return obj["apiVersion"] == "kubeflow.org/v1" and obj["kind"] in CONTAINERS


@defect("kubeflow-container-name", "pod", "all")
def other_name(obj, pod):
    boxes = at(obj, pod + ("containers",))
    if not kubeflow_v1(obj) or len(boxes) != 1:
        return None
    boxes[0]["name"] = "trainer"
    return pod + ("containers", 0, "name")


@near(other_name)
def name_of_the_kind(obj, pod):
    at(obj, pod + ("containers", 0))["name"] = CONTAINERS[obj["kind"]]


@defect("trainer-rejects", "object", "all")
def two_leaders(obj):
    spec = obj.get("spec") or {}
    for key, role in (("pytorchReplicaSpecs", "Master"),
                      ("mpiReplicaSpecs", "Launcher")):
        if obj["apiVersion"] == "kubeflow.org/v1" and \
                role in (spec.get(key) or {}):
            spec[key][role]["replicas"] = 2
            return ("spec", key, role, "replicas")
    return None


@near(two_leaders)
def one_leader(obj):
    for key in ("pytorchReplicaSpecs", "mpiReplicaSpecs"):
        for role in ("Master", "Launcher"):
            if role in (obj["spec"].get(key) or {}):
                obj["spec"][key][role]["replicas"] = 1


@defect("trainer-rejects", "object", "all")
def elastic_without_workers(obj):
    roles = (obj.get("spec") or {}).get("pytorchReplicaSpecs") or {}
    if obj["apiVersion"] != "kubeflow.org/v1" or "Worker" not in roles:
        return None
    roles["Master"] = dict(roles.pop("Worker"), replicas=1)
    obj["spec"]["elasticPolicy"] = {"maxReplicas": 2}
    return ("spec", "elasticPolicy")


@near(elastic_without_workers)
def elastic_with_workers(obj):
    roles = obj["spec"]["pytorchReplicaSpecs"]
    roles["Worker"] = dict(roles["Master"])


def is_volcano_job(obj):
    return group_kind(obj) == ("batch.volcano.sh", "Job") and \
        all("replicas" in task for task in obj["spec"]["tasks"])


@defect("volcano-min-available-exceeds", "object", "all")
def more_than_all(obj):
    if not is_volcano_job(obj):
        return None
    tasks = obj["spec"]["tasks"]
    obj["spec"]["minAvailable"] = 1 + sum(t["replicas"] for t in tasks)
    return ("spec", "minAvailable")


@near(more_than_all)
def all_of_them(obj):
    obj["spec"]["minAvailable"] -= 1


@defect("jobset-target-unknown", "object", "all")
def no_such_job(obj):
    if group_kind(obj) != ("jobset.x-k8s.io", "JobSet"):
        return None
    obj["spec"]["successPolicy"] = {
        "operator": "All", "targetReplicatedJobs": ["no-such-job"]}
    return ("spec", "successPolicy", "targetReplicatedJobs", 0)


@near(no_such_job)
def first_job(obj):
    obj["spec"]["successPolicy"]["targetReplicatedJobs"] = [
        obj["spec"]["replicatedJobs"][0]["name"]]


@defect("kueue-rejects", "pod", "all")
def two_topologies(obj, pod):
    queue = "kueue.x-k8s.io/queue-name"
    if not computing(obj, pod) or pod[-2:] != ("template", "spec") or \
            group_kind(obj) not in (("batch", "Job"),
                                    ("jobset.x-k8s.io", "JobSet"),
                                    ("kubeflow.org", "PyTorchJob")):
        return None
    obj["metadata"]["labels"] = {queue: "main"}
    at(obj, pod[:-1])["metadata"] = {"annotations": {
        "kueue.x-k8s.io/podset-required-topology": "example.com/block",
        "kueue.x-k8s.io/podset-preferred-topology": "kubernetes.io/hostname"}}
    return pod[:-1] + ("metadata", "annotations",
                       "kueue.x-k8s.io/podset-preferred-topology")


@near(two_topologies)
def one_topology(obj, pod):
    at(obj, pod[:-1] + ("metadata", "annotations")).pop(
        "kueue.x-k8s.io/podset-required-topology")


# --- missing objects ----------------------------------------------------------

@defect("runtimeclass-unknown", "pod", "cluster")
def class_of_another_cloud(obj, pod):
    if not computing(obj, pod):
        return None
    at(obj, pod)["runtimeClassName"] = "planted-not-there"
    return pod + ("runtimeClassName",)


@near(class_of_another_cloud)
def class_of_this_cluster(obj, pod):
    at(obj, pod)["runtimeClassName"] = "nvidia"


# --- sizes --------------------------------------------------------------------

@defect("instance-type-too-small", "pod")
def above_the_instance(obj, pod):
    boxes = computing(obj, pod)
    if len(boxes) != 1 or not nvidia(obj, boxes[0] + ("resources",)):
        return None
    at(obj, pod).pop("affinity", None)
    at(obj, pod)["nodeSelector"] = {
        "node.kubernetes.io/instance-type": "p5.48xlarge"}
    resources = at(obj, boxes[0] + ("resources",))
    for part in ("limits", "requests"):
        if isinstance(resources.get(part), dict):
            resources[part]["cpu"] = "500"
    return pod


@defect("pod-level-resources-conflict", "pod")
def above_the_pod(obj, pod):
    boxes = computing(obj, pod)
    if len(boxes) != 1 or not nvidia(obj, boxes[0] + ("resources",)):
        return None
    resources = at(obj, boxes[0] + ("resources",))
    if not isinstance(resources.get("limits"), dict):
        return None
    at(obj, pod)["resources"] = {"limits": {"memory": "1Gi"}}
    resources["limits"]["memory"] = "2Gi"
    return pod
