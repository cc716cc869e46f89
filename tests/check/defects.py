# SPDX-License-Identifier: Apache-2.0
"""Defects for planted_defects.py: how one is declared, and helpers that change
objects.

Each function changes a copy of an object at a place and returns the path that
a finding should point at, or None if the defect does not apply there. Whether
it applies follows from the API and the operators, never from the product's own
answer.
"""
import copy
import json

from pod_paths import at, devices, group_kind

ALL = []
RAY = {"RayCluster", "RayJob", "RayService"}  # `ray start` is their command
RUNTIMES = {"TrainingRuntime", "ClusterTrainingRuntime"}  # TrainJobs fill in their pods
TRAIN = {"image": "pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime",
         "command": ["torchrun", "--nproc_per_node=4", "train.py"]}
SERVE = {"image": "vllm/vllm-openai:v0.9.1",
         "args": ["--model", "meta-llama/Llama-3.1-8B-Instruct"]}
IMAGE = "registry.example.com/a:1"
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
    """Declare a defect. `on` is device, container, pod or object, and `more`
    has additional documents."""
    def add(change):
        ALL.append(Defect(rule, on, config, more, change))
        return ALL[-1]
    return add


def near(planted):
    """Declare edits that turn the planted defect into a near miss without a
    finding."""
    def add(change):
        planted.near = change
        return change
    return add


# --- helpers ------------------------------------------------------------------

def scope(path):
    """Return the path of the container with these `resources`."""
    return path[:-1] if path and path[-1] == "resources" else path


def move(box, **fields):
    """Run another program in a container, which keeps its name and its resources."""
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
    """Return the paths of the pod's containers that request a known number of
    accelerators."""
    return [pod + ("containers", i)
            for i, box in enumerate(at(obj, pod + ("containers",)) or [])
            if isinstance(box, dict) and figure(box.get("resources"))]


def runs_program(obj):
    """Return true if the containers run exactly the commands in the manifest."""
    return obj["kind"] not in RAY | RUNTIMES and \
        obj["kind"] != "LLMInferenceService"


def queued(obj):
    """Return true if a queue's flavors may add selectors, tolerations and quota."""
    return "kueue.x-k8s.io/" in json.dumps(obj)


def clear(obj, pod):
    """Remove all accelerators from the pod."""
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


def give(obj, box, number):
    """Give the container this number of whole GPUs; return false if it does
    not already request only nvidia.com/gpu."""
    resources = at(obj, box + ("resources",))
    if devices(resources) != ["nvidia.com/gpu"]:
        return False
    for part in ("limits", "requests"):
        if "nvidia.com/gpu" in (resources.get(part) or {}):
            resources[part]["nvidia.com/gpu"] = number
    return "nvidia.com/gpu" in (resources.get("limits") or {})


def alone(obj, pod):
    """Return true for a Deployment or a Pod, which no operator changes."""
    return group_kind(obj) in (("apps", "Deployment"), ("", "Pod"))


def run(obj, pod, box, number, *command):
    """Run the command with this number of GPUs in the pod's only computing container;
    return the path of the command, or None where it does not fit."""
    if computing(obj, pod) != [box] or not runs_program(obj) or \
            "resourceClaims" in at(obj, pod) or not give(obj, box, number):
        return None
    at(obj, box).pop("env", None)
    at(obj, box).pop("envFrom", None)
    move(at(obj, box), image=IMAGE, command=list(command))
    return box + ("command",)


def flag(obj, box, index, value):
    at(obj, box)["command"][index] = value


def one_container(obj, pod):
    """Return the pod's only computing container, with whole NVIDIA GPUs."""
    boxes = computing(obj, pod)
    return boxes[0] if len(boxes) == 1 and \
        nvidia(obj, boxes[0] + ("resources",)) else None
