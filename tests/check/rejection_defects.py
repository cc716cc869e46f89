# SPDX-License-Identifier: Apache-2.0
"""Defects with which an object is accepted and never runs, or is rejected by a
webhook, each with a near miss (see defects.py)."""
from defects import (RUNTIMES, alone, computing, defect, give, move, near, nvidia,
                     one_container, queued, runs_program, volcano)
from pod_paths import at, group_kind

__all__ = []
NATIVE = {("batch", "Job"), ("apps", "Deployment"), ("apps", "StatefulSet")}
UUID = "GPU-6f9c1b2e-8d3a-4c5b-9e7f-0123456789ab"


def notes(obj, pod, kind="annotations"):
    """Return the annotations, or the labels, of a pod template; add them if they
    are missing."""
    metadata = at(obj, pod[:-1]).setdefault("metadata", {})
    if not isinstance(metadata.get(kind), dict):
        metadata[kind] = {}
    return metadata[kind]


def native(obj, pod):
    return group_kind(obj) in NATIVE and pod == ("spec", "template", "spec") \
        and not queued(obj) and computing(obj, pod)


def templated(obj, pod):
    """Return true for a pod template of any kind, which its operator copies."""
    return pod[-2:] == ("template", "spec") and computing(obj, pod)


def variable(obj, box, name, value):
    env = [e for e in at(obj, box).get("env") or [] if e.get("name") != name]
    at(obj, box)["env"] = env + [{"name": name, "value": value}]
    return box + ("env", len(env), "value")


def mounted(obj, pod, path):
    """Mount a folder of the host and return the path of the volume."""
    spec, box = at(obj, pod), at(obj, computing(obj, pod)[0])
    spec["volumes"] = (spec.get("volumes") or []) + [
        {"name": "planted", "hostPath": {"path": path}}]
    box["volumeMounts"] = (box.get("volumeMounts") or []) + [
        {"name": "planted", "mountPath": path}]
    return pod + ("volumes", len(spec["volumes"]) - 1)


# --- schedulers ---------------------------------------------------------------

@defect("kai-rejects", "pod")
def share_and_whole(obj, pod):
    if not native(obj, pod) or "nvidia.com/gpu" not in str(at(obj, pod)):
        return None
    at(obj, pod)["schedulerName"] = "kai-scheduler"
    give(obj, computing(obj, pod)[0], 1)
    notes(obj, pod)["gpu-fraction"] = "0.5"
    return pod[:-1] + ("metadata", "annotations", "gpu-fraction")


@near(share_and_whole)
def whole(obj, pod):
    notes(obj, pod).pop("gpu-fraction")


@defect("queue-without-scheduler", "pod")
def queue_of_another(obj, pod):
    if not native(obj, pod):
        return None
    at(obj, pod).pop("schedulerName", None)
    notes(obj, pod, "labels")["kai.scheduler/queue"] = "team-a"
    return pod[:-1] + ("metadata", "labels", "kai.scheduler/queue")


@near(queue_of_another)
def its_scheduler(obj, pod):
    at(obj, pod)["schedulerName"] = "kai-scheduler"


@defect("volcano-rejects", "pod")
def event_and_code(obj, pod):
    if not alone(obj, pod) or not one_container(obj, pod):
        return None
    volcano(obj, dict(at(obj, pod), restartPolicy="OnFailure"), 4)
    obj["spec"]["policies"] = [
        {"event": "PodFailed", "exitCode": 3, "action": "RestartJob"}]
    return ("spec", "policies", 0)


@near(event_and_code)
def event_alone(obj, pod):
    obj["spec"]["policies"][0].pop("exitCode")


@defect("lws-rejects", "pod")
def large_subgroup(obj, pod):
    if obj["kind"] != "LeaderWorkerSet" or "workerTemplate" not in pod:
        return None
    obj["spec"]["leaderWorkerTemplate"].update(
        size=2, subGroupPolicy={"subGroupSize": 3})
    return ("spec", "leaderWorkerTemplate", "subGroupPolicy", "subGroupSize")


@near(large_subgroup)
def fitting_subgroup(obj, pod):
    obj["spec"]["leaderWorkerTemplate"]["subGroupPolicy"]["subGroupSize"] = 2


@defect("katib-rejects", "object")
def more_at_once(obj):
    if group_kind(obj) != ("kubeflow.org", "Experiment"):
        return None
    obj["spec"].update(parallelTrialCount=4, maxTrialCount=3)
    obj["spec"].pop("maxFailedTrialCount", None)
    return ("spec", "maxTrialCount")


@near(more_at_once)
def all_at_once(obj):
    obj["spec"]["maxTrialCount"] = 4


@defect("spark-rejects", "object")
def selector_twice(obj):
    if group_kind(obj) != ("sparkoperator.k8s.io", "SparkApplication"):
        return None
    obj["spec"]["nodeSelector"] = {"pool": "gpu"}
    obj["spec"]["driver"].pop("nodeSelector", None)
    obj["spec"]["executor"]["nodeSelector"] = {"pool": "gpu"}
    return ("spec", "executor", "nodeSelector")


@near(selector_twice)
def selector_once(obj):
    del obj["spec"]["nodeSelector"]


@defect("gpu-in-mpi-launcher", "object")
def hidden_gpu(obj):
    launcher = at(obj, ("spec",)).get("mpiReplicaSpecs", {}).get("Launcher")
    if obj["apiVersion"] != "kubeflow.org/v2beta1" or not launcher or \
            obj["spec"].get("runLauncherAsWorker"):
        return None
    box = ("spec", "mpiReplicaSpecs", "Launcher", "template", "spec",
           "containers", 0)
    at(obj, box)["resources"] = {"limits": {"nvidia.com/gpu": 1}}
    return box + ("resources",)


@near(hidden_gpu)
def working_launcher(obj):
    obj["spec"]["runLauncherAsWorker"] = True


@defect("jobset-rejects", "object")
def waits_for_itself(obj):
    if obj["kind"] != "JobSet":
        return None
    jobs = obj["spec"]["replicatedJobs"]
    for job in jobs:
        job.pop("dependsOn", None)
    obj["spec"].pop("startupPolicy", None)
    jobs[-1]["dependsOn"] = [{"name": jobs[-1]["name"], "status": "Ready"}]
    return ("spec", "replicatedJobs")


@near(waits_for_itself)
def waits_for_nothing(obj):
    obj["spec"]["replicatedJobs"][-1].pop("dependsOn")


@defect("disruption-annotation-ignored", "pod")
def old_annotation(obj, pod):
    if not templated(obj, pod):
        return None
    notes(obj, pod)["karpenter.sh/do-not-evict"] = "true"
    return pod[:-1] + ("metadata", "annotations", "karpenter.sh/do-not-evict")


@near(old_annotation)
def new_annotation(obj, pod):
    notes(obj, pod).pop("karpenter.sh/do-not-evict")
    notes(obj, pod)["karpenter.sh/do-not-disrupt"] = "true"


# --- devices ------------------------------------------------------------------

@defect("gpu-uuid-pinned", "container")
def one_of_them(obj, pod, box):
    if not templated(obj, pod) or box not in computing(obj, pod) or \
            not nvidia(obj, box + ("resources",)):
        return None
    return variable(obj, box, "NVIDIA_VISIBLE_DEVICES", UUID)


@near(one_of_them)
def no_device(obj, pod, box):
    variable(obj, box, "NVIDIA_VISIBLE_DEVICES", "void")


@defect("cuda-visible-devices-invalid", "container")
def tenth_device(obj, pod, box):
    if not templated(obj, pod) or box not in computing(obj, pod) or \
            not nvidia(obj, box + ("resources",)):
        return None
    give(obj, box, 2)
    return variable(obj, box, "CUDA_VISIBLE_DEVICES", "8,9")


@near(tenth_device)
def both_devices(obj, pod, box):
    variable(obj, box, "CUDA_VISIBLE_DEVICES", "0,1")


@defect("nvidia-device-mount-bypass", "pod")
def device_of_the_host(obj, pod):
    if not templated(obj, pod):
        return None
    return mounted(obj, pod, "/dev/nvidia0")


@near(device_of_the_host)
def data_of_the_host(obj, pod):
    at(obj, pod)["volumes"][-1]["hostPath"]["path"] = "/data"


# --- pods ---------------------------------------------------------------------

@defect("pod-invalid", "container")
def volume_of_nobody(obj, pod, box):
    # Skips runtimes, because the job that uses one may add volumes.
    if not templated(obj, pod) or box not in computing(obj, pod) or \
            obj["kind"] in RUNTIMES:
        return None
    mounts = at(obj, box).get("volumeMounts") or []
    at(obj, box)["volumeMounts"] = mounts + [
        {"name": "planted", "mountPath": "/planted"}]
    return box + ("volumeMounts", len(mounts))


@near(volume_of_nobody)
def volume_of_the_pod(obj, pod, box):
    spec = at(obj, pod)
    spec["volumes"] = (spec.get("volumes") or []) + [
        {"name": "planted", "emptyDir": {}}]


@defect("quantity-invalid", "container")
def words(obj, pod, box):
    if not templated(obj, pod) or box not in computing(obj, pod):
        return None
    resources = at(obj, box)["resources"]
    resources["requests"] = dict(resources.get("requests") or {},
                                 memory="16 GB")
    (resources.get("limits") or {}).pop("memory", None)
    return box + ("resources", "requests", "memory")


@near(words)
def number(obj, pod, box):
    at(obj, box)["resources"]["requests"]["memory"] = "16G"


@defect("field-value-invalid", "container")
def small_letters(obj, pod, box):
    if not templated(obj, pod):
        return None
    at(obj, box)["imagePullPolicy"] = "always"
    return box + ("imagePullPolicy",)


@near(small_letters)
def capital_letter(obj, pod, box):
    at(obj, box)["imagePullPolicy"] = "Always"


@defect("cache-not-writable", "container")
def home_of_root(obj, pod, box):
    if not native(obj, pod) or box not in computing(obj, pod) or \
            not runs_program(obj):
        return None
    spec, one = at(obj, pod), at(obj, box)
    move(one, image="vllm/vllm-openai:v0.9.1",
         args=["--model", "meta-llama/Llama-3.1-8B-Instruct"])
    for key in ("env", "envFrom", "volumeMounts", "volumeDevices"):
        one.pop(key, None)
    one["securityContext"] = {"runAsUser": 1000}
    spec["securityContext"] = {}
    return box + ("securityContext", "runAsUser")


@near(home_of_root)
def home_of_all(obj, pod, box):
    at(obj, box)["env"] = [{"name": "HOME", "value": "/tmp"}]


@defect("server-port-mismatch", "container")
def port_of_nobody(obj, pod, box):
    if not native(obj, pod) or group_kind(obj)[1] != "Deployment" or \
            not one_container(obj, pod):
        return None
    one = at(obj, box)
    move(one, image="vllm/vllm-openai:v0.9.1",
         args=["--model", "m", "--port", "9000"],
         readinessProbe={"httpGet": {"path": "/health", "port": "api"}})
    one["ports"] = [{"name": "http", "containerPort": 9000}]
    return box + ("readinessProbe", "httpGet", "port")


@near(port_of_nobody)
def port_of_the_server(obj, pod, box):
    at(obj, box)["ports"][0]["name"] = "api"


@defect("selector-misses-pods", "pod")
def one_letter_more(obj, pod):
    if not templated(obj, pod):
        return None
    notes(obj, pod, "labels")["planted"] = "server"
    at(obj, pod)["affinity"] = {"podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "zone", "labelSelector": {
                "matchLabels": {"planted": "serverr"}}}]}}
    return pod + ("affinity",)


@near(one_letter_more)
def the_same_letters(obj, pod):
    at(obj, pod)["affinity"]["podAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"][0][
            "labelSelector"]["matchLabels"]["planted"] = "server"


@defect("temporary-folder-missing", "pod")
def nowhere_to_write(obj, pod):
    if not native(obj, pod):
        return None
    box = computing(obj, pod)[0]
    for key in ("env", "envFrom", "volumeMounts", "workingDir", "command",
                "args"):
        at(obj, box).pop(key, None)
    at(obj, box).update(image="vllm/vllm-openai:v0.11.0", securityContext={
        "readOnlyRootFilesystem": True})
    return box + ("securityContext",)


@near(nowhere_to_write)
def root_writable(obj, pod):
    at(obj, computing(obj, pod)[0])["securityContext"] = {}
