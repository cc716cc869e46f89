# SPDX-License-Identifier: Apache-2.0
"""Write reviews for the webhook's benchmark, as kube-apiserver sends them.

usage: bodies.py FOLDER

pod.json  a GPU Pod of a Job's controller, 3-5 KB
large.json  the same with six containers, 20 KiB
ptj.json  a PyTorchJob, 8 KB
big.json  a Job of twelve containers, 42 KB
          (these are clean: no rule of any preset finds anything)
deny.json, patch.json  Pods that a policy denies, patches
"""
import copy
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "webhook"))
from review import dump, review  # noqa: E402

# Fields that keep rules about autoscalers, topology and network from reporting.
THOUGHT_OF = {
    "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
    "kueue.x-k8s.io/podset-required-topology": "cloud.provider.com/block",
    "k8s.v1.cni.cncf.io/networks": "fabric"}
UID = "c1b1e6b2-4a0e-4f8e-9d4e-0d2a6f1d7b11"


def fields(*names):
    return {"f:" + name: {} for name in names}


def managed():
    container = fields("image", "imagePullPolicy", "name", "command", "args",
                       "terminationMessagePath", "volumeMounts")
    container["f:resources"] = {
        "f:limits": fields("cpu", "memory", "nvidia.com/gpu"),
        "f:requests": fields("cpu", "memory", "nvidia.com/gpu")}
    spec = fields("dnsPolicy", "nodeSelector", "restartPolicy",
                  "schedulerName", "securityContext", "tolerations", "volumes")
    spec["f:containers"] = {'k:{"name":"train"}': container}
    return [{"manager": "kube-controller-manager", "operation": "Update",
             "apiVersion": "v1", "time": "2026-01-01T00:00:00Z",
             "fieldsType": "FieldsV1", "fieldsV1": {
                 "f:metadata": {"f:labels": fields("app", "job-name")},
                 "f:spec": spec}}]


def mounts():
    return [{"name": "shm", "mountPath": "/dev/shm"},
            {"name": "data", "mountPath": "/data"},
            {"name": "kube-api-access-x7k2p", "readOnly": True,
             "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}]


def container(name="train"):
    amounts = {"cpu": "32", "memory": "256Gi", "nvidia.com/gpu": "8",
               "ephemeral-storage": "100Gi"}
    return {
        "name": name, "image": "registry.example.com/team-a/train:2.4.1",
        "imagePullPolicy": "IfNotPresent",
        "command": ["torchrun", "--nproc_per_node=8", "train.py"],
        "args": ["--epochs", "10", "--batch-size", "64"],
        "env": [
            {"name": "NCCL_SOCKET_IFNAME", "value": "eth0"},
            {"name": "OMP_NUM_THREADS", "value": "8"},
            {"name": "POD_NAME", "valueFrom": {"fieldRef": {
                "apiVersion": "v1", "fieldPath": "metadata.name"}}},
            {"name": "WANDB_API_KEY", "valueFrom": {"secretKeyRef": {
                "name": "wandb", "key": "key"}}}],
        "resources": {"limits": dict(amounts), "requests": dict(amounts)},
        "volumeMounts": mounts(),
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File"}


def volumes():
    token = {"serviceAccountToken": {"expirationSeconds": 3607,
                                     "path": "token"}}
    root = {"configMap": {"name": "kube-root-ca.crt", "items": [
        {"key": "ca.crt", "path": "ca.crt"}]}}
    space = {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {
        "apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}}
    return [
        {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "16Gi"}},
        {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "kube-api-access-x7k2p", "projected": {
            "defaultMode": 420, "sources": [token, root, space]}}]


def spec(name="train"):
    lost = [{"key": "node.kubernetes.io/" + key, "operator": "Exists",
             "effect": "NoExecute", "tolerationSeconds": 300}
            for key in ("not-ready", "unreachable")]
    return {
        "restartPolicy": "Never", "serviceAccountName": "train",
        "serviceAccount": "train", "priorityClassName": "batch-low",
        "priority": 100, "preemptionPolicy": "PreemptLowerPriority",
        "schedulerName": "default-scheduler", "dnsPolicy": "ClusterFirst",
        "terminationGracePeriodSeconds": 120, "enableServiceLinks": True,
        "nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"},
        "securityContext": {"runAsUser": 1000, "runAsNonRoot": True},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists",
                         "effect": "NoSchedule"}] + lost,
        "volumes": volumes(), "containers": [container(name)]}


def pod():
    labels = {"app": "train", "app.kubernetes.io/name": "train",
              "batch.kubernetes.io/controller-uid": UID,
              "batch.kubernetes.io/job-name": "train",
              "controller-uid": UID, "job-name": "train"}
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "train",
             "uid": UID, "controller": True, "blockOwnerDeletion": True}
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "generateName": "train-", "namespace": "team-a", "labels": labels,
            "annotations": {"batch.kubernetes.io/job-tracking": ""},
            "finalizers": ["batch.kubernetes.io/job-tracking"],
            "ownerReferences": [owner], "managedFields": managed()},
        "spec": spec(), "status": {"phase": "Pending", "qosClass": "Guaranteed"}}


def add_env(c, n):
    for i in range(n):
        c["env"].append({"name": "TRAINING_OPTION_%d" % i,
                         "value": "some value of the option %d" % i})


def pytorch_job():
    def replica(n):
        made = spec("pytorch")
        del made["restartPolicy"]
        add_env(made["containers"][0], 18)
        return {"replicas": n, "restartPolicy": "OnFailure", "template": {
            "metadata": {"labels": {"app": "train"},
                         "annotations": THOUGHT_OF}, "spec": made}}

    return {
        "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
        "metadata": {"name": "train", "namespace": "team-a",
                     "labels": {"kueue.x-k8s.io/queue-name": "team-a"},
                     "managedFields": managed()},
        "spec": {"runPolicy": {"cleanPodPolicy": "Running", "backoffLimit": 3,
                               "activeDeadlineSeconds": 86400,
                               "ttlSecondsAfterFinished": 3600},
                 "pytorchReplicaSpecs": {"Master": replica(1),
                                         "Worker": replica(3)}}}


def big():
    made = spec()
    for i in range(11):
        side = copy.deepcopy(container("side-%d" % i))
        side["command"], side["args"] = ["/usr/bin/relay"], ["--port", "9000"]
        for amounts in side["resources"].values():
            del amounts["nvidia.com/gpu"]
            amounts["memory"] = "1Gi"
        side["volumeMounts"] = side["volumeMounts"][1:]
        add_env(side, 37)
        made["containers"].append(side)
    labels = {"example.com/label-%d" % i: "value-%d" % i for i in range(40)}
    refused = {"rules": [{"action": "Ignore", "onPodConditions": [
        {"type": "DisruptionTarget", "status": "True"}]}]}
    return {
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "big", "namespace": "team-a", "labels": labels},
        "spec": {"backoffLimit": 2, "activeDeadlineSeconds": 86400,
                 "ttlSecondsAfterFinished": 600, "podFailurePolicy": refused,
                 "podReplacementPolicy": "Failed",
                 "template": {"metadata": {"labels": labels,
                                           "annotations": THOUGHT_OF},
                              "spec": made}}}


def large():
    made = pod()
    for i in range(5):
        side = copy.deepcopy(container("side-%d" % i))
        for amounts in side["resources"].values():
            del amounts["nvidia.com/gpu"]
        side["volumeMounts"] = side["volumeMounts"][1:]
        add_env(side, 36)
        made["spec"]["containers"].append(side)
    return made


def denied():
    made = pod()
    del made["metadata"]["ownerReferences"]
    del made["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"]
    return made


def patched():
    made = pod()
    made["spec"]["volumes"] = made["spec"]["volumes"][1:]
    c = made["spec"]["containers"][0]
    c["volumeMounts"] = c["volumeMounts"][1:]
    made["spec"]["tolerations"] = made["spec"]["tolerations"][1:]
    return made


def main():
    folder = sys.argv[1]
    controller = "system:serviceaccount:kube-system:job-controller"
    for name, made, user in (
            ("pod", pod(), controller), ("large", large(), controller),
            ("ptj", pytorch_job(), "alice"),
            ("big", big(), "alice"), ("deny", denied(), "alice"),
            ("patch", patched(), controller)):
        dump(review(made, user=user), "%s/%s.json" % (folder, name))


main()
