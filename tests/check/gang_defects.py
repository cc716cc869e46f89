# SPDX-License-Identifier: Apache-2.0
"""Defects in gangs and queues, to be planted (see defects.py)."""
import copy

from defects import (alone, computing, defect, flag, near, one_container, run,
                     volcano)
from pod_paths import at, group_kind

QUEUE = "kueue.x-k8s.io/queue-name"


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


@defect("kueue-rejects", "object")
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
