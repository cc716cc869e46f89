# SPDX-License-Identifier: Apache-2.0
"""Defects for the rules of parallelism, gangs and scheduling, each with a near
miss that must stay silent."""
import copy
import json

from defects import (computing, defect, move, near, nvidia, runs_program,
                     volcano)
from places import at, devices, group_kind

IMAGE = "registry.example.com/a:1"
HOSTNAME = "kubernetes.io/hostname"
QUEUE = "kueue.x-k8s.io/queue-name"


# --- helpers ------------------------------------------------------------------

def give(obj, box, number):
    """So many whole GPUs for a container that has some; False: it cannot."""
    resources = at(obj, box + ("resources",))
    if devices(resources) != ["nvidia.com/gpu"]:
        return False
    for part in ("limits", "requests"):
        if "nvidia.com/gpu" in (resources.get(part) or {}):
            resources[part]["nvidia.com/gpu"] = number
    return "nvidia.com/gpu" in (resources.get("limits") or {})


def alone(obj, pod):
    """Pods of the API's own kinds, one by one: no operator counts them."""
    return group_kind(obj) in (("apps", "Deployment"), ("", "Pod"))


def run(obj, pod, box, number, *command):
    """This command with so many GPUs, as the pod's only computing container;
    the path of the command, or None where it does not fit."""
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
    """Return a Ray pod with whole GPUs in the first container."""
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


@defect("ray-cluster-refused", "pod")
def minimum_above_maximum(obj, pod):
    group = worker_groups(obj, pod)
    if group is None:
        return None
    at(obj, group).update(minReplicas=5, maxReplicas=4)
    return group + ("minReplicas",)


@near(minimum_above_maximum)
def minimum_is_maximum(obj, pod):
    at(obj, worker_groups(obj, pod)).update(minReplicas=4, maxReplicas=4)


@defect("ray-resources-conflict", "pod")
def said_twice(obj, pod):
    group = worker_groups(obj, pod)
    if group is None:
        return None
    at(obj, group)["rayStartParams"] = {"num-cpus": "8"}
    at(obj, group)["resources"] = {"CPU": "8"}
    return group + ("rayStartParams", "num-cpus")


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


# --- gangs --------------------------------------------------------------------

def whole_group(obj, pod):
    return obj["kind"] == "LeaderWorkerSet" and "workerTemplate" in pod and \
        one_container(obj, pod)


@defect("lws-restart-none", "pod", "all")
def goes_on(obj, pod):
    if not whole_group(obj, pod):
        return None
    obj["spec"]["leaderWorkerTemplate"].update(size=2, restartPolicy="None")
    return ("spec", "leaderWorkerTemplate", "restartPolicy")


@near(goes_on)
def starts_again(obj, pod):
    obj["spec"]["leaderWorkerTemplate"]["restartPolicy"] = \
        "RecreateGroupOnPodRestart"


@defect("lws-size-mismatch", "container")
def half_the_group(obj, pod, box):
    if not whole_group(obj, pod):
        return None
    obj["spec"]["leaderWorkerTemplate"].pop("leaderTemplate", None)
    obj["spec"]["leaderWorkerTemplate"]["size"] = 2
    return run(obj, pod, box, 4, "vllm", "serve", "m", "-tp", "4",
               "--distributed-executor-backend", "ray")


@near(half_the_group)
def whole(obj, pod, box):
    flag(obj, box, 4, "8")


@defect("gang-missing", "object", "all")
def nothing_holds_them(obj):
    if obj["kind"] != "PyTorchJob" or "runPolicy" in obj["spec"] or \
            "elasticPolicy" in obj["spec"] or "scheduler" in str(obj):
        return None
    if "queue" in str(obj["metadata"]):
        return None
    roles = obj["spec"]["pytorchReplicaSpecs"]
    if "Worker" not in roles:
        return None
    roles["Worker"]["replicas"] = 4
    return ("metadata", "name")


@near(nothing_holds_them)
def held_together(obj):
    obj["spec"]["runPolicy"] = {"schedulingPolicy": {"minAvailable": 4}}


@defect("gang-min-below-replicas", "pod", "all")
def starts_early(obj, pod):
    box = one_container(obj, pod)
    if not alone(obj, pod) or not box:
        return None
    volcano(obj, dict(at(obj, pod), restartPolicy="OnFailure"), 4)
    obj["spec"].update(minAvailable=2, plugins={"pytorch": []})
    return ("spec", "minAvailable")


@near(starts_early)
def starts_whole(obj, pod):
    obj["spec"]["minAvailable"] = 4


@defect("gang-scheduler-name-conflict", "pod", "all")
def two_schedulers(obj, pod):
    if starts_early(obj, pod) is None:
        return None
    tasks = obj["spec"]["tasks"]
    tasks.append(copy.deepcopy(tasks[0]))
    for task, name in zip(tasks, ("volcano", "default-scheduler")):
        task["template"]["spec"]["schedulerName"] = name
    tasks[1]["name"] = "other"
    return ("spec", "tasks", 1, "template", "spec", "schedulerName")


@near(two_schedulers)
def one_scheduler(obj, pod):
    obj["spec"]["tasks"][1]["template"]["spec"]["schedulerName"] = "volcano"


@defect("kueue-unsupported-shape", "object")
def scales_in_a_queue(obj):
    if group_kind(obj) != ("ray.io", "RayCluster"):
        return None
    obj["metadata"]["labels"] = {QUEUE: "gpu"}
    obj["metadata"].pop("annotations", None)
    obj["spec"]["enableInTreeAutoscaling"] = True
    return ("spec", "enableInTreeAutoscaling")


@near(scales_in_a_queue)
def does_not_scale(obj):
    obj["spec"]["enableInTreeAutoscaling"] = False


@defect("queue-label-misplaced", "pod", "all")
def queue_of_the_pod(obj, pod):
    if group_kind(obj) != ("batch", "Job") or not computing(obj, pod):
        return None
    obj["metadata"].pop("labels", None)
    obj["metadata"].pop("annotations", None)
    at(obj, pod[:-1]).setdefault("metadata", {})["labels"] = {QUEUE: "gpu"}
    return pod[:-1] + ("metadata", "labels")


@near(queue_of_the_pod)
def queue_of_the_job(obj, pod):
    obj["metadata"]["labels"] = {QUEUE: "gpu"}


@defect("indexed-completion-missing", "container", "all")
def no_index(obj, pod, box):
    if group_kind(obj) != ("batch", "Job"):
        return None
    obj["spec"].pop("completionMode", None)
    return run(obj, pod, box, 1, "sh", "-c",
               "torchrun --node-rank $JOB_COMPLETION_INDEX train.py")


@near(no_index)
def an_index(obj, pod, box):
    obj["spec"].update(completionMode="Indexed", completions=1)


@defect("statefulset-orderedready-gang", "container", "all")
def one_after_the_other(obj, pod, box):
    if obj["kind"] != "Deployment":
        return None
    where = run(obj, pod, box, 1, "torchrun", "--nnodes=2", "train.py")
    if where:
        obj["kind"] = "StatefulSet"
        obj["spec"].update(replicas=2, podManagementPolicy="OrderedReady")
        at(obj, box)["readinessProbe"] = {"tcpSocket": {"port": 29500}}
    return where


@near(one_after_the_other)
def all_at_once(obj, pod, box):
    obj["spec"]["podManagementPolicy"] = "Parallel"


def role(obj, pod):
    """Return the path of this pod's replica spec in a PyTorchJob with
    several."""
    roles = (obj.get("spec") or {}).get("pytorchReplicaSpecs") or {}
    return pod[:3] if len(roles) > 1 else None


@defect("pytorchjob-worker-zero", "pod", "all")
def no_workers(obj, pod):
    if not role(obj, pod) or "Worker" not in pod:
        return None
    at(obj, pod[:3])["replicas"] = 0
    obj["spec"]["pytorchReplicaSpecs"]["Master"]["replicas"] = 2
    return pod[:3] + ("replicas",)


@near(no_workers)
def a_worker(obj, pod):
    at(obj, pod[:3])["replicas"] = 1


@defect("gang-image-mismatch", "container", "all")
def another_image(obj, pod, box):
    if not role(obj, pod) or "Worker" not in pod or \
            computing(obj, pod) != [box] or not computing(
                obj, ("spec", "pytorchReplicaSpecs", "Master", "template",
                      "spec")):
        return None
    at(obj, box)["image"] = "registry.example.com/another:2"
    return ("spec", "pytorchReplicaSpecs")


@near(another_image)
def the_same_image(obj, pod, box):
    other = "registry.example.com/another:2"
    for spec in obj["spec"]["pytorchReplicaSpecs"].values():
        for container in spec["template"]["spec"]["containers"]:
            container["image"] = other


@defect("rendezvous-service-missing", "container", "all")
def no_such_name(obj, pod, box):
    if obj["kind"] != "Deployment" or computing(obj, pod) != [box]:
        return None
    obj["kind"] = "StatefulSet"
    obj["spec"]["serviceName"] = "ranks"
    at(obj, box)["env"] = [{"name": "MASTER_ADDR", "value": "@NAME@-0.other"}]
    return box + ("env", 0)


@near(no_such_name)
def such_a_name(obj, pod, box):
    at(obj, box)["env"][0]["value"] = "@NAME@-0.ranks.ml.svc"


def jobset_box(obj, pod, box):
    return obj["kind"] == "JobSet" and computing(obj, pod) == [box] and \
        "generateName" not in obj["metadata"]


@defect("rendezvous-service-missing", "container", "all")
def no_such_subdomain(obj, pod, box):
    if not jobset_box(obj, pod, box):
        return None
    job = obj["spec"]["replicatedJobs"][0]["name"]
    obj["spec"]["network"] = {"subdomain": "ranks"}
    at(obj, box)["env"] = [{"name": "MASTER_ADDR",
                            "value": f"@NAME@-{job}-0-0.other"}]
    return box + ("env", 0)


@near(no_such_subdomain)
def such_a_subdomain(obj, pod, box):
    obj["spec"]["network"]["subdomain"] = "other"


# --- scheduling ---------------------------------------------------------------

@defect("mig-multiple-in-container", "device", "all")
def two_slices(obj, path):
    resources = at(obj, path)
    if devices(resources) != ["nvidia.com/gpu"] or \
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


@defect("tpu-selector-incomplete", "pod", "all")
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
