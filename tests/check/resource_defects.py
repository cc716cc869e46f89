# SPDX-License-Identifier: Apache-2.0
"""Defects in device limits and shared memory, to be planted (see defects.py)."""
import json

from defects import (RAY, RUNTIMES, SERVE, SHM, TRAIN, clear, computing, count,
                     defect, figure, mount_shm, move, near, no_shm, nvidia,
                     runs_program, scope, volcano)
from pod_paths import at, devices


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
    if not name.endswith("/gpu"):  # several containers may share TPU chips
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
    """Turn the object into a Volcano gang with its pod as the tasks."""
    boxes = computing(obj, pod)
    if len(boxes) != 1 or not figure({"limits": at(
            obj, boxes[0] + ("resources", "limits"))}):
        return None
    at(obj, boxes[0] + ("resources",))["requests"] = {"cpu": 1}
    at(obj, boxes[0]).setdefault("image", "registry.example.com/train:1")
    volcano(obj, dict(at(obj, pod), restartPolicy="OnFailure"), 2)
    return ("spec", "tasks", 0, "template", "spec")


@defect("gpu-pod-besteffort", "pod")
def no_figures(obj, pod):
    """Remove the CPU and memory figures. Skip pods that mount buckets: GKE
    adds a sidecar with requests to them."""
    spec = at(obj, pod)
    if not computing(obj, pod) or obj["kind"] in RUNTIMES or \
            "gke-gcsfuse/volumes" in json.dumps(obj):
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
    # Presets and jobs of a runtime bring volumes.
    if obj["kind"] in RUNTIMES or obj["kind"] == "LLMInferenceService":
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


# --- virtual machines ---------------------------------------------------------

@defect("kubevirt-gpu-unassigned", "object")
def guest_without_device(obj):
    obj.clear()
    obj.update({
        "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance",
        "metadata": {},
        "spec": {"domain": {
            "devices": {"disks": [{"name": "root", "disk": {}}]},
            "resources": {"limits": {"memory": "64Gi", "nvidia.com/gpu": 1}}}}})
    return ("spec", "domain", "resources", "limits", "nvidia.com/gpu")


@near(guest_without_device)
def guest_with_device(obj):
    obj["spec"]["domain"]["devices"]["gpus"] = [
        {"name": "gpu", "deviceName": "nvidia.com/gpu"}]
