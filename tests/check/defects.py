# SPDX-License-Identifier: Apache-2.0
"""One way to break a GPU object for each rule of the six families.

Each function changes a copy of an object at a place and returns the path that
a finding should point at, or None where the defect does not fit: where it
would be none, or another one. The conditions on the object are decided here,
by the API's and the operators' meaning, never by asking the product.
"""
import copy
import json

from places import at, devices, group_kind

ALL = []
RAY = {"RayCluster", "RayJob", "RayService"}  # `ray start` is their command
RUNTIMES = {"TrainingRuntime", "ClusterTrainingRuntime"}  # jobs fill them in
TRAIN = {"image": "pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime",
         "command": ["torchrun", "--nproc_per_node=4", "train.py"]}
SERVE = {"image": "vllm/vllm-openai:v0.9.1",
         "args": ["--model", "meta-llama/Llama-3.1-8B-Instruct"]}
SHM = "/dev/shm"
KUBEFLOW = {"PyTorchJob", "TFJob", "PaddleJob", "XGBoostJob", "JAXJob"}
GPU_TAINTS = ("nvidia.com/gpu", "amd.com/gpu", "google.com/tpu")


class Defect:
    def __init__(self, rule, on, config, more, change):
        self.rule, self.on, self.config = rule, on, config
        self.more, self.change, self.near = more, change, None

    def __call__(self, *place):
        return self.change(*place)


def defect(rule, on, config="plain", more=()):
    """on: device | container | pod | object; more: documents beside it."""
    def add(change):
        ALL.append(Defect(rule, on, config, more, change))
        return ALL[-1]
    return add


def near(planted):
    """Edits that turn the planted defect into a near miss without a
    finding."""
    def add(change):
        planted.near = change
        return change
    return add


# --- helpers ------------------------------------------------------------------

def scope(path):
    """The container whose resources these are."""
    return path[:-1] if path and path[-1] == "resources" else path


def move(box, **fields):
    """Another program for a container, which keeps its name and figures."""
    for key in ("command", "args", "livenessProbe", "readinessProbe",
                "startupProbe", "lifecycle", "workingDir"):
        box.pop(key, None)
    box.update(copy.deepcopy(fields))


def figure(resources):
    """Return the number of accelerators that a `resources` map requests, if
    known."""
    for name in devices(resources):
        for part in ("limits", "requests"):
            number = count((resources.get(part) or {}).get(name))
            if number is not None:
                return number
    return None


def count(value):
    try:
        return int(str(value))
    except ValueError:
        return None


def computing(obj, pod):
    """Containers of a pod with a number of accelerators: their paths."""
    return [pod + ("containers", i)
            for i, box in enumerate(at(obj, pod + ("containers",)) or [])
            if isinstance(box, dict) and figure(box.get("resources"))]


def runs_program(obj):
    """True if the containers run exactly the command that they name."""
    return obj["kind"] not in RAY | RUNTIMES and \
        obj["kind"] != "LLMInferenceService"


def queued(obj):
    """A queue's flavors may add selectors, tolerations and quota."""
    return "kueue.x-k8s.io/" in json.dumps(obj)


def clear(obj, pod):
    """No accelerator in the pod any more."""
    for name in ("containers", "initContainers"):
        for box in at(obj, pod + (name,)) or []:
            resources = box.get("resources") or {}
            for part in ("limits", "requests"):
                for name_ in devices(resources):
                    (resources.get(part) or {}).pop(name_, None)


def no_shm(obj, pod):
    spec = at(obj, pod)
    gone = set()
    for name in ("containers", "initContainers"):
        for box in spec.get(name) or []:
            mounts = box.get("volumeMounts") or []
            gone |= {m.get("name") for m in mounts
                     if m.get("mountPath", "").rstrip("/") == SHM}
            box["volumeMounts"] = [m for m in mounts
                                   if m.get("name") not in gone]
    spec["volumes"] = [
        v for v in spec.get("volumes") or [] if v.get("name") not in gone
        and (v.get("emptyDir") or {}).get("medium") != "Memory"
        and (v.get("hostPath") or {}).get("path", "").rstrip("/") != SHM]
    spec.pop("hostIPC", None)


def mount_shm(obj, pod, box, volume):
    no_shm(obj, pod)
    at(obj, box)["volumeMounts"].append({"name": "planted", "mountPath": SHM})
    spec = at(obj, pod)
    spec["volumes"].append({"name": "planted", **copy.deepcopy(volume)})
    return pod + ("volumes", len(spec["volumes"]) - 1)


def volcano(obj, spec, number):
    obj.clear()
    obj.update({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
                "metadata": {}, "spec": {
                    "minAvailable": number, "schedulerName": "volcano",
                    "tasks": [{"name": "worker", "replicas": number,
                               "template": {"spec": spec}}]}})


def nvidia(obj, path):
    return "nvidia.com/gpu" in devices(at(obj, path))


# --- limits -------------------------------------------------------------------

@defect("gpu-resource-name-unknown", "device")
def misspelled(obj, path):
    resources = at(obj, path)
    known = [n for n in devices(resources)
             if n in ("nvidia.com/gpu", "amd.com/gpu")]
    if not known:
        return None
    for part in ("limits", "requests"):
        figures = resources.get(part) or {}
        if known[0] in figures:
            figures[known[0] + "s"] = figures.pop(known[0])
            where = path + (part, known[0] + "s")
    return scope(path) if "requests" in where else where


@defect("gpu-fractional-quantity", "device")
def half(obj, path):
    resources = at(obj, path)
    name = devices(resources)[0]
    for part in ("limits", "requests"):
        if name in (resources.get(part) or {}):
            resources[part][name] = "0.5"
    return path


@defect("gpu-request-without-limit", "device")
def requested(obj, path):
    resources = at(obj, path)
    if not isinstance(resources.get("limits"), dict):
        return None
    name = devices(resources)[0]
    number = resources["limits"].pop(name, None)
    if not count(number):
        return None
    resources.setdefault("requests", {})[name] = number
    return path


@defect("gpu-request-without-limit", "device")
def requested_fabric(obj, path):
    resources = at(obj, path)
    if not isinstance(resources.get("limits"), dict):
        return None
    move(resources.setdefault("requests", {}), **{"rdma/hca": 1})
    resources["limits"].pop("rdma/hca", None)
    return path


@near(requested_fabric)
def limited_fabric(obj, path):
    at(obj, path)["limits"]["rdma/hca"] = 1


@defect("gpu-request-limit-mismatch", "device")
def unequal(obj, path):
    resources = at(obj, path)
    name = devices(resources)[0]
    number = count((resources.get("limits") or {}).get(name))
    if not number:
        return None
    resources.setdefault("requests", {})[name] = number + 1
    return path


@defect("gpu-mixed-vendors", "device")
def two_vendors(obj, path):
    resources = at(obj, path)
    other = "amd.com/gpu" if nvidia(obj, path) else "nvidia.com/gpu"
    if other in devices(resources) or not count(
            (resources.get("limits") or {}).get(devices(resources)[0])):
        return None
    resources["limits"][other] = 1
    return path


@defect("gpu-count-exceeds-node", "device")
def too_many(obj, path):
    resources = at(obj, path)
    if not nvidia(obj, path):
        return None
    for part in ("limits", "requests"):
        if "nvidia.com/gpu" in (resources.get(part) or {}):
            resources[part]["nvidia.com/gpu"] = 64
    return path


@defect("gpu-hugepages-incomplete", "device")
def odd_pages(obj, path):
    at(obj, path).setdefault("limits", {})["hugepages-2Mi"] = "3Mi"
    return path


@defect("gpu-limit-zero", "device")
def zero(obj, path):
    resources = at(obj, path)
    if not nvidia(obj, path) or figure(resources) is None:
        return None
    for part in ("limits", "requests"):
        if "nvidia.com/gpu" in (resources.get(part) or {}):
            resources[part]["nvidia.com/gpu"] = 0
    return path if "nvidia.com/gpu" in (resources.get("limits") or {}) \
        else None


@defect("gpu-limit-missing", "container")
def server_without(obj, pod, box):
    if computing(obj, pod) != [box] or not runs_program(obj):
        return None
    clear(obj, pod)
    move(at(obj, box), **SERVE)
    at(obj, box)["args"] = SERVE["args"] + ["--tensor-parallel-size=4"]
    at(obj, box).pop("env", None)
    return box


@defect("gpu-limit-missing", "container")
def on_gpu_nodes(obj, pod, box):
    if computing(obj, pod) != [box] or not runs_program(obj):
        return None
    clear(obj, pod)
    move(at(obj, box), **TRAIN)
    at(obj, box).pop("env", None)
    at(obj, pod).pop("affinity", None)
    at(obj, pod)["nodeSelector"] = {
        "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"}
    return box


@defect("gpu-pod-level-resource", "pod")
def of_the_pod(obj, pod):
    if not computing(obj, pod):
        return None
    at(obj, pod)["resources"] = {"limits": {"nvidia.com/gpu": 1}}
    return pod + ("resources",)


@defect("gpu-multi-container", "pod")
def second_container(obj, pod):
    if len(computing(obj, pod)) != 1:
        return None
    name = devices(at(obj, computing(obj, pod)[0] + ("resources",)))[0]
    if not name.endswith("/gpu"):  # TPU chips may be parted
        return None
    boxes = at(obj, pod + ("containers",))
    boxes.append({"name": "planted", "image": "registry.example.com/a:1",
                  "resources": {"limits": {name: 1}}})
    return pod + ("containers", len(boxes) - 1)


@defect("gpu-in-init-container", "pod")
def more_at_first(obj, pod):
    boxes = computing(obj, pod)
    if len(boxes) != 1:
        return None
    resources = at(obj, boxes[0] + ("resources",))
    name = devices(resources)[0]
    number = count((resources.get("limits") or {}).get(name))
    spec = at(obj, pod)
    if number is None or spec.get("initContainers"):
        return None
    spec["initContainers"] = [{
        "name": "planted", "image": "registry.example.com/a:1",
        "resources": {"limits": {name: number + 1}}}]
    return pod + ("initContainers", 0)


@defect("gpu-request-implicit-in-template", "pod")
def only_limits(obj, pod):
    """Any pod of any object as the tasks of a Volcano gang."""
    boxes = computing(obj, pod)
    if len(boxes) != 1 or not figure({"limits": at(
            obj, boxes[0] + ("resources", "limits"))}):
        return None
    at(obj, boxes[0] + ("resources",))["requests"] = {"cpu": 1}
    volcano(obj, dict(at(obj, pod), restartPolicy="OnFailure"), 2)
    return ("spec", "tasks", 0, "template", "spec")


@defect("gpu-pod-besteffort", "pod")
def no_figures(obj, pod):
    spec = at(obj, pod)
    if not computing(obj, pod) or obj["kind"] in RUNTIMES:
        return None
    spec.pop("resources", None)
    for name in ("containers", "initContainers"):
        for box in spec.get(name) or []:
            for part in ("limits", "requests"):
                figures = (box.get("resources") or {}).get(part) or {}
                for key in ("cpu", "memory"):
                    figures.pop(key, None)
    return pod + ("containers",)


@defect("gpu-memory-limit-missing", "container")
def no_memory_limit(obj, pod, box):
    if box not in computing(obj, pod) or "resources" in at(obj, pod) \
            or obj["kind"] in RUNTIMES:
        return None
    resources = at(obj, box + ("resources",))
    if not isinstance(resources.get("limits"), dict):
        return None
    resources["limits"].pop("memory", None)
    resources["requests"] = {"cpu": 4, "memory": "16Gi", **{
        n: resources["limits"][n] for n in devices(resources)
        if n in resources["limits"]}}
    return box


@defect("gpu-ephemeral-storage", "container")
def downloads(obj, pod, box):
    if box not in computing(obj, pod) or not runs_program(obj):
        return None
    move(at(obj, box), **SERVE)
    at(obj, box).pop("volumeMounts", None)
    at(obj, box).pop("env", None)
    at(obj, box).pop("envFrom", None)
    for part in ("limits", "requests"):
        figures = at(obj, box + ("resources", part)) or {}
        figures.pop("ephemeral-storage", None)
    return box


# --- shared memory --------------------------------------------------------------

@defect("shm-mount-invalid", "container")
def no_volume(obj, pod, box):
    if obj["kind"] == "LLMInferenceService":  # presets bring volumes
        return None
    if obj["kind"] in RAY and box[-1] == 0:  # KubeRay drops such mounts
        return None
    no_shm(obj, pod)
    at(obj, box)["volumeMounts"].append(
        {"name": "planted-not-there", "mountPath": SHM})
    return box + ("volumeMounts", len(at(obj, box)["volumeMounts"]) - 1)


@defect("shm-not-memory-backed", "container")
def a_disk(obj, pod, box):
    if box not in computing(obj, pod):
        return None
    return mount_shm(obj, pod, box, {"emptyDir": {}})


@defect("shm-hostpath", "container")
def the_nodes(obj, pod, box):
    if box not in computing(obj, pod):
        return None
    return mount_shm(obj, pod, box, {"hostPath": {"path": SHM}})


@defect("shm-too-small", "container")
def tiny(obj, pod, box):
    if box not in computing(obj, pod):
        return None
    move(at(obj, box), **TRAIN)
    return mount_shm(obj, pod, box, {
        "emptyDir": {"medium": "Memory", "sizeLimit": "32Mi"}})


@defect("shm-size-exceeds-memory-limit", "container")
def larger_than_memory(obj, pod, box):
    if box not in computing(obj, pod) or \
            not isinstance(at(obj, box + ("resources", "limits")), dict):
        return None
    resources = at(obj, box + ("resources",))
    resources["limits"]["memory"] = "16Gi"
    (resources.get("requests") or {}).pop("memory", None)
    return mount_shm(obj, pod, box, {
        "emptyDir": {"medium": "Memory", "sizeLimit": "32Gi"}})


@defect("shm-missing", "container")
def four_without(obj, pod, box):
    names = devices(at(obj, box + ("resources",)))
    if box not in computing(obj, pod) or names != ["nvidia.com/gpu"] \
            or not runs_program(obj):
        return None
    no_shm(obj, pod)
    move(at(obj, box), **TRAIN)
    for part in ("limits", "requests"):
        figures = at(obj, box + ("resources", part)) or {}
        if names[0] in figures:
            figures[names[0]] = 4
    return box


@defect("shm-volume-unmounted", "container")
def not_mounted(obj, pod, box):
    if box not in computing(obj, pod) or not runs_program(obj):
        return None
    no_shm(obj, pod)
    spec = at(obj, pod)
    spec["volumes"].append({"name": "dshm", "emptyDir": {
        "medium": "Memory", "sizeLimit": "1Gi"}})
    return pod


@defect("hostipc-instead-of-shm", "pod")
def host_ipc(obj, pod):
    if not computing(obj, pod):
        return None
    no_shm(obj, pod)
    at(obj, pod)["hostIPC"] = True
    return pod + ("hostIPC",)


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
    spec = at(obj, pod)
    if len(spec["containers"]) != 1 or not computing(obj, pod):
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
    spec = at(obj, pod)
    if len(spec["containers"]) != 1 or not computing(obj, pod):
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
    if not computing(obj, pod):
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
