# SPDX-License-Identifier: Apache-2.0
"""Defects in restarts, life cycles and quotas, to be planted (see defects.py)."""
from defects import (IMAGE, KUBEFLOW, SERVE, TRAIN, computing, count, defect,
                     move, near, queued, run, runs_program, volcano)
from pod_paths import at, devices, group_kind

NAMESPACE = "planted"
SERVERS = {("apps", "Deployment"), ("apps", "StatefulSet")}
PROBE = {"httpGet": {"path": "/health", "port": 8000}}


def quota(hard, **spec):
    return {"apiVersion": "v1", "kind": "ResourceQuota",
            "metadata": {"name": "q", "namespace": NAMESPACE},
            "spec": {"hard": hard, **spec}}


def limit_range(kind, **item):
    return {"apiVersion": "v1", "kind": "LimitRange",
            "metadata": {"name": "l", "namespace": NAMESPACE},
            "spec": {"limits": [{"type": kind, **item}]}}


def is_job(obj):
    return group_kind(obj) == ("batch", "Job")


def job_spec(obj):
    """Return the spec of the batch Job that an object is or makes, as a path."""
    return {("batch", "Job"): ("spec",),
            ("batch", "CronJob"): ("spec", "jobTemplate", "spec")}.get(
                group_kind(obj))


def kubeflow(obj):
    group, kind = group_kind(obj)
    return group == "kubeflow.org" and kind in KUBEFLOW


def replicas(obj):
    """Return the paths of the replica specs of a Kubeflow v1 job."""
    spec = obj.get("spec") or {}
    return [("spec", key, role) for key in spec if key.endswith("ReplicaSpecs")
            for role in spec[key]]


def alone(obj, pod):
    boxes = computing(obj, pod)
    return boxes[0] if len(boxes) == 1 and \
        len(at(obj, pod + ("containers",))) == 1 else None


# --- commands ----------------------------------------------------------------

@defect("boolean-flag-value", "container")
def value_of_flag(obj, pod, box):
    if group_kind(obj)[0] == "kubeflow.org":  # no servers
        return None
    return run(obj, pod, box, 1, "vllm", "serve", "m", "--enforce-eager",
               "true")


@near(value_of_flag)
def flag_alone(obj, pod, box):
    at(obj, box)["command"].pop()


@defect("ray-start-exits", "container")
def returns_at_once(obj, pod, box):
    return run(obj, pod, box, 1, "ray", "start", "--head")


@near(returns_at_once)
def blocks(obj, pod, box):
    at(obj, box)["command"].append("--block")


# --- restarts -----------------------------------------------------------------

@defect("restart-policy-invalid", "pod")
def no_such_policy(obj, pod):
    if group_kind(obj)[0] == "kubeflow.org":  # the replica's restartPolicy counts
        return None
    at(obj, pod)["restartPolicy"] = "Sometimes"
    return pod + ("restartPolicy",)


@defect("restart-policy-invalid", "object")
def job_restarts_always(obj):
    spec = job_spec(obj)
    if not spec:
        return None
    pod = spec + ("template", "spec")
    at(obj, pod)["restartPolicy"] = "Always"
    return pod + ("restartPolicy",)


@defect("job-restart-policy-missing", "object")
def no_policy(obj):
    spec = job_spec(obj)
    if not spec:
        return None
    at(obj, spec + ("template", "spec")).pop("restartPolicy", None)
    return spec + ("template", "spec")


@defect("template-restart-policy-ignored", "object")
def in_the_template(obj):
    if not kubeflow(obj) or not replicas(obj):
        return None
    replica = replicas(obj)[0]
    at(obj, replica)["restartPolicy"] = "Never"
    at(obj, replica + ("template", "spec"))["restartPolicy"] = "OnFailure"
    return replica + ("template", "spec", "restartPolicy")


@defect("exitcode-backoff-ignored", "object")
def for_ever(obj):
    if not kubeflow(obj) or not replicas(obj):
        return None
    policy = obj["spec"].setdefault("runPolicy", {})
    policy.pop("activeDeadlineSeconds", None)
    policy["backoffLimit"] = 3
    where = None
    for replica in replicas(obj):
        at(obj, replica)["restartPolicy"] = "ExitCode"
        if computing(obj, replica + ("template", "spec")):
            where = where or replica
    return where


@defect("bare-gpu-pod-always", "object")
def starts_over(obj):
    if obj["kind"] != "Pod" or not alone(obj, ("spec",)):
        return None
    obj["spec"]["restartPolicy"] = "Always"
    move(at(obj, alone(obj, ("spec",))), **TRAIN)
    return ("spec", "restartPolicy")


@defect("bare-gpu-pod", "pod")
def no_controller(obj, pod):
    """Turn the object into a separate Pod."""
    box = alone(obj, pod)
    if not box:
        return None
    move(at(obj, box), **TRAIN)
    spec = at(obj, pod)
    spec["restartPolicy"] = "Never"
    meta = {"name": "planted"}
    obj.clear()
    obj.update({"apiVersion": "v1", "kind": "Pod", "metadata": meta,
                "spec": spec})
    return ()


@defect("volcano-task-restart-always", "pod")
def task_again(obj, pod):
    """Turn the object into a Volcano Job with its pod as the only task. Its containers
    get a training command, because a server should run forever."""
    for box in computing(obj, pod):
        at(obj, box).update(command=["python", "train.py"],
                            image="registry.example.com/train:1")
        at(obj, box).pop("args", None)
    if not computing(obj, pod):
        return None
    volcano(obj, dict(at(obj, pod), restartPolicy="Always"), 1)
    return ("spec", "tasks", 0)


@defect("job-backoff-unbounded", "object")
def many_retries(obj):
    spec = job_spec(obj)
    if not spec:
        return None
    at(obj, spec).pop("backoffLimitPerIndex", None)
    at(obj, spec)["backoffLimit"] = 1000
    return spec + ("backoffLimit",)


@defect("job-backoff-unbounded", "object")
def no_limit(obj):
    if not kubeflow(obj) or not replicas(obj):
        return None
    policy = obj["spec"].setdefault("runPolicy", {})
    policy.pop("backoffLimit", None)
    for replica in replicas(obj):
        at(obj, replica)["restartPolicy"] = "OnFailure"
    return ("spec",)


# --- containers that never end ---------------------------------------------------

@defect("job-sidecar-never-ends", "object")
def board_beside(obj):
    """Add TensorBoard to the training pod of a Job."""
    spec = job_spec(obj)
    pod = (spec or ()) + ("template", "spec")
    if not spec or not alone(obj, pod):
        return None
    move(at(obj, alone(obj, pod)), **TRAIN)
    at(obj, pod)["restartPolicy"] = "Never"
    at(obj, pod).pop("shareProcessNamespace", None)
    obj["spec"].pop("successPolicy", None)
    at(obj, pod + ("containers",)).append(
        {"name": "board", "image": IMAGE, "command": ["tensorboard", "--logdir=/l"]})
    return pod + ("containers", 1)


@near(board_beside)
def native_board(obj):
    pod = job_spec(obj) + ("template", "spec")
    board = at(obj, pod + ("containers",)).pop()
    at(obj, pod).setdefault("initContainers", []).append(
        dict(board, restartPolicy="Always"))


# --- deadlines and ends -----------------------------------------------------------

@defect("job-deadline-missing", "object")
def no_deadline(obj):
    spec = job_spec(obj)
    pod = (spec or ()) + ("template", "spec")
    if not spec or not alone(obj, pod):
        return None
    move(at(obj, alone(obj, pod)), **TRAIN)
    at(obj, spec).pop("activeDeadlineSeconds", None)
    at(obj, pod).pop("activeDeadlineSeconds", None)
    return spec


@defect("job-deadline-counts-pending", "object", "all")
def a_minute(obj):
    spec = job_spec(obj)
    if not spec or queued(obj) or not computing(obj, spec + ("template", "spec")):
        return None
    at(obj, spec)["activeDeadlineSeconds"] = 60
    return spec + ("activeDeadlineSeconds",)


@defect("job-ttl-missing", "object", "all")
def never_deleted(obj):
    if not is_job(obj) or at(obj, ("metadata", "ownerReferences")):
        return None
    obj["spec"].pop("ttlSecondsAfterFinished", None)
    return ("spec",)


@defect("job-podfailurepolicy-missing", "object", "all")
def spot_job(obj):
    spec = job_spec(obj)
    if not spec or not computing(obj, spec + ("template", "spec")):
        return None
    at(obj, spec).pop("podFailurePolicy", None)
    at(obj, spec).pop("backoffLimitPerIndex", None)
    pod = at(obj, spec + ("template", "spec"))
    pod["restartPolicy"] = "Never"
    pod.setdefault("nodeSelector", {})["karpenter.sh/capacity-type"] = "spot"
    return spec


@defect("job-replacement-double-claim", "object")
def both_at_once(obj):
    spec = job_spec(obj)
    pod = (spec or ()) + ("template", "spec")
    if not spec or not computing(obj, pod):
        return None
    for key in ("podReplacementPolicy", "podFailurePolicy"):
        at(obj, spec).pop(key, None)
    at(obj, spec)["backoffLimit"] = 3
    at(obj, pod)["restartPolicy"] = "Never"
    at(obj, pod)["terminationGracePeriodSeconds"] = 300
    return spec


@defect("cleanpodpolicy-leaks-gpus", "object")
def left_running(obj):
    if not kubeflow(obj) or not replicas(obj):
        return None
    obj["spec"].setdefault("runPolicy", {})["cleanPodPolicy"] = "None"
    return ("spec", "runPolicy", "cleanPodPolicy")


@defect("cronjob-concurrency-gpu", "pod")
def one_beside_the_other(obj, pod):
    """Turn the object into a CronJob of this pod."""
    if not computing(obj, pod):
        return None
    spec = dict(at(obj, pod), restartPolicy="Never")
    obj.clear()
    obj.update({"apiVersion": "batch/v1", "kind": "CronJob",
                "metadata": {"name": "planted"}, "spec": {
                    "schedule": "*/5 * * * *", "concurrencyPolicy": "Allow",
                    "jobTemplate": {"spec": {"template": {"spec": spec}}}}})
    return ("spec", "concurrencyPolicy")


@defect("rayjob-no-shutdown", "object")
def cluster_stays(obj):
    if obj["kind"] != "RayJob" or at(obj, ("spec", "clusterSelector")) \
            or not at(obj, ("spec", "rayClusterSpec")):
        return None
    # If the job is in a queue, kueue-rejects reports it instead.
    (obj["metadata"].get("labels") or {}).pop("kueue.x-k8s.io/queue-name", None)
    obj["spec"].pop("ttlSecondsAfterFinished", None)
    obj["spec"].pop("deletionStrategy", None)
    obj["spec"]["shutdownAfterJobFinishes"] = False
    return ("spec", "shutdownAfterJobFinishes")


@defect("kuberay-rejects", "object")
def suspended_without_shutdown(obj):
    if obj["kind"] != "RayJob" or at(obj, ("spec", "clusterSelector")) \
            or not at(obj, ("spec", "rayClusterSpec")):
        return None
    obj["spec"]["suspend"] = True
    obj["spec"]["shutdownAfterJobFinishes"] = False
    return ("spec", "suspend")


@near(suspended_without_shutdown)
def suspended_with_shutdown(obj):
    obj["spec"]["suspend"] = True
    obj["spec"]["shutdownAfterJobFinishes"] = True
    obj["spec"].pop("deletionStrategy", None)


@defect("rayjob-prerunning-deadline", "object")
def waits_for_ever(obj):
    if obj["kind"] != "RayJob" or at(obj, ("spec", "clusterSelector")) \
            or not at(obj, ("spec", "rayClusterSpec")):
        return None
    for key in ("preRunningDeadlineSeconds", "activeDeadlineSeconds"):
        obj["spec"].pop(key, None)
    return ("spec",)


# --- programs -----------------------------------------------------------------

@defect("command-single-string", "container")
def one_string(obj, pod, box):
    if box not in computing(obj, pod) or not runs_program(obj):
        return None
    move(at(obj, box), command=["python train.py --epochs 3"])
    return box + ("command",)


@defect("gpu-idle-command", "container")
def asleep(obj, pod, box):
    if computing(obj, pod) != [box] or not runs_program(obj):
        return None
    move(at(obj, box), command=["sleep", "infinity"],
         image="registry.example.com/team/base:1.2")
    return box + ("command",)


@defect("training-in-deployment", "object")
def trains_for_ever(obj):
    pod = ("spec", "template", "spec")
    if group_kind(obj) not in SERVERS or not alone(obj, pod):
        return None
    box = at(obj, alone(obj, pod))
    box.pop("ports", None)
    move(box, **TRAIN)
    return alone(obj, pod)


@defect("readiness-missing-gpu-serving", "object")
def not_ready(obj):
    pod = ("spec", "template", "spec")
    if group_kind(obj) not in SERVERS or not alone(obj, pod):
        return None
    move(at(obj, alone(obj, pod)), **SERVE)
    return alone(obj, pod)


@defect("liveness-kills-model-load", "object")
def killed_while_loading(obj):
    pod = ("spec", "template", "spec")
    if group_kind(obj) not in SERVERS or not alone(obj, pod):
        return None
    move(at(obj, alone(obj, pod)), **SERVE, readinessProbe=PROBE,
         livenessProbe=dict(PROBE, initialDelaySeconds=1, periodSeconds=5,
                            failureThreshold=1))
    return alone(obj, pod) + ("livenessProbe",)


@defect("probe-timeout-default", "object")
def one_second(obj):
    pod = ("spec", "template", "spec")
    if group_kind(obj) not in SERVERS or not alone(obj, pod):
        return None
    move(at(obj, alone(obj, pod)), **SERVE, readinessProbe=PROBE)
    return alone(obj, pod) + ("readinessProbe",)


@defect("termination-grace-short", "object")
def five_seconds(obj):
    pod = ("spec", "template", "spec")
    if group_kind(obj) not in SERVERS or not alone(obj, pod):
        return None
    move(at(obj, alone(obj, pod)), **SERVE, readinessProbe=PROBE)
    at(obj, pod)["terminationGracePeriodSeconds"] = 5
    return pod + ("terminationGracePeriodSeconds",)


# --- gangs --------------------------------------------------------------------

@defect("gang-priority-mismatch", "object")
def two_classes(obj):
    if not kubeflow(obj):
        return None
    pods = [r + ("template", "spec") for r in replicas(obj)]
    if len([p for p in pods if computing(obj, p)]) < 2:
        return None
    policy = at(obj, ("spec", "runPolicy", "schedulingPolicy")) or {}
    policy.pop("priorityClass", None)
    for i, pod in enumerate(pods):
        at(obj, pod).pop("priority", None)
        at(obj, pod)["priorityClassName"] = "class-%d" % i
    return ()


# --- quotas -------------------------------------------------------------------

def runs(obj, pod):
    """Return true if the object itself creates pods from this place."""
    return obj["kind"] not in ("PodTemplate", "TrainingRuntime",
                               "ClusterTrainingRuntime", "ServingRuntime",
                               "ClusterServingRuntime") and \
        computing(obj, pod) and at(obj, ("spec", "replicas")) != 0


def one_nvidia(obj, pod):
    """Put the object into the namespace of the quota. Return false unless it
    creates pods in which each container that requests devices has a limit of
    nvidia.com/gpu and no other device."""
    boxes = computing(obj, pod)
    if queued(obj) or not runs(obj, pod) or any(
            devices(at(obj, b + ("resources",))) != ["nvidia.com/gpu"] or
            not count((at(obj, b + ("resources", "limits")) or {}).get(
                "nvidia.com/gpu")) for b in boxes):
        return False
    obj["metadata"]["namespace"] = NAMESPACE
    return True


def many_replicas(obj):
    """Return true if neither replicas nor parallelism is 0 and `suspend` is
    not set."""
    spec = obj.get("spec") or {}
    return all(v != 0 for v in (spec.get("replicas"), spec.get("parallelism"),
                                spec.get("suspend") and 0))


@defect("quota-never-fits", "pod", more=[quota({
    "requests.nvidia.com/gpu": "0"})])
def none_at_all(obj, pod):
    return () if one_nvidia(obj, pod) and many_replicas(obj) else None


@defect("quota-gpu-uncovered", "pod", more=[quota({
    "requests.nvidia.com/mig-1g.5gb": "4"})])
def other_name(obj, pod):
    return () if one_nvidia(obj, pod) and many_replicas(obj) else None


@defect("quota-missing-cpu-memory", "pod", more=[quota({
    "requests.cpu": "64", "requests.nvidia.com/gpu": "512"})])
def cpu_not_named(obj, pod):
    if not one_nvidia(obj, pod) or not many_replicas(obj):
        return None
    at(obj, pod).pop("resources", None)
    for name in ("containers", "initContainers"):
        for box in at(obj, pod + (name,)) or []:
            for part in ("limits", "requests"):
                ((box.get("resources") or {}).get(part) or {}).pop("cpu", None)
    return ()


@defect("quota-gpu-key-ineffective", "pod", "all", more=[quota({
    "limits.nvidia.com/gpu": "4"})])
def never_counts(obj, pod):
    return None if not one_nvidia(obj, pod) else ("more",)


@defect("quota-scope-hides-gpu", "pod", more=[quota({
    "requests.nvidia.com/gpu": "512"}, scopes=["BestEffort"])])
def other_pods(obj, pod):
    if not one_nvidia(obj, pod) or not many_replicas(obj):
        return None
    for box in computing(obj, pod):
        at(obj, box + ("resources",)).setdefault("requests", {})["cpu"] = 1
    return ("more",)


@defect("namespace-without-gpu-quota", "pod", more=[{
    "apiVersion": "v1", "kind": "ResourceQuota",
    "metadata": {"name": "q", "namespace": "another"},
    "spec": {"hard": {"requests.nvidia.com/gpu": "8"}}}])
def no_quota(obj, pod):
    return () if one_nvidia(obj, pod) and many_replicas(obj) else None


@defect("limitrange-gpu-container-max", "pod", more=[limit_range(
    "Container", max={"nvidia.com/gpu": "2"})])
def for_everybody(obj, pod):
    return ("more",) if one_nvidia(obj, pod) else None


@defect("limitrange-gpu-pod-max", "pod", more=[limit_range(
    "Pod", max={"nvidia.com/gpu": "2"})])
def for_every_pod(obj, pod):
    return ("more",) if one_nvidia(obj, pod) else None


@defect("gpu-count-max", "device", "limits")
def beyond_the_sites(obj, path):
    resources = at(obj, path)
    if "nvidia.com/gpu" not in devices(resources):
        return None
    for part in ("limits", "requests"):
        if "nvidia.com/gpu" in (resources.get(part) or {}):
            resources[part]["nvidia.com/gpu"] = 7
    return ()


@defect("elastic-max-vs-quota", "object", "all",
        more=[quota({"requests.nvidia.com/gpu": "64"})])
def grows_on(obj):
    if group_kind(obj) != ("ray.io", "RayCluster") or \
            "nvidia.com/gpu" not in str(obj["spec"]["workerGroupSpecs"]):
        return None
    obj["metadata"]["namespace"] = NAMESPACE
    obj["spec"]["enableInTreeAutoscaling"] = True
    for group in obj["spec"]["workerGroupSpecs"]:
        group.update(replicas=1, minReplicas=1, maxReplicas=1000)
    return ("metadata", "name")


@near(grows_on)
def grows_little(obj):
    for group in obj["spec"]["workerGroupSpecs"]:
        group["maxReplicas"] = 1
