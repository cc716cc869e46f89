# SPDX-License-Identifier: Apache-2.0
"""Defects in node selection, tolerations and priority, to be planted (see
defects.py)."""
import copy

from defects import (RUNTIMES, clear, computing, defect, give, near, nvidia,
                     one_container, queued)
from pod_paths import at, devices, group_kind

HOSTNAME = "kubernetes.io/hostname"


# --- nodes --------------------------------------------------------------------

@defect("gpu-toleration-missing", "pod", "platform")
def not_tolerated(obj, pod):
    boxes = computing(obj, pod)
    if queued(obj) or not any(nvidia(obj, b + ("resources",)) for b in boxes):
        return None
    at(obj, pod).pop("tolerations", None)
    return pod


@defect("gpu-node-selector-missing", "pod", "platform")
def any_node(obj, pod):
    boxes = computing(obj, pod)
    if queued(obj) or not any(nvidia(obj, b + ("resources",)) for b in boxes):
        return None
    for key in ("nodeSelector", "affinity", "nodeName"):
        at(obj, pod).pop(key, None)
    return pod


@defect("gpu-product-label-unknown", "pod")
def no_such_product(obj, pod):
    if not any(nvidia(obj, b + ("resources",)) for b in computing(obj, pod)):
        return None
    at(obj, pod).pop("affinity", None)
    at(obj, pod)["nodeSelector"] = {
        "cloud.google.com/gke-accelerator": "nvidia-h1000"}
    return pod + ("nodeSelector",)


@defect("mig-profile-invalid", "device")
def no_such_slice(obj, path):
    resources = at(obj, path)
    if not isinstance(resources.get("limits"), dict):
        return None
    for part in ("limits", "requests"):
        for name in devices(resources):
            (resources.get(part) or {}).pop(name, None)
    resources["limits"]["nvidia.com/mig-9g.99gb"] = 1
    return path


@defect("selector-resource-contradiction", "pod")
def amd_on_nvidia(obj, pod):
    boxes = computing(obj, pod)
    if len(boxes) != 1 or not nvidia(obj, boxes[0] + ("resources",)):
        return None
    at(obj, pod).pop("affinity", None)
    at(obj, pod)["nodeSelector"] = {
        "cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice",
        "cloud.google.com/gke-tpu-topology": "2x4"}
    return pod


@defect("cpu-pod-selects-gpu-node", "pod")
def idle_on_gpu_node(obj, pod):
    """Skip runtimes: the devices of their pods are in the jobs that use them."""
    spec = at(obj, pod)
    if len(spec["containers"]) != 1 or not computing(obj, pod) or \
            obj["kind"] in RUNTIMES:
        return None
    clear(obj, pod)
    spec.pop("affinity", None)
    spec.pop("tolerations", None)
    spec.pop("runtimeClassName", None)
    spec["containers"][0] = {
        "name": spec["containers"][0].get("name", "a"),
        "image": "busybox:1.36", "command": ["sh", "-c", "tar xf /data.tar"]}
    spec["nodeSelector"] = {"nvidia.com/gpu.present": "true"}
    return pod


@defect("cpu-pod-tolerates-gpu-taint", "pod")
def left_over_toleration(obj, pod):
    """Skip runtimes: the devices of their pods are in the jobs that use them."""
    spec = at(obj, pod)
    if len(spec["containers"]) != 1 or not computing(obj, pod) or \
            obj["kind"] in RUNTIMES:
        return None
    clear(obj, pod)
    for key in ("affinity", "nodeSelector", "runtimeClassName"):
        spec.pop(key, None)
    spec["containers"][0] = {
        "name": spec["containers"][0].get("name", "a"),
        "image": "busybox:1.36", "command": ["sh", "-c", "tar xf /data.tar"]}
    spec["tolerations"] = [{"key": "nvidia.com/gpu", "operator": "Exists",
                            "effect": "NoSchedule"}]
    return pod


@defect("node-selector-unmatched", "pod", "cluster")
def no_such_node(obj, pod):
    if queued(obj) or not any(nvidia(obj, b + ("resources",)) for b in computing(obj, pod)):
        return None
    at(obj, pod).pop("affinity", None)
    at(obj, pod)["nodeSelector"] = {"example.com/pool": "not-there"}
    return pod

# --- priority -----------------------------------------------------------------

@defect("priority-class-missing", "pod", "platform")
def no_class(obj, pod):
    """Leave KAI's pods out: KAI gives them a default priority class."""
    if not computing(obj, pod) or \
            at(obj, pod).get("schedulerName") == "kai-scheduler":
        return None
    for path in ((), ("spec",)):
        at(obj, path).pop("priorityClassName", None)
    policy = at(obj, ("spec", "runPolicy", "schedulingPolicy")) or {}
    policy.pop("priorityClass", None)
    at(obj, pod).pop("priorityClassName", None)
    at(obj, pod).pop("priority", None)
    return pod


@defect("priority-class-unknown", "pod", "cluster")
def no_such_class(obj, pod):
    if not computing(obj, pod):
        return None
    at(obj, pod)["priorityClassName"] = "planted-not-there"
    return pod + ("priorityClassName",)


@defect("priority-class-system-reserved", "pod")
def as_the_system(obj, pod):
    if not computing(obj, pod) or \
            at(obj, ("metadata", "namespace")) == "kube-system":
        return None
    at(obj, pod)["priorityClassName"] = "system-node-critical"
    return pod + ("priorityClassName",)


@defect("priority-integer-set", "pod")
def a_number(obj, pod):
    at(obj, pod).pop("priorityClassName", None)
    at(obj, pod)["priority"] = 1000
    return pod + ("priority",)

# --- scheduling ---------------------------------------------------------------

@defect("mig-multiple-in-container", "device", "all")
def two_slices(obj, path):
    """Skip kinds of Ray, which starts a process for each slice."""
    resources = at(obj, path)
    if group_kind(obj)[0] == "ray.io" or devices(resources) != ["nvidia.com/gpu"] or \
            "nvidia.com/gpu" not in (resources.get("limits") or {}):
        return None
    resources["limits"] = {"nvidia.com/mig-1g.10gb": 2}
    resources.pop("requests", None)
    return path + ("limits",)


@near(two_slices)
def one_slice(obj, path):
    at(obj, path)["limits"] = {"nvidia.com/mig-1g.10gb": 1}


@defect("node-name-pinned", "pod", "all")
def by_name(obj, pod):
    if not computing(obj, pod):
        return None
    at(obj, pod).pop("affinity", None)
    at(obj, pod)["nodeSelector"] = {HOSTNAME: "gpu-7"}
    return pod + ("nodeSelector", HOSTNAME)


@near(by_name)
def by_product(obj, pod):
    at(obj, pod)["nodeSelector"] = {"nvidia.com/gpu.product": "NVIDIA-L4"}


@defect("deprecated-gpu-labels", "pod", "all")
def old_label(obj, pod):
    if not computing(obj, pod):
        return None
    at(obj, pod).pop("affinity", None)
    at(obj, pod)["nodeSelector"] = {"nvidia.com/cuda.driver.major": "550"}
    return pod + ("nodeSelector", "nvidia.com/cuda.driver.major")


@near(old_label)
def new_label(obj, pod):
    at(obj, pod)["nodeSelector"] = {
        "nvidia.com/cuda.driver-version.major": "550"}


@defect("tpu-selector-incomplete", "pod")
def half_a_slice(obj, pod):
    text = str(computing(obj, pod) and at(obj, pod))
    if "google.com/tpu" not in text or "kueue" in str(obj["metadata"]):
        return None
    (at(obj, pod[:-1]).get("metadata") or {}).pop("annotations", None)
    at(obj, pod).pop("affinity", None)
    at(obj, pod)["nodeSelector"] = {
        "cloud.google.com/gke-tpu-topology": "2x4"}
    return pod + ("nodeSelector",)


@near(half_a_slice)
def a_slice(obj, pod):
    at(obj, pod)["nodeSelector"]["cloud.google.com/gke-tpu-accelerator"] = \
        "tpu-v5-lite-podslice"


@defect("anti-affinity-wastes-gpus", "pod", "all")
def node_for_each(obj, pod):
    box = one_container(obj, pod)
    if obj["kind"] not in ("Deployment", "StatefulSet") or not box or \
            not give(obj, box, 1):
        return None
    labels = (at(obj, pod[:-1]).get("metadata") or {}).get("labels")
    if not labels:
        return None
    obj["spec"]["replicas"] = 4
    at(obj, pod)["affinity"] = {"podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{
            "labelSelector": {"matchLabels": copy.deepcopy(labels)},
            "topologyKey": HOSTNAME}]}}
    return pod + ("affinity",)


@near(node_for_each)
def zone_for_each(obj, pod):
    term = at(obj, pod + ("affinity", "podAntiAffinity",
                          "requiredDuringSchedulingIgnoredDuringExecution", 0))
    term["topologyKey"] = "topology.kubernetes.io/zone"


# --- device classes -----------------------------------------------------------------

TINY = "planted.example.com/gpu"
CLASSES = [{"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass",
            "metadata": {"name": name},
            "spec": {"extendedResourceName": TINY, "selectors": [
                {"cel": {"expression": "device.driver == 'gpu.nvidia.com'"}}]}}
           for name in ("planted-a", "planted-b")]


def request(obj, box, name):
    resources = at(obj, box + ("resources",))
    resources.clear()
    resources["limits"] = {name: 1}


@defect("dra-resource-ambiguous", "pod", more=CLASSES)
def of_two_classes(obj, pod):
    """Request the resource of two classes in a Deployment or a Job."""
    box = one_container(obj, pod)
    if group_kind(obj) not in {("apps", "Deployment"), ("batch", "Job")} or \
            not box or "name" not in obj["metadata"]:
        return None
    request(obj, box, TINY)
    return ("metadata", "name")


@near(of_two_classes)
def by_class(obj, pod):
    request(obj, one_container_of(obj, pod), "deviceclass.resource.kubernetes.io/planted-a")


def one_container_of(obj, pod):
    for i, box in enumerate(at(obj, pod + ("containers",))):
        if TINY in str(box.get("resources")):
            return pod + ("containers", i)
    return None


# --- claims -----------------------------------------------------------------------

@defect("claim-in-other-namespace", "pod", more=[
    {"apiVersion": "v1", "kind": "PersistentVolumeClaim",
     "metadata": {"name": "planted", "namespace": "planted-there"},
     "spec": {"accessModes": ["ReadWriteMany"],
              "resources": {"requests": {"storage": "1Gi"}}}}])
def claim_elsewhere(obj, pod):
    if not one_container(obj, pod) or obj["kind"] in RUNTIMES:
        return None
    obj["metadata"]["namespace"] = "planted-here"
    volumes = at(obj, pod).setdefault("volumes", [])
    volumes.append({"name": "planted", "persistentVolumeClaim": {"claimName": "planted"}})
    return pod + ("volumes", len(volumes) - 1, "persistentVolumeClaim", "claimName")


@near(claim_elsewhere)
def claim_beside(obj, pod):
    obj["metadata"]["namespace"] = "planted-there"
