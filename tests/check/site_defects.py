# SPDX-License-Identifier: Apache-2.0
"""Defects for the rules about networks, images, claims, security and governance,
each with a near miss that must not be reported (see defects.py)."""
import json

from defects import (alone, computing, defect, figure, give, near, nvidia,
                     one_container, run, runs_program, volcano)
from pod_paths import at, group_kind

__all__ = []


# --- network ------------------------------------------------------------------

@defect("rdma-without-ipc-lock", "container", "all")
def no_lock(obj, pod, box):
    if computing(obj, pod) != [box] or not runs_program(obj) or \
            obj["kind"] == "InferenceService":
        return None
    at(obj, box).pop("securityContext", None)
    at(obj, box).pop("env", None)
    at(obj, box + ("resources",)).setdefault("limits", {})[
        "rdma/hca_shared_devices_a"] = 1
    return box + ("resources", "limits", "rdma/hca_shared_devices_a")


@near(no_lock)
def lock(obj, pod, box):
    at(obj, box)["securityContext"] = {"capabilities": {"add": ["IPC_LOCK"]}}


@defect("ipc-lock-nonroot-ineffective", "container", "all")
def lock_of_a_user(obj, pod, box):
    if not figure(at(obj, box).get("resources")):
        return None
    at(obj, box)["securityContext"] = {
        "runAsUser": 1000, "capabilities": {"add": ["IPC_LOCK"]}}
    return box + ("securityContext",)


@near(lock_of_a_user)
def lock_of_root(obj, pod, box):
    at(obj, box)["securityContext"]["runAsUser"] = 0


@defect("efa-without-hugepages", "container", "all")
def no_pages(obj, pod, box):
    limits = at(obj, box + ("resources", "limits"))
    if not figure(at(obj, box).get("resources")) or limits is None:
        return None
    limits.pop("hugepages-2Mi", None)
    limits["vpc.amazonaws.com/efa"] = 4
    return box + ("resources", "limits")


@near(no_pages)
def pages(obj, pod, box):
    at(obj, box + ("resources", "limits"))["hugepages-2Mi"] = "5120Mi"


@defect("hostnetwork-dns-policy", "pod", "all")
def node_resolver(obj, pod):
    """Skip kinds of Volcano and of MPI Operator v2, which set the policy."""
    if not computing(obj, pod) or "volcano" in obj["apiVersion"] or \
            obj["apiVersion"] == "kubeflow.org/v2beta1":
        return None
    at(obj, pod).update(hostNetwork=True, dnsPolicy="ClusterFirst")
    return pod + ("dnsPolicy",)


@near(node_resolver)
def cluster_resolver(obj, pod):
    at(obj, pod)["dnsPolicy"] = "ClusterFirstWithHostNet"


@defect("hostnetwork-gpu", "pod", "all")
def shared_ports(obj, pod):
    box = one_container(obj, pod)
    if obj["kind"] not in ("Deployment", "StatefulSet") or not box or \
            not give(obj, box, 1) or "rdma" in str(at(obj, box)) or \
            "efa" in str(at(obj, box)):
        return None
    obj["spec"]["replicas"] = 3
    at(obj, pod).pop("affinity", None)
    at(obj, pod)["hostNetwork"] = True
    for container in at(obj, pod)["containers"]:
        container.pop("ports", None)
    return pod + ("hostNetwork",)


@near(shared_ports)
def one_pod(obj, pod):
    obj["spec"]["replicas"] = 1


# --- images -------------------------------------------------------------------

@defect("gpu-image-unpinned", "container", "all")
def moving(obj, pod, box):
    """Give the container a moving tag. If it only waits, its image does not
    matter, so it gets a training command."""
    if not figure(at(obj, box).get("resources")):
        return None
    if "sleep" in json.dumps([at(obj, box).get("command"),
                              at(obj, box).get("args")]):
        at(obj, box).update(command=["python", "train.py"], args=[])
    at(obj, box)["image"] = "registry.example.com/vllm:latest"
    return box + ("image",)


@near(moving)
def fixed(obj, pod, box):
    at(obj, box)["image"] = "registry.example.com/vllm:0.11.0"


@defect("disable-require-set", "container", "all")
def not_required(obj, pod, box):
    at(obj, box)["env"] = [{"name": "NVIDIA_DISABLE_REQUIRE", "value": "1"}]
    return box + ("env", 0) if box in computing(obj, pod) else None


@near(not_required)
def required(obj, pod, box):
    at(obj, box)["env"][0]["value"] = "0"


@defect("cpu-image-on-gpu", "container", "all")
def for_cpus(obj, pod, box):
    if box not in computing(obj, pod) or not nvidia(obj, box + ("resources",)):
        return None
    at(obj, box)["image"] = "registry.example.com/tf-serving:2.19-cpu"
    return box + ("image",)


@near(for_cpus)
def for_gpus(obj, pod, box):
    at(obj, box)["image"] = "registry.example.com/tf-serving:2.19-gpu"


# --- claims -------------------------------------------------------------------

def claim(obj, pod, **how):
    at(obj, pod)["resourceClaims"] = [{"name": "gpu", **how}]
    return pod + ("resourceClaims", 0)


@defect("dra-claim-unreferenced", "pod", more=[{
    "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
    "metadata": {"name": "single-gpu"}, "spec": {"spec": {"devices": {
        "requests": [{"name": "gpu", "exactly": {
            "deviceClassName": "gpu.nvidia.com"}}]}}}}])
def nobody_uses(obj, pod):
    if not alone(obj, pod) or not one_container(obj, pod):
        return None
    obj["metadata"].pop("namespace", None)
    return claim(obj, pod, resourceClaimTemplateName="single-gpu")


@near(nobody_uses)
def somebody_uses(obj, pod):
    box = one_container(obj, pod)
    at(obj, box + ("resources",))["claims"] = [{"name": "gpu"}]


@defect("dra-and-device-plugin-mix", "pod", "all", more=nobody_uses.more)
def both_ways(obj, pod):
    where = nobody_uses(obj, pod)
    if where:
        somebody_uses(obj, pod)
        return one_container(obj, pod)
    return None


@defect("dra-shared-claim-in-template", "pod", "all", more=[{
    "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
    "metadata": {"name": "one-gpu"}, "spec": {"devices": {
        "requests": [{"name": "gpu", "exactly": {
            "deviceClassName": "gpu.nvidia.com"}}]}}}])
def one_for_all(obj, pod):
    box = one_container(obj, pod)
    if obj["kind"] != "Deployment" or not box:
        return None
    obj["metadata"].pop("namespace", None)
    obj["spec"]["replicas"] = 3
    at(obj, box)["resources"] = {"claims": [{"name": "gpu"}]}
    return claim(obj, pod, resourceClaimName="one-gpu")


@near(one_for_all)
def one_for_one(obj, pod):
    obj["spec"]["replicas"] = 1


# --- security and governance --------------------------------------------------

@defect("gpu-hostpid", "pod", "all")
def all_processes(obj, pod):
    if not computing(obj, pod):
        return None
    at(obj, pod)["hostPID"] = True
    return pod + ("hostPID",)


@near(all_processes)
def own_processes(obj, pod):
    at(obj, pod)["hostPID"] = False


@defect("default-namespace-gpu", "object", "all")
def in_default(obj):
    obj["metadata"]["namespace"] = "default"
    (obj["metadata"].get("labels") or {}).pop(
        "kueue.x-k8s.io/queue-name", None)
    return ("metadata", "namespace")


@near(in_default)
def in_another(obj):
    obj["metadata"]["namespace"] = "ml"


@defect("trust-remote-code", "container", "all")
def runs_what_comes(obj, pod, box):
    return run(obj, pod, box, 1, "vllm", "serve", "org/model",
               "--trust-remote-code")


@near(runs_what_comes)
def runs_what_is_pinned(obj, pod, box):
    at(obj, box)["command"] += ["--revision", "1f2e3d"]


@defect("gpu-root-writable", "container", "all")
def root(obj, pod, box):
    if not figure(at(obj, box).get("resources")):
        return None
    at(obj, box)["securityContext"] = {"runAsUser": 0}
    return box + ("securityContext", "runAsUser")


@near(root)
def a_user(obj, pod, box):
    at(obj, box)["securityContext"]["runAsUser"] = 1000


# --- devices ------------------------------------------------------------------

@defect("shared-gpu-count-gt-one", "device", "all")
def four_shares(obj, path):
    if not nvidia(obj, path) or "limits" not in at(obj, path):
        return None
    at(obj, path)["limits"] = {"nvidia.com/gpu.shared": 4}
    at(obj, path).pop("requests", None)
    return path + ("limits",)


@near(four_shares)
def one_share(obj, path):
    at(obj, path)["limits"]["nvidia.com/gpu.shared"] = 1


@defect("mig-or-shared-with-nccl", "container", "all")
def ranks_on_slices(obj, pod, box):
    where = run(obj, pod, box, 2, "torchrun", "--nproc-per-node=2", "train.py")
    if where:
        at(obj, box)["resources"] = {"limits": {"nvidia.com/mig-1g.10gb": 2}}
    return where


@near(ranks_on_slices)
def one_rank(obj, pod, box):
    at(obj, box)["command"][1] = "--nproc-per-node=1"


@defect("shm-volume-unused", "pod", "all")
def nobody_mounts(obj, pod):
    """Skip LLMInferenceServices: presets of KServe may mount the volume."""
    if not computing(obj, pod) or obj["kind"] == "LLMInferenceService":
        return None
    volumes = at(obj, pod).setdefault("volumes", [])
    volumes.append({"name": "ram", "emptyDir": {"medium": "Memory"}})
    return pod + ("volumes", len(volumes) - 1)


@near(nobody_mounts)
def on_disk(obj, pod):
    at(obj, pod)["volumes"][-1]["emptyDir"] = {}


@defect("cuda-arch-mismatch", "container", "all")
def too_old(obj, pod, box):
    if not figure(at(obj, box).get("resources")):
        return None
    at(obj, pod).pop("affinity", None)
    at(obj, pod)["nodeSelector"] = {"nvidia.com/gpu.product": "NVIDIA-B200"}
    at(obj, box)["image"] = "nvidia/cuda:12.4.1-runtime-ubuntu22.04"
    return box + ("image",)


@near(too_old)
def new_enough(obj, pod, box):
    at(obj, box)["image"] = "nvidia/cuda:12.9.0-runtime-ubuntu22.04"


@defect("nccl-socket-ifname", "container", "all")
def loopback(obj, pod, box):
    if obj["kind"] != "PyTorchJob" or "elasticPolicy" in obj["spec"]:
        return None
    roles = obj["spec"]["pytorchReplicaSpecs"]
    roles[pod[2]]["replicas"] = 4
    at(obj, box)["env"] = [{"name": "NCCL_SOCKET_IFNAME", "value": "lo"}]
    return box + ("env", 0)


@near(loopback)
def an_interface(obj, pod, box):
    at(obj, box)["env"][0]["value"] = "eth0"


@defect("notebook-gpu-culling", "pod", "all")
def a_notebook(obj, pod):
    if not alone(obj, pod) or not one_container(obj, pod):
        return None
    spec = at(obj, pod)
    obj.clear()
    obj.update(apiVersion="kubeflow.org/v1", kind="Notebook", metadata={},
               spec={"template": {"spec": spec}})
    return ("metadata", "name")


@near(a_notebook)
def no_notebook(obj, pod):
    obj.update(apiVersion="apps/v1", kind="StatefulSet")


@defect("api-version-removed", "object", "all")
def old_version(obj):
    if obj["kind"] != "PyTorchJob":
        return None
    group = obj["apiVersion"].rpartition("/")[0]
    obj["apiVersion"] = group + "/v1beta2"
    return ("apiVersion",)


@near(old_version)
def this_version(obj):
    obj["apiVersion"] = obj["apiVersion"].rpartition("/")[0] + "/v1"


def volcano_job(obj, pod, box, *command):
    if not alone(obj, pod) or run(obj, pod, box, 1, *command) is None:
        return None
    volcano(obj, dict(at(obj, pod), restartPolicy="OnFailure"), 2)
    return ("spec", "tasks", 0)


@defect("volcano-mpi-workers-hold", "container", "all")
def ssh_for_ever(obj, pod, box):
    task = volcano_job(obj, pod, box, "/usr/sbin/sshd", "-D")
    if not task:
        return None
    launcher = {"name": "launcher", "image": "registry.example.com/launch:1",
                "command": ["mpirun", "./a.out"]}
    obj["spec"]["tasks"].append({
        "name": "launcher", "replicas": 1, "template": {"spec": {
            "restartPolicy": "OnFailure", "containers": [launcher]}}})
    return task + ("template", "spec", "containers")


@near(ssh_for_ever)
def ssh_ends(obj, pod, box):
    obj["spec"]["policies"] = [{"event": "TaskCompleted",
                                "action": "CompleteJob"}]


@defect("numa-needs-guaranteed-integer-cpu", "container")
def half_a_core(obj, pod, box):
    task = volcano_job(obj, pod, box, "./a.out")
    if not task:
        return None
    at(obj, task)["topologyPolicy"] = "single-numa-node"
    for container in at(obj, task + ("template", "spec", "containers")):
        container["resources"] = {"limits": {"nvidia.com/gpu": 1, "cpu": 0.5}}
    return task + ("topologyPolicy",)


@near(half_a_core)
def whole_cores(obj, pod, box):
    spec = at(obj, ("spec", "tasks", 0, "template", "spec"))
    each = {"cpu": 4, "memory": "4Gi"}
    for c in spec["containers"] + spec.get("initContainers", []):
        c["resources"] = {"requests": each,
                          "limits": {"nvidia.com/gpu": 1, **each}}


@defect("dist-job-unconstrained-topology", "pod", "all")
def anywhere(obj, pod):
    box = one_container(obj, pod)
    if not alone(obj, pod) or not box or not give(obj, box, 8):
        return None
    spec = dict(at(obj, pod), restartPolicy="OnFailure")
    for key in ("affinity", "nodeSelector", "topologySpreadConstraints"):
        spec.pop(key, None)
    volcano(obj, spec, 4)
    obj["spec"]["plugins"] = {"pytorch": []}
    return ("metadata", "name")


@near(anywhere)
def together(obj, pod):
    obj["spec"]["networkTopology"] = {"mode": "hard"}


CLAIM = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
         "metadata": {"name": "all"}, "spec": {"devices": {"requests": [
             {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com",
                                         "allocationMode": "All"}}]}}}


@defect("dra-allocation-all", "pod", "all", more=[CLAIM])
def all_of_them(obj, pod):
    return ("more",) if alone(obj, pod) and one_container(obj, pod) else None


def of_claims(kind, name, spec):
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind,
            "metadata": {"name": name, "namespace": "claims"}, "spec": spec}


def asks_for(device_class):
    return {"devices": {"requests": [
        {"name": "gpu", "exactly": {"deviceClassName": device_class}}]}}


@defect("dra-class-unknown", "pod", "known",
        more=[of_claims("ResourceClaim", "one", asks_for("gpu.@CLASS@.com"))])
def misspelled_class(obj, pod):
    if not alone(obj, pod) or not one_container(obj, pod):
        return None
    obj["metadata"]["class"] = "nvidai"
    return ("more",)


@near(misspelled_class)
def class_of_the_cluster(obj, pod):
    obj["metadata"]["class"] = "nvidia"


@defect("dra-request-invalid", "pod", "all",
        more=[of_claims("ResourceClaim", "one", {"devices": {"requests": [
            {"name": "gpu",
             "@CLASS@": {"deviceClassName": "gpu.nvidia.com"}}]}})])
def says_nothing(obj, pod):
    obj["metadata"]["class"] = "exact"
    return ("more",) if alone(obj, pod) and one_container(obj, pod) else None


@near(says_nothing)
def says_exactly(obj, _):
    obj["metadata"]["class"] = "exactly"


@defect("quota-dra-uncovered", "pod", "known", more=[
    of_claims("ResourceClaimTemplate", "slice",
              {"spec": asks_for("mig.nvidia.com")}),
    {"apiVersion": "v1", "kind": "ResourceQuota",
     "metadata": {"name": "q", "namespace": "claims"},
     "spec": {"hard": {"requests.nvidia.com/gpu": "64"}}}])
def past_the_quota(obj, pod):
    box = one_container(obj, pod)
    if not alone(obj, pod) or not box:
        return None
    obj["metadata"]["namespace"] = "claims"
    at(obj, pod)["resourceClaims"] = [{
        "name": "gpu", "resourceClaimTemplateName": "slice"}]
    at(obj, box)["resources"] = {"claims": [{"name": "gpu"}]}
    return pod


@near(past_the_quota)
def within_the_quota(obj, pod):
    at(obj, pod).pop("resourceClaims")
    at(obj, one_claim(obj, pod))["resources"] = {
        "limits": {"nvidia.com/gpu": 1}}


def one_claim(obj, pod):
    names = [i for i, box in enumerate(at(obj, pod + ("containers",)))
             if "claims" in box.get("resources", {})]
    return pod + ("containers", names[0])


# --- fabric and drivers -------------------------------------------------------

TYPE = "node.kubernetes.io/instance-type"


@defect("efa-count-mismatch", "pod", "all")
def one_interface(obj, pod):
    box = one_container(obj, pod)
    if not box or not give(obj, box, 8):
        return None
    at(obj, box + ("resources", "limits"))["vpc.amazonaws.com/efa"] = 1
    at(obj, pod).pop("affinity", None)
    at(obj, pod)["nodeSelector"] = {TYPE: "p5.48xlarge"}
    return box + ("resources", "limits")


@near(one_interface)
def all_interfaces(obj, pod):
    limits = at(obj, one_container(obj, pod) + ("resources", "limits"))
    limits["vpc.amazonaws.com/efa"] = 32


@defect("cuda-driver-mismatch", "container", "all")
def newer_cuda(obj, pod, box):
    if not figure(at(obj, box).get("resources")):
        return None
    at(obj, pod).pop("affinity", None)
    at(obj, pod)["nodeSelector"] = {
        "nvidia.com/cuda.runtime-version.major": "12"}
    at(obj, box)["image"] = "nvidia/cuda:13.0.1-runtime-ubuntu24.04"
    return box + ("image",)


@near(newer_cuda)
def newer_driver(obj, pod, box):
    at(obj, pod)["nodeSelector"] = {
        "nvidia.com/cuda.runtime-version.major": "13"}


@defect("multi-node-without-fabric", "pod", "all")
def over_tcp(obj, pod):
    if anywhere(obj, pod) is None or "rdma/" in str(obj) or \
            "/efa" in str(obj) or "networks" in str(obj):
        return None
    spec = at(obj, ("spec", "tasks", 0, "template", "spec"))
    spec.pop("hostNetwork", None)
    spec.pop("resourceClaims", None)
    return ("spec", "tasks", 0, "template", "spec")


@near(over_tcp)
def over_efa(obj, pod):
    spec = at(obj, ("spec", "tasks", 0, "template", "spec"))
    spec["containers"][0]["resources"]["limits"]["vpc.amazonaws.com/efa"] = 4


@defect("gpu-budget", "container", "site")
def too_long(obj, pod, box):
    if obj["apiVersion"] != "batch/v1" or obj["kind"] != "Job" or \
            run(obj, pod, box, 8, "./a.out") is None or \
            obj["spec"].get("parallelism", 1) == 0:
        return None
    obj["spec"]["activeDeadlineSeconds"] = 8640000
    return ("spec", "activeDeadlineSeconds")


@near(too_long)
def an_hour(obj, pod, box):
    obj["spec"].update(activeDeadlineSeconds=60, parallelism=1)


@defect("kserve-multinode-gpu-mismatch", "object")
def too_few_for_the_sizes(obj):
    if obj["kind"] != "InferenceService" or \
            obj["apiVersion"] != "serving.kserve.io/v1beta1" or \
            not isinstance(obj["spec"].get("predictor"), dict):
        return None
    obj["metadata"]["annotations"] = {
        "serving.kserve.io/autoscalerClass": "none"}
    obj["spec"]["predictor"] = {
        "model": {"modelFormat": {"name": "huggingface"},
                  "storageUri": "pvc://models/m",
                  "resources": {"requests": {"nvidia.com/gpu": 1},
                                "limits": {"nvidia.com/gpu": 1}}},
        "workerSpec": {"tensorParallelSize": 8, "containers": [
            {"name": "worker-container", "resources": {
                "requests": {"nvidia.com/gpu": 4},
                "limits": {"nvidia.com/gpu": 4}}}]}}
    return ("spec", "predictor", "model", "resources")


@near(too_few_for_the_sizes)
def enough_for_the_sizes(obj):
    obj["spec"]["predictor"]["model"]["resources"] = {
        "requests": {"nvidia.com/gpu": 4}, "limits": {"nvidia.com/gpu": 4}}


CONFIG = {"apiVersion": "v1", "kind": "ConfigMap",
          "metadata": {"name": "sharing"}, "data": {
              "any": "sharing: {timeSlicing: {resources: "
                     "[{name: nvidia.com/gpus, replicas: 4}]}}"}}


@defect("device-plugin-config-invalid", "pod", "all", more=[CONFIG])
def shares_nothing(obj, pod):
    return ("more",) if alone(obj, pod) and one_container(obj, pod) else None
