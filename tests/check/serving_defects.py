# SPDX-License-Identifier: Apache-2.0
"""Defects for the rules about spot nodes, serving and a site's own values, each
with a near miss that must not be reported (see defects.py)."""
from defects import (alone, computing, defect, give, near, one_container,
                     run)
from pod_paths import at, group_kind

__all__ = []
GKE, AKS = "cloud.google.com/gke-spot", "kubernetes.azure.com/scalesetpriority"
QUEUE = "kueue.x-k8s.io/queue-name"
EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
DISRUPT = "karpenter.sh/do-not-disrupt"
META = ("spec", "template", "metadata")


# --- helpers ------------------------------------------------------------------

def on(obj, pod, key, value):
    spec = at(obj, pod)
    spec.pop("affinity", None)
    spec.pop("tolerations", None)
    spec["nodeSelector"] = {key: value}
    return pod + ("nodeSelector", key)


def batch(obj, pod, box):
    """Turn the object into a one-pod training Job without volume mounts.
    Return false if that is impossible."""
    if group_kind(obj) != ("batch", "Job") or \
            run(obj, pod, box, 1, "torchrun", "train.py") is None:
        return False
    at(obj, box).pop("volumeMounts", None)
    at(obj, box).pop("lifecycle", None)
    at(obj, pod).pop("nodeSelector", None)
    for other in at(obj, pod + ("containers",)):
        if other is not at(obj, box):
            return False
    (at(obj, pod[:-1]).get("metadata") or {}).pop("annotations", None)
    return True


def server(obj, pod, box):
    """Turn the object into a Deployment of one model server. Return false if
    that is impossible."""
    if obj["kind"] != "Deployment" or \
            run(obj, pod, box, 1, "vllm", "serve", "m") is None:
        return False
    obj["spec"]["replicas"] = 1
    obj["spec"].pop("strategy", None)
    at(obj, pod).pop("nodeSelector", None)
    meta = at(obj, pod[:-1]).setdefault("metadata", {})
    meta.pop("annotations", None)
    return True


# --- spot ---------------------------------------------------------------------

@defect("spot-without-checkpoint", "container")
def keeps_nothing(obj, pod, box):
    return on(obj, pod, GKE, "true") if batch(obj, pod, box) else None


@near(keeps_nothing)
def keeps_something(obj, pod, box):
    at(obj, box)["command"] += ["--checkpoint-dir=gs://bucket/run"]


@defect("spot-serving-no-fallback", "container", "all")
def only_one(obj, pod, box):
    return on(obj, pod, GKE, "true") if server(obj, pod, box) else None


@near(only_one)
def three(obj, pod, box):
    obj["spec"]["replicas"] = 3


@defect("spot-toleration-missing", "pod", "all")
def not_tolerated(obj, pod):
    return on(obj, pod, AKS, "spot") if computing(obj, pod) else None


@near(not_tolerated)
def tolerated(obj, pod):
    at(obj, pod)["tolerations"] = [{"key": AKS, "operator": "Exists"}]


@defect("spot-grace-too-long", "pod")
def an_hour(obj, pod):
    if not computing(obj, pod):
        return None
    on(obj, pod, GKE, "true")
    at(obj, pod)["terminationGracePeriodSeconds"] = 3600
    return pod + ("terminationGracePeriodSeconds",)


@near(an_hour)
def some_seconds(obj, pod):
    at(obj, pod)["terminationGracePeriodSeconds"] = 15


@defect("autoscaler-may-evict-training", "container", "all")
def may_go(obj, pod, box):
    return pod[:-1] if batch(obj, pod, box) else None


@near(may_go)
def must_stay(obj, pod, box):
    at(obj, pod[:-1]).setdefault("metadata", {})["annotations"] = {
        EVICT: "false"}


@defect("do-not-disrupt-on-serving", "container", "all")
def stays_for_ever(obj, pod, box):
    if not server(obj, pod, box):
        return None
    at(obj, pod[:-1])["metadata"]["annotations"] = {DISRUPT: "true"}
    return META + ("annotations",)


@near(stays_for_ever)
def stays_a_while(obj, pod, box):
    at(obj, META)["annotations"][DISRUPT] = "4h"


# --- serving ------------------------------------------------------------------

@defect("gpu-rollout-surge", "container", "all")
def needs_more(obj, pod, box):
    return ("spec",) if server(obj, pod, box) else None


@near(needs_more)
def needs_none(obj, pod, box):
    obj["spec"]["strategy"] = {"type": "Recreate"}


@defect("rayservice-upgrade-doubles", "object", "all")
def twice(obj):
    if obj["kind"] != "RayService":
        return None
    obj["spec"].pop("upgradeStrategy", None)
    return ("spec",)


@near(twice)
def in_place(obj):
    obj["spec"]["upgradeStrategy"] = {"type": "None"}


@defect("single-replica-gpu-serving", "container", "all")
def one_in_production(obj, pod, box):
    if not server(obj, pod, box):
        return None
    obj["metadata"]["labels"] = {"env": "prod"}
    return ("metadata", "labels", "env")


@near(one_in_production)
def one_for_tests(obj, pod, box):
    obj["metadata"]["labels"]["env"] = "test"


def model(obj):
    """Remove the annotations and the predictor's timeout from a KServe
    InferenceService. Return false for other objects."""
    found = obj["kind"] == "InferenceService" and \
        obj["apiVersion"] == "serving.kserve.io/v1beta1" and \
        "predictor" in obj["spec"]
    if found:
        obj["metadata"].pop("annotations", None)
        obj["spec"]["predictor"].pop("timeout", None)
        obj["spec"]["predictor"].pop("annotations", None)
    return found


@defect("scale-to-zero-without-budget", "object", "all")
def from_zero(obj):
    if not model(obj):
        return None
    obj["spec"]["predictor"]["minReplicas"] = 0
    return ("spec", "predictor", "minReplicas")


@near(from_zero)
def from_one(obj):
    obj["spec"]["predictor"]["minReplicas"] = 1


@defect("storage-init-without-cache", "object", "all")
def fetched_by_each(obj):
    block = next((b for b in (obj["spec"].get("predictor") or {}).values()
                  if isinstance(b, dict) and "resources" in b), None) \
        if model(obj) else None
    if block is None or "workerSpec" in obj["spec"]["predictor"]:
        return None
    obj["spec"]["predictor"].update(minReplicas=3, maxReplicas=3)
    block["storageUri"] = "hf://org/model"
    return ("spec", "predictor")


@near(fetched_by_each)
def on_a_volume(obj):
    for block in obj["spec"]["predictor"].values():
        if isinstance(block, dict) and "storageUri" in block:
            block["storageUri"] = "pvc://models/m"


@defect("liveness-delay-as-startup", "container", "all")
def late(obj, pod, box):
    if not server(obj, pod, box):
        return None
    at(obj, box)["livenessProbe"] = {
        "httpGet": {"path": "/health", "port": 8000},
        "initialDelaySeconds": 900}
    return box + ("livenessProbe", "initialDelaySeconds")


@near(late)
def early(obj, pod, box):
    at(obj, box)["livenessProbe"]["initialDelaySeconds"] = 30


@defect("service-link-env-collision", "container", "all")
def same_name(obj, pod, box):
    if not server(obj, pod, box):
        return None
    at(obj, pod).pop("enableServiceLinks", None)
    obj["metadata"]["keep"] = "vllm"
    return pod


@near(same_name)
def no_links(obj, pod, box):
    at(obj, pod)["enableServiceLinks"] = False


@defect("hpa-gpu-cpu-metric", "object", "all")
def by_cpu(obj):
    if not model(obj):
        return None
    obj["spec"]["predictor"].pop("autoScaling", None)
    obj["spec"]["predictor"].update(scaleMetric="cpu", minReplicas=1,
                                    maxReplicas=4)
    return ("spec", "predictor", "scaleMetric")


@near(by_cpu)
def by_requests(obj):
    obj["spec"]["predictor"]["scaleMetric"] = "concurrency"


@defect("ray-dashboard-exposed", "object", "all")
def for_everybody(obj):
    if group_kind(obj) != ("ray.io", "RayCluster"):
        return None
    obj["spec"].pop("authOptions", None)
    obj["spec"]["headGroupSpec"]["serviceType"] = "LoadBalancer"
    return ("spec", "headGroupSpec", "serviceType")


@near(for_everybody)
def for_the_cluster(obj):
    obj["spec"]["headGroupSpec"]["serviceType"] = "ClusterIP"


@defect("istio-sidecar-training", "container", "all")
def a_proxy(obj, pod, box):
    if not batch(obj, pod, box):
        return None
    at(obj, pod[:-1]).setdefault("metadata", {})["labels"] = {
        "sidecar.istio.io/inject": "true"}
    return META + ("labels",)


@near(a_proxy)
def no_proxy(obj, pod, box):
    labels = at(obj, pod[:-1])["metadata"]["labels"]
    labels["sidecar.istio.io/inject"] = "false"


@defect("field-unknown", "container", "all")
def misplaced(obj, pod, box):
    if not alone(obj, pod) or not computing(obj, pod):
        return None
    at(obj, box)["livenessprobe"] = {"tcpSocket": {"port": 80}}
    return box + ("livenessprobe",)


@near(misplaced)
def well_placed(obj, pod, box):
    at(obj, box)["livenessProbe"] = at(obj, box).pop("livenessprobe")


@defect("field-unknown", "pod", "all")
def misspelled(obj, pod):
    if obj["apiVersion"] not in ("v1", "apps/v1", "batch/v1", "kubeflow.org/v1",
                                 "jobset.x-k8s.io/v1alpha2"):
        return None
    at(obj, pod)["restartpolicy"] = "Never"
    return pod + ("restartpolicy",)


@near(misspelled)
def well_spelled(obj, pod):
    at(obj, pod)["restartPolicy"] = at(obj, pod).pop("restartpolicy")


# --- requirements of a site ---------------------------------------------------

@defect("runtimeclass-missing", "pod", "site")
def no_class(obj, pod):
    if not alone(obj, pod) or not one_container(obj, pod):
        return None
    at(obj, pod).pop("runtimeClassName", None)
    return pod


@near(no_class)
def a_class(obj, pod):
    at(obj, pod)["runtimeClassName"] = "nvidia"


@defect("scheduler-name-unknown", "pod", "site")
def no_scheduler(obj, pod):
    if not computing(obj, pod):
        return None
    at(obj, pod)["schedulerName"] = "volcan"
    return pod + ("schedulerName",)


@near(no_scheduler)
def a_scheduler(obj, pod):
    at(obj, pod)["schedulerName"] = "volcano"


@defect("queue-bypass", "object", "site")
def beside_the_queue(obj):
    obj["metadata"]["namespace"] = "queued"
    (obj["metadata"].get("labels") or {}).pop(QUEUE, None)
    return ("metadata", "name") if obj["kind"] in (
        "Job", "PyTorchJob", "RayCluster") else None


@near(beside_the_queue)
def in_the_queue(obj):
    obj["metadata"]["labels"] = {QUEUE: "gpu"}


@defect("cost-labels-missing", "pod", "site")
def nobodys(obj, pod):
    if not computing(obj, pod):
        return None
    (obj["metadata"].get("labels") or {}).pop("cost-center", None)
    return ()


@near(nobodys)
def somebodys(obj, pod):
    obj["metadata"]["labels"] = {"cost-center": "x"}


@defect("gpu-cpu-memory-ratio", "pod", "site")
def most_of_the_node(obj, pod):
    box = one_container(obj, pod)
    if not box or not give(obj, box, 1) or "resources" in at(obj, pod):
        return None
    resources = at(obj, box + ("resources",))
    for part in ("limits", "requests"):
        if part in resources:
            resources[part]["cpu"] = 4096
    return pod


@near(most_of_the_node)
def some_of_the_node(obj, pod):
    resources = at(obj, one_container(obj, pod) + ("resources",))
    for part in ("limits", "requests"):
        if part in resources:
            resources[part]["cpu"] = 1
    spec = at(obj, pod)
    for name in ("containers", "initContainers"):
        for box in spec.get(name) or []:
            for part in ("limits", "requests"):
                figures = (box.get("resources") or {}).get(part) or {}
                figures.pop("cpu", None)
                figures.pop("memory", None)


# --- transfer of the KV cache -----------------------------------------------------

@defect("nixl-side-channel-localhost", "container")
def no_host(obj, pod, box):
    if not server(obj, pod, box) or not one_container(obj, pod):
        return None
    obj["metadata"]["name"] = "prefill"
    obj["spec"]["template"]["metadata"]["labels"] = {"app": "prefill"}
    obj["spec"]["selector"] = {"matchLabels": {"app": "prefill"}}
    at(obj, pod).pop("hostNetwork", None)
    at(obj, box).update(env=[], args=[
        "--kv-transfer-config", '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'])
    at(obj, box).pop("envFrom", None)
    return box + ("args", 1)


@near(no_host)
def own_address(obj, pod, box):
    at(obj, box)["env"] = [{"name": "VLLM_NIXL_SIDE_CHANNEL_HOST", "valueFrom": {
        "fieldRef": {"fieldPath": "status.podIP"}}}]


# --- Services -----------------------------------------------------------------------

@defect("service-selects-no-pod", "pod", more=[
    {"apiVersion": "v1", "kind": "Service",
     "metadata": {"name": "planted-own"},
     "spec": {"clusterIP": "None", "selector": {"app": "planted-own"}}}])
def own_service(obj, pod):
    if group_kind(obj) not in {("apps", "Deployment"), ("apps", "StatefulSet")} or \
            not one_container(obj, pod):
        return None
    obj["metadata"].pop("namespace", None)
    labels = {"app": "planted-other"}
    at(obj, pod[:-1]).setdefault("metadata", {})["labels"] = labels
    obj["spec"]["selector"] = {"matchLabels": dict(labels)}
    if obj["kind"] == "StatefulSet":
        obj["spec"]["serviceName"] = "planted-own"
        return ("spec", "serviceName")
    at(obj, pod)["subdomain"] = "planted-own"
    return pod + ("subdomain",)


@near(own_service)
def selected(obj, pod):
    labels = {"app": "planted-own"}
    at(obj, pod[:-1])["metadata"]["labels"] = labels
    obj["spec"]["selector"] = {"matchLabels": dict(labels)}


def server_of(claim, host):
    return {"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "planted-first", "namespace": "planted"},
            "spec": {"replicas": 1, "selector": {"matchLabels": {"p": "first"}},
                     "template": {"metadata": {"labels": {"p": "first"}}, "spec": {
                         "nodeSelector": {HOSTNAME: host},
                         "containers": [{
                             "name": "s", "image": "registry.example.com/s:1",
                             "resources": {"limits": {"nvidia.com/gpu": 1}}}],
                         "volumes": [{"name": "c", "persistentVolumeClaim": {
                             "claimName": claim}}]}}}}


HOSTNAME = "kubernetes.io/hostname"


@defect("rwo-pvc-two-workloads", "pod", more=[
    {"apiVersion": "v1", "kind": "PersistentVolumeClaim",
     "metadata": {"name": "planted", "namespace": "planted"},
     "spec": {"accessModes": ["ReadWriteOnce"],
              "resources": {"requests": {"storage": "1Gi"}}}},
    server_of("planted", "a")])
def on_two_nodes(obj, pod):
    if group_kind(obj) not in {("apps", "Deployment"), ("apps", "StatefulSet")} or \
            not one_container(obj, pod):
        return None
    obj["metadata"]["namespace"] = "planted"
    at(obj, pod).pop("affinity", None)
    at(obj, pod)["nodeSelector"] = {HOSTNAME: "b"}
    at(obj, pod).setdefault("volumes", []).append(
        {"name": "planted", "persistentVolumeClaim": {"claimName": "planted"}})
    return ("more",)


@near(on_two_nodes)
def other_claim(obj, pod):
    at(obj, pod)["volumes"][-1]["persistentVolumeClaim"]["claimName"] = "other"
