# SPDX-License-Identifier: Apache-2.0
"""Defects to be planted (see defects.py): numbers of processes, shards and ranks,
Ray's worker groups, and undefined variables."""
import json

from defects import (alone, computing, defect, flag, give, move, near, run)
from pod_paths import at, group_kind


# --- parallelism --------------------------------------------------------------

@defect("tensor-parallel-exceeds-gpus", "container")
def too_many_shards(obj, pod, box):
    return run(obj, pod, box, 2, "vllm", "serve", "m", "-tp", "8") \
        if alone(obj, pod) else None


@near(too_many_shards)
def as_many_shards(obj, pod, box):
    give(obj, box, 8)


@defect("tensor-parallel-below-gpus", "container", "all")
def too_few_shards(obj, pod, box):
    return run(obj, pod, box, 4, "vllm", "serve", "m")


@near(too_few_shards)
def four_copies(obj, pod, box):
    at(obj, box)["command"] += ["-dp", "4"]


@defect("nproc-mismatch", "container", "all")
def too_many_processes(obj, pod, box):
    return run(obj, pod, box, 2, "torchrun", "--nproc-per-node=8", "train.py")


@near(too_many_processes)
def counted_processes(obj, pod, box):
    flag(obj, box, 1, "--nproc-per-node=gpu")


@defect("nproc-mismatch", "container", "all")
def hidden_devices(obj, pod, box):
    path = run(obj, pod, box, 8, "torchrun", "--nproc-per-node=8", "train.py")
    at(obj, box)["env"] = [{"name": "CUDA_VISIBLE_DEVICES", "value": "0,1"}]
    return path


@near(hidden_devices)
def all_devices(obj, pod, box):
    at(obj, box)["env"][0]["value"] = "0,1,2,3,4,5,6,7"


@defect("gpu-not-power-of-two-tp", "container", "all")
def three_shards(obj, pod, box):
    return run(obj, pod, box, 3, "lmdeploy", "serve", "api_server", "m",
               "--tp", "3")


@near(three_shards)
def four_shards(obj, pod, box):
    flag(obj, box, 5, "4")


@defect("nnodes-mismatch", "container")
def too_many_nodes(obj, pod, box):
    if obj["kind"] != "PyTorchJob" or "elasticPolicy" in obj["spec"]:
        return None
    return run(obj, pod, box, 2, "torchrun", "--nnodes=512", "train.py")


@near(too_many_nodes)
def from_one_on(obj, pod, box):
    flag(obj, box, 1, "--nnodes=1:512")


@defect("nnodes-mismatch", "container")
def past_the_policy(obj, pod, box):
    if obj["kind"] != "PyTorchJob" or "Worker" not in pod:
        return None
    obj["spec"]["elasticPolicy"] = {"minReplicas": 1, "maxReplicas": 256}
    return run(obj, pod, box, 2, "torchrun", "--nnodes=512", "train.py")


@near(past_the_policy)
def within_the_policy(obj, pod, box):
    obj["spec"]["elasticPolicy"]["maxReplicas"] = 512


@defect("world-size-exceeds-pods", "container")
def one_pod_at_once(obj, pod, box):
    if group_kind(obj) != ("batch", "Job"):
        return None
    path = run(obj, pod, box, 1, "python", "train.py")
    if path:
        obj["spec"].update(parallelism=4, completions=1)
        at(obj, box)["env"] = [{"name": "WORLD_SIZE", "value": "4"}]
    return path and ("spec", "completions")


@near(one_pod_at_once)
def all_pods_at_once(obj, pod, box):
    obj["spec"]["completions"] = 4


@defect("pytorchjob-nproc-auto-world-size", "container", "all")
def one_process(obj, pod, box):
    if obj["kind"] != "PyTorchJob" or at(obj, box).get("name") != "pytorch":
        return None
    return run(obj, pod, box, 4, "python", "train.py")


@near(one_process)
def one_gpu(obj, pod, box):
    give(obj, box, 1)


@defect("operator-env-overridden", "container", "all")
def own_world_size(obj, pod, box):
    if obj["kind"] != "PyTorchJob" or "elasticPolicy" in obj["spec"] or \
            "Master" not in obj["spec"]["pytorchReplicaSpecs"]:
        return None
    at(obj, box)["env"] = [{"name": "WORLD_SIZE", "value": "2"}]
    return box + ("env", 0)


@near(own_world_size)
def own_size(obj, pod, box):
    at(obj, box)["env"][0]["name"] = "WORLD"


@defect("thread-oversubscription", "container", "all")
def unbound(obj, pod, box):
    where = run(obj, pod, box, 4, "mpirun", "-npernode", "4", "--bind-to",
                "none", "./a.out")
    for part in ("limits", "requests"):
        (at(obj, box + ("resources", part)) or {}).pop("cpu", None)
    return where


@near(unbound)
def bound(obj, pod, box):
    flag(obj, box, 4, "core")


@defect("mpi-slots-mismatch", "container")
def too_many_ranks(obj, pod, box):
    if obj["kind"] != "MPIJob" or "Launcher" not in pod or \
            obj["spec"].get("mpiImplementation", "OpenMPI") != "OpenMPI" or \
            "v1alpha1" in obj["apiVersion"]:
        return None
    move(at(obj, box), command=["mpirun", "-np", "4096", "./a.out"])
    return box + ("command",)


@near(too_many_ranks)
def over_the_slots(obj, pod, box):
    at(obj, box)["command"].insert(1, "--oversubscribe")


def worker_groups(obj, pod):
    """Give the first container of a Ray worker 4 GPUs. Return the path of its
    group, or None if that is impossible."""
    if group_kind(obj)[0] != "ray.io" or "workerGroupSpecs" not in pod:
        return None
    box = pod + ("containers", 0)
    if computing(obj, pod) != [box] or not give(obj, box, 4):
        return None
    return pod[:-2]


@defect("ray-num-gpus-mismatch", "pod")
def phantom_gpus(obj, pod):
    group = worker_groups(obj, pod)
    if group is None:
        return None
    at(obj, group)["rayStartParams"] = {"num-gpus": "8"}
    return group + ("rayStartParams", "num-gpus")


@near(phantom_gpus)
def the_same_gpus(obj, pod):
    at(obj, pod[:-2])["rayStartParams"]["num-gpus"] = "4"


@defect("ray-serve-never-fits", "pod", "all")
def too_large_replica(obj, pod):
    group = worker_groups(obj, pod)
    if group is None or obj["kind"] != "RayService" or len(group) != 4:
        return None
    cluster = at(obj, group[:2])
    if len(cluster["workerGroupSpecs"]) > 1 or \
            "resources" in at(obj, group):
        return None
    for one in (at(obj, group), cluster["headGroupSpec"]):
        one["rayStartParams"] = {}
    serve(obj, 5)
    return ("spec", "serveConfigV2")


def serve(obj, gpus):
    obj["spec"]["serveConfigV2"] = json.dumps({"applications": [{
        "name": "a", "import_path": "a:app", "deployments": [{
            "name": "Chat", "ray_actor_options": {"num_gpus": gpus}}]}]})


@near(too_large_replica)
def replica_that_fits(obj, pod):
    group = at(obj, pod[:-2])
    group.pop("suspend", None)
    group["replicas"] = group["minReplicas"] = 1
    serve(obj, 4)


@defect("kuberay-rejects", "pod")
def minimum_above_maximum(obj, pod):
    group = worker_groups(obj, pod)
    if group is None:
        return None
    at(obj, group).update(minReplicas=5, maxReplicas=4)
    return group + ("minReplicas",)


@near(minimum_above_maximum)
def minimum_is_maximum(obj, pod):
    at(obj, worker_groups(obj, pod)).update(minReplicas=4, maxReplicas=4)


@defect("kuberay-rejects", "pod")
def said_twice(obj, pod):
    group = worker_groups(obj, pod)
    if group is None:
        return None
    at(obj, group)["rayStartParams"] = {"num-cpus": "8"}
    at(obj, group)["resources"] = {"CPU": "8"}
    return group + ("resources",)


@near(said_twice)
def said_once(obj, pod):
    at(obj, pod[:-2])["rayStartParams"] = {}


@defect("ray-autoscaling-off", "pod", "all")
def would_grow(obj, pod):
    group = worker_groups(obj, pod)
    if group is None:
        return None
    at(obj, group[:-2]).pop("enableInTreeAutoscaling", None)
    at(obj, group).update(replicas=1, minReplicas=1, maxReplicas=9)
    return group + ("maxReplicas",)


@near(would_grow)
def grows(obj, pod):
    at(obj, pod[:-4])["enableInTreeAutoscaling"] = True


# --- variables ----------------------------------------------------------------------

NATIVE = {("apps", "Deployment"), ("apps", "StatefulSet"), ("batch", "Job"),
          ("batch", "CronJob"), ("", "Pod")}


@defect("variable-undefined", "container")
def nobody_defines_it(obj, pod, box):
    if group_kind(obj) not in NATIVE or \
            run(obj, pod, box, 1, "serve", "--model=$(PLANTED_MODEL)") is None:
        return None
    return box + ("command", 1)


@near(nobody_defines_it)
def defined(obj, pod, box):
    at(obj, box)["env"] = [{"name": "PLANTED_MODEL", "value": "m"}]
