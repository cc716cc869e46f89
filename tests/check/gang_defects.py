# SPDX-License-Identifier: Apache-2.0
"""Defects in gangs and queues, to be planted (see defects.py)."""
import copy

from defects import (alone, computing, defect, flag, give, near,
                     one_container, run, volcano)
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
        at(obj, box)["readinessProbe"] = {"httpGet": {"path": "/", "port": 80}}
    return where


@near(one_after_the_other)
def all_at_once(obj, pod, box):
    obj["spec"]["podManagementPolicy"] = "Parallel"


def role(obj, pod):
    """Return the path of this pod's replica spec if the PyTorchJob has
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


# --- names and ranks ----------------------------------------------------------

def as_volcano_ranks(obj, pod, pods, *words):
    """Turn the object into a Volcano Job of this number of pods, which run torchrun
    with these words; return the path of the command, or None."""
    box = one_container(obj, pod)
    if not alone(obj, pod) or not box or \
            not run(obj, pod, box, 8, "torchrun", *words, "train.py"):
        return None
    spec = dict(at(obj, pod), restartPolicy="Never")
    for key in ("hostNetwork", "hostAliases", "dnsPolicy", "dnsConfig",
                "hostname", "subdomain"):
        spec.pop(key, None)
    volcano(obj, spec, pods)
    return ("spec", "tasks", 0, "template", "spec", "containers",
            box[-1], "command")


@defect("rendezvous-service-missing", "pod", "all")
def meets_itself(obj, pod):
    path = as_volcano_ranks(obj, pod, 2, "--nnodes=2",
                            "--rdzv-endpoint=localhost:29500")
    return path and path + (2,)


@near(meets_itself)
def one_node_each(obj, pod):
    obj["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["command"][1] \
        = "--nnodes=1"


@defect("nnodes-mismatch", "pod", "all")
def pods_left_over(obj, pod):
    path = as_volcano_ranks(obj, pod, 4, "--nnodes=2",
                            "--rdzv-endpoint=ranks-worker-0.ranks:29500")
    if path:
        obj["spec"]["plugins"] = {"svc": []}
    return path and path + (1,)


@near(pods_left_over)
def all_pods_join(obj, pod):
    obj["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["command"][1] \
        = "--nnodes=4"


@defect("scheduler-name-unknown", "pod", "all")
def misspelled_scheduler(obj, pod):
    if not alone(obj, pod) or not one_container(obj, pod):
        return None
    at(obj, pod)["schedulerName"] = "vocalno"
    return pod + ("schedulerName",)


@near(misspelled_scheduler)
def spelled_scheduler(obj, pod):
    at(obj, pod)["schedulerName"] = "volcano"


@defect("efa-not-requested", "container", "all")
def no_interfaces(obj, pod, box):
    if not run(obj, pod, box, 8, "python", "train.py"):
        return None
    at(obj, box)["securityContext"] = {}
    at(obj, box)["volumeMounts"] = []
    at(obj, box)["resources"].get("limits", {}).pop("vpc.amazonaws.com/efa", 0)
    at(obj, box)["resources"].get("requests", {}).pop("vpc.amazonaws.com/efa", 0)
    at(obj, box)["env"] = [{"name": "FI_PROVIDER", "value": "efa"}]
    return box + ("env", 0, "value")


@near(no_interfaces)
def with_interfaces(obj, pod, box):
    at(obj, box)["resources"]["limits"]["vpc.amazonaws.com/efa"] = 32


@defect("selector-resource-contradiction", "pod", "all")
def only_small_types(obj, pod):
    box = one_container(obj, pod)
    if not box or not alone(obj, pod) or not give(obj, box, 8):
        return None
    spec = at(obj, pod)
    spec.pop("nodeSelector", None)
    spec["affinity"] = {"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [
                {"key": "node.kubernetes.io/instance-type", "operator": "In",
                 "values": ["g4dn.2xlarge", "g4dn.12xlarge"]}]}]}}}
    return pod + ("affinity", "nodeAffinity",
                  "requiredDuringSchedulingIgnoredDuringExecution",
                  "nodeSelectorTerms", 0, "matchExpressions", 0, "values", 0)


@near(only_small_types)
def one_large_type(obj, pod):
    at(obj, pod)["affinity"]["nodeAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"][0]["matchExpressions"][0]["values"][1] = \
        "p5.48xlarge"


POOL = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool",
        "metadata": {"name": "small"}, "spec": {"template": {"spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws",
                             "kind": "EC2NodeClass", "name": "gpu"},
            "requirements": [{"key": "node.kubernetes.io/instance-type",
                              "operator": "In", "values": ["g5.xlarge"]}]}}}}


@defect("nodepool-too-small", "pod", "all", more=[POOL])
def from_a_small_pool(obj, pod):
    box = one_container(obj, pod)
    if not box or not alone(obj, pod) or not give(obj, box, 8):
        return None
    spec = at(obj, pod)
    spec.pop("affinity", None)
    spec["nodeSelector"] = {"karpenter.sh/nodepool": "small"}
    return pod + ("nodeSelector", "karpenter.sh/nodepool")


@near(from_a_small_pool)
def from_another_pool(obj, pod):
    at(obj, pod)["nodeSelector"]["karpenter.sh/nodepool"] = "large"
