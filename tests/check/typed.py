#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare the typed objects of gpugate with the objects that kube-apiserver
passes to a ValidatingAdmissionPolicy.

usage: typed.py policies DUMP FOLDER   write FOLDER/objects/*.yaml and a policy
                                       for each line of DUMP (typed_dump)
       typed.py judge FOLDER           standard input: NAME and a warning of the
                                       API server, one per line
Each policy warns if its expression is false, and always with the text
`marker`.
"""
import copy
import os
import subprocess
import sys

import yaml

CONTAINER = {"name": "main", "image": "registry.example.com/train:1"}

# Changes of a pod's spec.
SPECS = {
    "plain": {},
    "gpus": {"containers": [{
        **CONTAINER, "image": "registry.example.com/train",
        "resources": {"limits": {"nvidia.com/gpu": 8, "cpu": 2.5,
                                 "memory": "4096Mi"},
                      "requests": {"cpu": "500m"}}}]},
    "zero": {"containers": [{
        **CONTAINER, "env": [], "args": [], "stdin": False, "tty": True,
        "workingDir": "", "resources": {"limits": {"cpu": 0}},
        "ports": [{"containerPort": 80, "hostPort": 0}]}],
        "hostNetwork": False, "hostPID": True, "volumes": [],
        "automountServiceAccountToken": False},
    "host": {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet",
             "containers": [{**CONTAINER,
                             "ports": [{"containerPort": 8080}]}]},
    "probes": {"containers": [{
        **CONTAINER,
        "livenessProbe": {"httpGet": {"port": 80}},
        "readinessProbe": {"tcpSocket": {"port": "web"},
                           "periodSeconds": 3},
        "startupProbe": {"grpc": {"port": 9000}},
        "lifecycle": {"preStop": {"httpGet": {"port": 1, "path": "/x"}},
                      "postStart": {"exec": {"command": ["true"]}}}}]},
    "volumes": {"serviceAccountName": "default", "volumes": [
        {"name": "a"}, {"name": "b", "hostPath": {"path": "/dev/shm"}},
        {"name": "c", "emptyDir": {"medium": "Memory", "sizeLimit": "8192Mi"}},
        {"name": "d", "secret": {"secretName": "s"}},
        {"name": "e", "configMap": {"name": "m", "optional": False}},
        {"name": "f", "downwardAPI": {"items": [
            {"path": "p", "fieldRef": {"fieldPath": "metadata.name"}}]}},
        {"name": "g", "projected": {"sources": [
            {"serviceAccountToken": {"path": "t"}},
            {"configMap": {"name": "m"}}]}},
        {"name": "h", "persistentVolumeClaim": {"claimName": "c"}},
        {"name": "i", "csi": {"driver": "d.example.com"}},
        {"name": "j", "nfs": {"server": "s", "path": "/p"}},
        {"name": "k", "ephemeral": {"volumeClaimTemplate": {"spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "fast",
            "resources": {"requests": {"storage": "1024Mi"}}}}}}],
        "containers": [{**CONTAINER, "volumeMounts": [
            {"name": "a", "mountPath": "/a", "readOnly": False},
            {"name": "b", "mountPath": "/b", "readOnly": True}]}]},
    "env": {"containers": [{**CONTAINER, "env": [
        {"name": "A", "value": ""}, {"name": "B", "value": "1"},
        {"name": "C", "valueFrom": {"fieldRef": {
            "fieldPath": "metadata.name"}}},
        {"name": "D", "valueFrom": {"resourceFieldRef": {
            "resource": "limits.cpu"}}},
        {"name": "E", "valueFrom": {"secretKeyRef": {
            "name": "s", "key": "k"}}}],
        "envFrom": [{"configMapRef": {"name": "m"}, "prefix": ""}]}]},
    "init": {"initContainers": [
        {**CONTAINER, "name": "first", "image": "a:latest"},
        {**CONTAINER, "name": "side", "image": "a@sha256:" + "0" * 64,
         "restartPolicy": "Always"}]},
    "security": {"securityContext": {"runAsUser": 0, "fsGroup": 100,
                                     "runAsNonRoot": False},
                 "containers": [{**CONTAINER, "securityContext": {
                     "privileged": False,
                     "allowPrivilegeEscalation": False,
                     "capabilities": {"drop": ["ALL"], "add": []},
                     "seccompProfile": {"type": "RuntimeDefault"}}}]},
    "placed": {"nodeSelector": {"gpu": "h100"},
               "tolerations": [{"key": "nvidia.com/gpu",
                                "operator": "Exists"}],
               "affinity": {"podAntiAffinity": {
                   "preferredDuringSchedulingIgnoredDuringExecution": [{
                       "weight": 1, "podAffinityTerm": {
                           "topologyKey": "zone",
                           "labelSelector": {}}}]}},
               "topologySpreadConstraints": [{
                   "maxSkew": 1, "topologyKey": "zone",
                   "whenUnsatisfiable": "ScheduleAnyway"}],
               "terminationGracePeriodSeconds": 0,
               "enableServiceLinks": False, "shareProcessNamespace": True,
               "imagePullSecrets": [{"name": "s"}],
               "schedulerName": "volcano", "serviceAccountName": "runner"},
    "claims": {"resourceClaims": [{"name": "gpu",
                                   "resourceClaimTemplateName": "t"}],
               "containers": [{**CONTAINER, "resources": {
                   "claims": [{"name": "gpu"}]}}]},
}

LABELS = {"app": "a"}
STRATEGIES = [{}, {"strategy": {"type": "Recreate"}},
              {"strategy": {"rollingUpdate": {"maxSurge": 1}},
               "replicas": 0, "minReadySeconds": 0}]
JOBS = [{}, {"parallelism": 4}, {"completions": 4, "suspend": True,
                                 "completionMode": "Indexed",
                                 "backoffLimitPerIndex": 1},
        {"podFailurePolicy": {"rules": [{
            "action": "Ignore",
            "onPodConditions": [{"type": "DisruptionTarget"}]}]},
         "backoffLimit": 0}]


def root(kind, version, spec=None, **more):
    out = {"apiVersion": version, "kind": kind, "metadata": {}}
    if spec is not None:
        out["spec"] = spec
    out.update(more)
    return out


def template(spec):
    return {"metadata": {"labels": dict(LABELS)}, "spec": spec}


def of_pods(spec):
    """Yield each kind that has pods, with this pod spec."""
    selector = {"selector": {"matchLabels": dict(LABELS)}}
    yield root("Pod", "v1", spec)
    for more in STRATEGIES:
        yield root("Deployment", "apps/v1",
                   {**selector, "template": template(spec), **more})
    yield root("ReplicaSet", "apps/v1",
               {**selector, "template": template(spec)})
    for update in ({}, {"updateStrategy": {"type": "OnDelete"}}):
        yield root("DaemonSet", "apps/v1",
                   {**selector, "template": template(spec), **update})
        yield root("StatefulSet", "apps/v1",
                   {**selector, "template": template(spec), "serviceName": "",
                    "volumeClaimTemplates": [{
                        "metadata": {"name": "data"},
                        "spec": {"accessModes": ["ReadWriteOnce"],
                                 "storageClassName": "fast",
                                 "resources": {"requests": {
                                     "storage": "1.5Gi"}}}}], **update})
    yield root("ReplicationController", "v1",
               {"selector": dict(LABELS), "template": template(spec)})
    yield root("PodTemplate", "v1", template=template(spec))
    for more in JOBS:
        job = {"template": template({**spec, "restartPolicy": "Never"}),
               **more}
        yield root("Job", "batch/v1", job)
        yield root("CronJob", "batch/v1",
                   {"schedule": "0 1 * * *", "jobTemplate": {"spec": job}})


OTHERS = [
    root("Service", "v1", {"ports": [{"port": 80}]}),
    root("Service", "v1", {"type": "NodePort", "ports": [
        {"port": 80, "targetPort": "web", "name": "a"},
        {"port": 53, "protocol": "UDP", "name": "b"}]}),
    root("Service", "v1", {"type": "LoadBalancer", "ports": [{"port": 80}],
                           "sessionAffinity": "None"}),
    root("Service", "v1", {"type": "ExternalName",
                           "externalName": "x.example.com"}),
    root("Service", "v1", {"clusterIP": "None", "ports": [{"port": 80}]}),
    root("ConfigMap", "v1", data={"a": "", "b": "1"}),
    root("Secret", "v1", type="Opaque", data={"a": "YQ=="}),
    root("ServiceAccount", "v1", automountServiceAccountToken=False),
    root("Namespace", "v1"),
    root("PersistentVolumeClaim", "v1", {
        "accessModes": ["ReadWriteOnce"], "storageClassName": "fast",
        "resources": {"requests": {"storage": "2048Mi"}}}),
    root("PersistentVolume", "v1", {
        "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "0.5Gi"},
        "hostPath": {"path": "/x"}}),
    root("ResourceQuota", "v1", {"hard": {"requests.nvidia.com/gpu": 8,
                                          "limits.cpu": "1000m"}}),
    root("NetworkPolicy", "networking.k8s.io/v1", {
        "podSelector": {}, "ingress": [{"ports": [{"port": 80}]}]}),
    root("NetworkPolicy", "networking.k8s.io/v1", {
        "podSelector": {}, "egress": [{}]}),
    root("Ingress", "networking.k8s.io/v1", {
        "ingressClassName": "nginx", "rules": [{"http": {"paths": [{
            "path": "/", "pathType": "Prefix", "backend": {"service": {
                "name": "s", "port": {"number": 80}}}}]}}]}),
    root("PodDisruptionBudget", "policy/v1", {
        "minAvailable": 1, "selector": {"matchLabels": dict(LABELS)}}),
    root("HorizontalPodAutoscaler", "autoscaling/v2", {
        "maxReplicas": 3, "scaleTargetRef": {
            "apiVersion": "apps/v1", "kind": "Deployment", "name": "a"},
        "metrics": [{"type": "Resource", "resource": {
            "name": "cpu", "target": {"type": "Utilization",
                                      "averageUtilization": 80}}}]}),
    root("HorizontalPodAutoscaler", "autoscaling/v1", {
        "maxReplicas": 3, "scaleTargetRef": {
            "apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}}),
    root("Role", "rbac.authorization.k8s.io/v1", rules=[{
        "apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]),
    root("ClusterRole", "rbac.authorization.k8s.io/v1"),
    root("RoleBinding", "rbac.authorization.k8s.io/v1",
         roleRef={"kind": "Role", "name": "r",
                  "apiGroup": "rbac.authorization.k8s.io"},
         subjects=[{"kind": "User", "name": "u"}, {"kind": "Group",
                                                   "name": "g"},
                   {"kind": "ServiceAccount", "name": "s",
                    "namespace": "ns"}]),
    root("PriorityClass", "scheduling.k8s.io/v1", value=1000),
    root("StorageClass", "storage.k8s.io/v1", provisioner="p.example.com"),
    root("RuntimeClass", "node.k8s.io/v1", handler="nvidia"),
    root("Lease", "coordination.k8s.io/v1", {"holderIdentity": "h"}),
    root("EndpointSlice", "discovery.k8s.io/v1", addressType="IPv4",
         endpoints=[{"addresses": ["10.1.1.1"]}], ports=[{"port": 80}]),
    root("ResourceClaim", "resource.k8s.io/v1", {"devices": {"requests": [
        {"name": "g", "exactly": {"deviceClassName": "gpu.nvidia.com",
                                  "count": 2}}]}}),
]
CLUSTER = {"Namespace", "PersistentVolume", "ClusterRole", "PriorityClass",
           "StorageClass", "RuntimeClass"}


def objects():
    for name, change in SPECS.items():
        spec = {"containers": [dict(CONTAINER)], **change}
        for one in of_pods(spec):
            yield name, copy.deepcopy(one)
    for one in OTHERS:
        yield "other", copy.deepcopy(one)


def policy(name, one, expressions):
    spec = {
        "matchConstraints": {"resourceRules": [{
            "apiGroups": ["*"], "apiVersions": ["*"],
            "operations": ["CREATE"], "resources": ["*"],
            "resourceNames": [name]}]},
        "validations": [{"expression": e, "message": e.replace("\n", " ")}
                        for e in expressions + ["'marker' == object.kind"]]}
    binding = {"policyName": name, "validationActions": ["Warn"]}
    group = "admissionregistration.k8s.io/v1"
    yield {"apiVersion": group, "kind": "ValidatingAdmissionPolicy",
           "metadata": {"name": name}, "spec": spec}
    yield {"apiVersion": group, "kind": "ValidatingAdmissionPolicyBinding",
           "metadata": {"name": name}, "spec": binding}


def write_policies(dump, folder):
    os.makedirs(os.path.join(folder, "objects"), exist_ok=True)
    policies, count = [], 0
    for i, (what, one) in enumerate(objects()):
        name = f"{what}-{one['kind'].lower()}-{i}"
        one["metadata"]["name"] = name
        if one["kind"] not in CLUSTER:
            one["metadata"]["namespace"] = "default"
        path = os.path.join(folder, "objects", name + ".yaml")
        with open(path, "w", encoding="utf-8") as file:
            yaml.safe_dump(one, file)
        out = subprocess.run([dump, path], check=True, text=True,
                             capture_output=True).stdout
        expressions = out.splitlines()
        count += len(expressions)
        policies += policy(name, one, expressions)
    with open(os.path.join(folder, "policies.yaml"), "w",
              encoding="utf-8") as file:
        yaml.safe_dump_all(policies, file)
    print(f"typed: {len(policies) // 2} objects, {count} expressions")


def judge(folder):
    names = {name[:-5] for name in
             os.listdir(os.path.join(folder, "objects"))}
    marked, wrong, lines = set(), set(), {}
    for line in sys.stdin:
        name, _, text = line.rstrip("\n").partition(" ")
        if text.endswith("marker' == object.kind"):
            marked.add(name)
        else:
            wrong.add(name)
            text = text.rpartition("' with binding ")[2]
            lines.setdefault(text.partition(": ")[2], []).append(name)
    for text, where in sorted(lines.items(), key=lambda x: -len(x[1])):
        print(f"{len(where)} x {text} ({where[0]})")
    for name in sorted(names - marked):
        print(f"not judged: {name}")
    good = marked - wrong
    print(f"typed: {len(good)} passed, {len(names - good)} failed")
    return len(names - good) > 0


if __name__ == "__main__":
    if sys.argv[1] == "policies":
        write_policies(sys.argv[2], sys.argv[3])
    else:
        sys.exit(judge(sys.argv[2]))
