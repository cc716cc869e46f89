# SPDX-License-Identifier: Apache-2.0
"""Test that the webhook compares whole workloads with the rest of a quota: with a
real kube-apiserver and its controller manager, and a state kept by list and
watch.

usage: quota.py BUILD CLUSTER-FOLDER ADDRESS PORT...
"""
import concurrent.futures
import itertools
import json
import os
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from apiserver import Server, Webhook  # noqa: E402

build, folder, address = sys.argv[1:4]
ports = [int(p) for p in sys.argv[4:]]
passed = failed = 0
admin = Server(folder)

POLICY = """\
apiVersion: gpugate.dev/v1
kind: Policy
mode: enforce
rules:
  priority-class-unknown: {action: deny}
  node-selector-unmatched: {action: deny}
  gpu-count-exceeds-node: {action: deny}
"""

KINDS = {"mutate": [{"apiGroups": [""], "apiVersions": ["*"],
                     "resources": ["pods"], "operations": ["CREATE"]}],
         "validate": [{"apiGroups": g, "apiVersions": ["*"], "resources": r,
                       "operations": ["CREATE", "UPDATE", "DELETE"]}
                      for g, r in ((["kubeflow.org"], ["pytorchjobs"]),
                                   (["apps"], ["deployments"]),
                                   ([""], ["pods"]))]}


SPACES = ("ml", "crowd", "crowd2", "crowd3")


class Spread:
    """Forwards each connection to the next replica, like a Service."""

    def __init__(self, port, replicas):
        self.replicas = itertools.cycle(replicas)
        self.socket = socket.create_server((address, port), backlog=64)
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            client, _ = self.socket.accept()
            try:
                server = socket.create_connection(
                    (address, next(self.replicas)))
            except OSError:
                client.close()
                continue
            for a, b in ((client, server), (server, client)):
                threading.Thread(target=self.pump, args=(a, b),
                                 daemon=True).start()

    @staticmethod
    def pump(a, b):
        try:
            while data := a.recv(1 << 16):
                b.sendall(data)
        except OSError:
            pass
        for end in (a, b):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def say(good, what, *more):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print("FAILED", what, *(str(m)[:900] for m in more))


def pod_spec(gpus, **fields):
    return {"automountServiceAccountToken": False,
            "priorityClassName": "gpu-batch",
            "containers": [{"name": "pytorch", "image": "busybox",
                            "resources": {"limits": {
                                "nvidia.com/gpu": gpus, "memory": "8Gi",
                                "cpu": 1}}}], **fields}


def gang(name, workers, gpus, space="ml", **fields):
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
            "metadata": {"name": name, "namespace": space},
            "spec": {"runPolicy": {"backoffLimit": 1}, "pytorchReplicaSpecs": {
                "Worker": {"replicas": workers, "template": {
                    "spec": pod_spec(gpus, **fields)}}}}}


def deployment(name, replicas, gpus):
    return {"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": name, "namespace": "ml"},
            "spec": {"replicas": replicas,
                     "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}},
                                  "spec": pod_spec(gpus)}}}


def pod(name, gpus, owner=None, space="ml"):
    obj = {"apiVersion": "v1", "kind": "Pod",
           "metadata": {"name": name, "namespace": space},
           "spec": pod_spec(gpus, restartPolicy="Never")}
    if owner:
        obj["metadata"]["ownerReferences"] = [{
            "apiVersion": owner["apiVersion"], "kind": owner["kind"],
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"], "controller": True}]
    return obj


def denied(answer, *words):
    message = answer[1].get("message", "")
    return answer[0] == 403 and "denied the request: " in message and \
        all(w in message for w in words)


def wait(check, what, limit=30):
    began = time.time()
    while time.time() - began < limit:
        if check():
            return
        time.sleep(0.05)
    say(False, f"{what} within {limit} s")


def used(gpus, space="ml"):
    def check():
        status, quota, _ = admin.request(
            "GET", f"/api/v1/namespaces/{space}/resourcequotas/gpus")
        return status == 200 and quota.get("status", {}).get("used", {}) \
            .get("requests.nvidia.com/gpu") == str(gpus)
    return check


def prepare():
    for space in SPACES:
        admin.create({"apiVersion": "v1", "kind": "Namespace",
                      "metadata": {"name": space}})
        admin.create({"apiVersion": "v1", "kind": "ResourceQuota",
                      "metadata": {"name": "gpus", "namespace": space},
                      "spec": {"hard": {"requests.nvidia.com/gpu": 8}}})
    admin.create({"apiVersion": "scheduling.k8s.io/v1",
                  "kind": "PriorityClass", "metadata": {"name": "gpu-batch"},
                  "value": 1000})
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {
        "name": "gpu-0", "labels": {
            "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"}}}
    admin.create(node)
    admin.patch(node, {"status": {"allocatable": {
        "cpu": "96", "memory": "1Ti", "pods": "110", "nvidia.com/gpu": "8"},
        "capacity": {"nvidia.com/gpu": "8"}}}, "status")
    for space in SPACES:
        wait(used(0, space), "the quota has a status")


def configure(hook):
    for configuration in hook.configurations(KINDS):
        say(admin.create(configuration)[0] == 201, "webhook configuration")
    wait(lambda: denied(admin.create(gang("probe", 9, 1), dry_run=True)),
         "the webhook is asked")


def room():
    answer = admin.create(gang("whole", 4, 2))
    say(answer[0] == 201, "4 x 2 GPUs where 8 are left", answer)
    late = gang("late", 4, 2)
    say(denied(admin.create(late, dry_run=True)), "the 8 GPUs are reserved")
    admin.delete(gang("whole", 4, 2))
    for what in ("a deleted workload frees them", "a dry run reserves nothing"):
        answer = admin.create(late, dry_run=True)
        say(answer[0] == 201, what, answer)
        late["metadata"]["name"] = "later"
    say(admin.create(pod("busy", 2))[0] == 201, "a Pod of 2 GPUs")
    wait(used(2), "the quota counts it")
    big = gang("big", 4, 2)
    wait(lambda: denied(admin.create(big, dry_run=True)), "the state follows")
    answer = admin.create(big)
    say(denied(answer, "quota-would-exceed", "6"),
        "4 x 2 GPUs where 6 are left", answer)
    say(admin.create(gang("small", 3, 2), dry_run=True)[0] == 201,
        "3 x 2 GPUs where 6 are left")
    status, _, warnings = admin.create(deployment("serve", 4, 2), dry_run=True)
    say(status == 201 and any("quota-would-exceed" in w for w in warnings),
        "a Deployment in the same place is warned", warnings)
    answer = admin.create(gang("never", 5, 2))
    say(denied(answer, "quota-never-fits"), "5 x 2 GPUs never fit", answer)
    admin.delete(pod("busy", 2))
    wait(used(0), "the Pod is gone")


def update():
    """Test that the running Pods of a workload are not counted in addition to the
    Pods of its new version."""
    job = gang("running", 4, 2)
    wait(lambda: admin.create(job, dry_run=True)[0] == 201, "room again")
    status, made, _ = admin.create(job)
    say(status == 201, "the job", made)
    for n in range(4):
        say(admin.create(pod(f"running-{n}", 2, made))[0] == 201, "its Pods")
    wait(used(8), "the quota is full")
    wait(lambda: denied(admin.create(gang("late", 2, 1), dry_run=True)),
         "no other workload fits")
    answer = admin.patch(job, {"spec": {"pytorchReplicaSpecs": {"Worker": {
        "template": {"spec": {"nodeSelector": {
            "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"}}}}}}})
    say(answer[0] == 200, "its update needs no more GPUs", answer)
    answer = admin.patch(job, {"spec": {"pytorchReplicaSpecs": {"Worker": {
        "replicas": 5}}}})
    say(denied(answer, "quota-"), "a fifth worker does not fit", answer)
    snapshot = folder + "/state.json"
    subprocess.run([build + "/gpugate", "snapshot", "-q", "-o", snapshot,
                    "--kubectl", os.environ["CONTROL_PLANE_BIN"] + "/kubectl",
                    "--kubeconfig", folder + "/admin.kubeconfig"], check=True)
    for workers, wanted in ((4, 0), (5, 1)):
        with open(folder + "/job.json", "w", encoding="utf-8") as out:
            json.dump(gang("running", workers, 2), out)
        done = subprocess.run(
            [build + "/gpugate", "lint", "--isolated", "-q", "--cluster",
             snapshot, folder + "/job.json"], capture_output=True, check=False)
        say(done.returncode == wanted, f"lint --cluster: {workers} workers",
            done.stdout.decode())
    for n in range(4):
        admin.delete(pod(f"running-{n}", 2))
    admin.delete(job)
    wait(used(0), "everything is gone")


def others():
    # A change of status.used is in the state a moment later.
    wait(lambda: admin.create(gang("room", 2, 1), dry_run=True)[0] == 201,
         "room again")
    answer = admin.create(gang("unclassed", 2, 1,
                               priorityClassName="no-such-class"))
    say(denied(answer, "priority-class-unknown"), "unknown class", answer)
    answer = admin.create(gang("elsewhere", 2, 1, nodeSelector={
        "example.com/rack": "r7"}))
    say(denied(answer, "node-selector-unmatched"), "no such node", answer)
    answer = admin.create(gang("wide", 1, 16))
    say(denied(answer, "gpu-count-exceeds-node"), "16 GPUs on a node of 8",
        answer)


def reservations():
    """Test that an object has one reservation, which a change replaces and which
    expires by itself."""
    job, other = gang("reserved", 3, 2), gang("other", 2, 1)
    # Deleted Pods leave the quota one by one.
    wait(lambda: admin.create(gang("all", 4, 2), dry_run=True)[0] == 201,
         "all 8 are free")
    answer = admin.create(job)
    say(answer[0] == 201, "6 of 8 GPUs are reserved", answer)
    say(admin.create(other, dry_run=True)[0] == 201, "2 are left")
    answer = admin.patch(job, {"spec": {"pytorchReplicaSpecs": {"Worker": {
        "replicas": 4}}}})
    began = time.time()
    say(answer[0] == 200, "its larger reservation takes its place", answer)
    say(denied(admin.create(other, dry_run=True)), "nothing is left")
    say(admin.patch(job, {"metadata": {"labels": {"a": "b"}}})[0] == 200,
        "a label")
    wait(lambda: admin.create(other, dry_run=True)[0] == 201,
         "a reservation without Pods ends", 90)
    say(time.time() - began > 25, "after half a minute", time.time() - began)
    admin.delete(job)


def crowd(space, label, least, most):
    """Create 20 gangs of 2 GPUs at once where 8 are free; check the number admitted."""
    def one(n):
        return Server(folder).create(gang(f"g{n}", 2, 1, space))[0]

    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(one, range(20)))
    admitted = answers.count(201)
    print(f"{label}: {admitted} of 20 gangs of 2 GPUs admitted to 8 GPUs")
    say(set(answers) <= {201, 403}, "answers", answers)
    say(least <= admitted <= most, f"{label}: {least} to {most}", admitted)
    for n in range(20):
        admin.delete(gang(f"g{n}", 2, 1, space))


def two_replicas(one, state):
    """Test two replicas: each knows only its own reservations, so together they admit
    at most twice the free GPUs."""
    two = Webhook(build + "/gpugated", folder, address, ports[2:4], POLICY)
    front = Webhook(build + "/gpugated", folder, address, ports[4:], POLICY)
    Spread(ports[4], (one.ports[0], two.ports[0]))
    for replica in (one, two):
        replica.start(*state, "--reservations", "on")
    try:
        for configuration in front.configurations(KINDS):
            admin.patch(configuration, {
                "webhooks": configuration["webhooks"]})
        wait(lambda: denied(admin.create(gang("probe", 9, 1), dry_run=True)),
             "the replicas are asked")
        crowd("crowd3", "reservations, two replicas", 4, 8)
        asked = [r.metric("gpugate_admission_requests_total",
                          webhook="validate") for r in (one, two)]
        say(min(asked) > 3, "both were asked", asked)
    finally:
        two.stop()


def main():
    prepare()
    state = ["--kubeconfig", folder + "/admin.kubeconfig"]
    hook = Webhook(build + "/gpugated", folder, address, ports[:2], POLICY)
    hook.start(*state, "--reservations", "on")
    try:
        configure(hook)
        room()
        update()
        others()
        reservations()
        crowd("crowd", "reservations, one replica", 4, 4)
        age = hook.metric("gpugate_cluster_state_age_seconds")
        say(0 <= age < 90, "age of the state", age)
        with open(hook.log, encoding="utf-8") as log:
            ages = [json.loads(line).get("stateAgeSeconds") for line in log
                    if '"decision"' in line]
        say(ages and all(0 <= age < 90 for age in ages), "in the log", ages)
        hook.stop()
        hook.start(*state)
        crowd("crowd2", "no reservations", 4, 20)
        hook.stop()
        two_replicas(hook, state)
    finally:
        hook.stop()
    print(f"quota: {passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
