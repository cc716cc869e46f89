# SPDX-License-Identifier: Apache-2.0
"""Single objects for conditions.py: those that the API server must send to the
webhook, and those that it must not."""

def pod(**spec):
    box = {"name": "main", "image": "registry.example.com/team/app:1"}
    box.update(spec.pop("box", {}))
    annotations = spec.pop("annotations", None)
    labels = spec.pop("labels", None)
    meta = {"annotations": annotations} if annotations else {}
    if labels:
        meta["labels"] = labels
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta,
            "spec": dict({"containers": [box],
                          "automountServiceAccountToken": False}, **spec)}


def env(name, value="x"):
    return {"env": [{"name": name, "value": value}]}


def limits(**what):
    return {"resources": {"limits": what}}


def affinity(key):
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [
            {"key": key, "operator": "Exists"}]}]}}}


def deployment(p):
    labels = {"app": "x"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {},
            "spec": {"selector": {"matchLabels": labels},
                     "template": {"metadata": dict(p["metadata"],
                                                   labels=labels),
                                  "spec": p["spec"]}}}


def cron(p):
    spec = dict(p["spec"], restartPolicy="Never")
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {},
            "spec": {"schedule": "0 0 * * *", "jobTemplate": {"spec": {
                "template": {"metadata": p["metadata"], "spec": spec}}}}}


def claim(kind="ResourceClaim"):
    spec = {"devices": {"requests": [{
        "name": "g", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]}}
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {},
            "spec": spec if kind == "ResourceClaim" else {"spec": spec}}


GPU = {"resources": {"limits": {"nvidia.com/gpu": 1}}}
COMES = {
    "a GPU": pod(box=GPU),
    "a GPU in requests alone": pod(
        box={"resources": {"requests": {"nvidia.com/gpu": 1}}}),
    "a name of the site's own": pod(box=limits(**{"example.com/gpu": 1})),
    "a misspelled name": pod(box=limits(**{"nvidia.com/gpus": 1})),
    "a GPU in an init container": pod(
        initContainers=[dict({"name": "i", "image": "i"}, **GPU)]),
    "a DRA claim": pod(resourceClaims=[
        {"name": "g", "resourceClaimTemplateName": "g"}]),
    "a share by annotation": pod(annotations={"gpu-fraction": "0.5"}),
    "our annotation": pod(annotations={"gpugate.dev/ignore": "all"}),
    "CDI by hand": pod(annotations={"cdi.k8s.io/x": "nvidia.com/gpu=0"}),
    "CDI by the toolkit": pod(annotations={
        "nvidia.cdi.k8s.io/container.main": "management.nvidia.com/gpu=all"}),
    "NRI": pod(annotations={"devices.nri.io/pod": "- path: /dev/x"}),
    "mounts by NRI": pod(annotations={"mounts.nri.io": "- source: /dev"}),
    "NVIDIA_VISIBLE_DEVICES": pod(box=env("NVIDIA_VISIBLE_DEVICES", "all")),
    "ROCR_VISIBLE_DEVICES": pod(box=env("ROCR_VISIBLE_DEVICES", "0")),
    "a device of the host": pod(
        volumes=[{"name": "d", "hostPath": {"path": "//dev/nvidia0"}}]),
    "a runtime class": pod(runtimeClassName="nvidia"),
    "a node label": pod(nodeSelector={"nvidia.com/gpu.present": "true"}),
    "a label by affinity": pod(affinity=affinity("cloud.google.com/gke-gpu")),
    "a taint of GPU nodes": pod(
        tolerations=[{"key": "nvidia.com/gpu", "operator": "Exists"}]),
    "every taint": pod(tolerations=[{"operator": "Exists"}]),
    "a GPU image": pod(box={"image": "nvcr.io/nvidia/pytorch:24.08-py3"}),
    "an image in capitals": pod(box={"image": "example.com/x:CUDA12"}),
    "a program": pod(box={"command": ["nvidia-smi"]}),
    "a flag": pod(box={"args": ["--tensor-parallel-size", "4"]}),
    "a Deployment": deployment(pod(box=GPU)),
    "a CronJob": cron(pod(box=GPU)),
    "a claim": claim(),
    "a template of claims": claim("ResourceClaimTemplate"),
    # Too much for a condition: they are sent because of their size.
    "thousands of variables": pod(
        box={"env": [{"name": "V%d" % i, "value": "x"}
                     for i in range(8000)]}),
    "a megabyte of script": pod(box={"command": ["sh", "-c", "x" * 1000000]}),
    "hundreds of words": pod(box={"args": ["x" * 500] * 2000}),
    "hundreds of containers": pod(initContainers=[
        {"name": "i%d" % i, "image": "x" * 200,
         "args": ["y" * 500] * 30} for i in range(100)]),
    "a very long image": pod(box={"image": "x" * 500000}),
    "thousands of tolerations": pod(tolerations=[
        {"key": "node.kubernetes.io/t%d" % i, "operator": "Exists"}
        for i in range(4000)]),
    "thousands of node labels": pod(nodeSelector={
        "kubernetes.io/l%d" % i: "x" for i in range(4000)}),
}
# Every part at the size limit of the conditions, and a word that needs a GPU in
# the last place that they check.
COMES["all sizes at their limit"] = pod(
    annotations={"example.com/" + "a" * 200 + str(i): "x" for i in range(60)},
    nodeSelector={"kubernetes.io/l%d" % i: "x" for i in range(32)},
    tolerations=[{"key": "node.kubernetes.io/t%d" % i, "operator": "Exists"}
                 for i in range(64)],
    initContainers=[
        {"name": "i%d" % i, "image": "x" * 250,
         "env": [{"name": "V" * 120 + str(j), "value": "x"}
                 for j in range(64)],
         "args": ["y" * 512] * 32} for i in range(7)],
    box={"image": "x" * 250, "args": ["y" * 512] * 31 + ["nvidia-smi"]})

PASSES = {
    "an ordinary Pod": pod(box={
        "image": "nginx:1.27", "args": ["--listen=http://0.0.0.0:80"],
        "env": [{"name": "LANG", "value": "C"}],
        "resources": {"requests": {"cpu": "1", "memory": "1Gi"},
                      "limits": {"memory": "1Gi",
                                 "ephemeral-storage": "1Gi"}}}),
    "kubernetes.io/os": pod(nodeSelector={"kubernetes.io/os": "linux"}),
    "zones by affinity": pod(affinity=affinity("topology.kubernetes.io/zone")),
    "a node that is not ready": pod(tolerations=[
        {"key": "node.kubernetes.io/not-ready", "operator": "Exists",
         "effect": "NoExecute", "tolerationSeconds": 300}]),
    "an emptyDir": pod(volumes=[{"name": "e", "emptyDir": {}}]),
    "a Deployment without GPUs": deployment(pod(box={"image": "nginx:1.27"})),
    "a CronJob without GPUs": cron(pod(box={"image": "nginx:1.27"})),
}
