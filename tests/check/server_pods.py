# SPDX-License-Identifier: Apache-2.0
"""Compare gpugate with the API server's own validation of pods.

usage: server_pods.py ORACLE GPUGATE WORK COUNT SEED DIFFERENCES

The pods of tests/rules, and those of server-pods.yaml, are changed at random
as in operators.py. ORACLE decides whether the API server rejects each pod.
gpugate reads every other pod as it is, and the rest as templates of custom kinds.
A rejected pod must have an error; an accepted pod must not have an error of the
rules about rejections. The bounds and the format of DIFFERENCES (lines of
`pods`) are as in operators.py.
"""
import glob
import json
import os
import sys

import yaml

import operators

RULES = ("server-rejects", "pod-invalid", "field-value-invalid",
         "field-missing")


def template(pod):
    meta = {k: v for k, v in (pod.get("metadata") or {}).items()
            if k in ("labels", "annotations")}
    return {"metadata": meta, "spec": pod["spec"]} if meta else {
        "spec": pod["spec"]}


def kind(version, name, spec):
    return name, lambda pod: {"apiVersion": version, "kind": name,
                              "metadata": {"name": "a", "namespace": "ml"},
                              "spec": spec(template(pod))}


def replicas(field, role):
    return lambda t: {field: {role: {"replicas": 1, "template": t}}}


def ray(t):
    return {"headGroupSpec": {"template": t}}


# Custom kinds whose operator takes the whole template.
KINDS = [
    kind("jobset.x-k8s.io/v1alpha2", "JobSet", lambda t: {"replicatedJobs": [
        {"name": "w", "replicas": 1, "template": {"spec": {"template": t}}}]}),
    kind("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", lambda t: {
        "replicas": 1, "leaderWorkerTemplate": {
            "size": 1, "workerTemplate": t}}),
    kind("kubeflow.org/v1", "PyTorchJob",
         replicas("pytorchReplicaSpecs", "Master")),
    kind("kubeflow.org/v1", "TFJob", replicas("tfReplicaSpecs", "Worker")),
    kind("kubeflow.org/v1", "XGBoostJob",
         replicas("xgbReplicaSpecs", "Master")),
    kind("kubeflow.org/v1", "JAXJob", replicas("jaxReplicaSpecs", "Worker")),
    kind("kubeflow.org/v1", "PaddleJob",
         replicas("paddleReplicaSpecs", "Worker")),
    kind("kubeflow.org/v2beta1", "MPIJob",
         replicas("mpiReplicaSpecs", "Launcher")),
    kind("ray.io/v1", "RayCluster", ray),
    kind("ray.io/v1", "RayJob", lambda t: {"entrypoint": "x",
                                           "rayClusterSpec": ray(t)}),
    kind("batch.volcano.sh/v1alpha1", "Job", lambda t: {
        "minAvailable": 1, "schedulerName": "volcano",
        "tasks": [{"name": "w", "replicas": 1, "template": t}]}),
    kind("kubeflow.org/v1", "Notebook", lambda t: {"template": t}),
    kind("ray.io/v1", "RayService", lambda t: {"rayClusterConfig": ray(t)}),
]
# Kinds whose operator sets the restartPolicy of the pods.
OVERWRITTEN = ("MPIJob",)


def as_pod(spec, meta=None):
    meta = meta if isinstance(meta, dict) else {}
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": dict({"name": "a", "namespace": "ml"},
                             **{k: meta[k] for k in ("labels", "annotations")
                                if k in meta}),
            "spec": spec}


def pods_of(doc):
    if not isinstance(doc, dict):
        return
    if doc.get("kind") == "Pod" and isinstance(doc.get("spec"), dict):
        yield as_pod(doc["spec"], doc.get("metadata"))
        return
    for container, key, _ in operators.each_place(doc):
        value = container[key]
        if key == "template" and isinstance(value, dict) and isinstance(
                value.get("spec"), dict) and "containers" in value["spec"]:
            yield as_pod(value["spec"], value.get("metadata"))


def read_pods():
    here = os.path.dirname(os.path.abspath(__file__))
    found = []
    for name in [os.path.join(here, "server-pods.yaml")] + sorted(glob.glob(
            os.path.join(operators.TESTS, "rules", "*", "*.yaml"))):
        if "/invalid-syntax/" in name:
            continue
        with open(name, encoding="utf-8") as text:
            for doc in yaml.load_all(text, operators.Loader):
                found += pods_of(doc)
    texts = sorted({json.dumps(pod, sort_keys=True, default=str)
                    for pod in found})
    return [json.loads(text) for text in texts if
            not operators.has_placeholder(text) and
            not operators.is_patch(json.loads(text))]


def main():
    oracle, gpugate, work, count, seed, differences = sys.argv[1:]
    known = operators.read_differences(differences, "pods")
    mutator = operators.Mutator(read_pods(), int(seed))
    made = [as_pod(pod.get("spec"), pod.get("metadata")) for pod in
            (mutator.make() for _ in range(int(count)))]
    os.makedirs(work, exist_ok=True)
    for i, pod in enumerate(made):
        shown = pod
        if i % 2:
            name, wrap = KINDS[i // 2 % len(KINDS)]
            if name in OVERWRITTEN:
                pod["spec"].pop("restartPolicy", None)
            shown = wrap(pod)
        with open(os.path.join(work, "%d.json" % i), "w",
                  encoding="utf-8") as out:
            json.dump(shown, out)
    answers = operators.answers_of(oracle, made)
    found = operators.findings_of(gpugate, work)
    tally = operators.Tally("pods", known)
    for i, answer in enumerate(answers):
        here = found["%d.json" % i]
        tally.count(i, answer, [f for f in here if f["rule"] in RULES], here)
    sys.exit(tally.report(made))


main()
