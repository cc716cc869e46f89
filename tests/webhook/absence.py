#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Test gpugated with a busy API server.

An object or a namespace's label that was created a moment ago must not count as
missing. One that does not exist must.

usage: absence.py GPUGATED CLUSTER-FOLDER PORT PORT

Also prints the times of reviews that do not depend on a missing object.
"""
import http.client
import json
import os
import signal
import ssl
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from apiserver import Server, Webhook  # noqa: E402
from review import review  # noqa: E402

program, folder = sys.argv[1:3]
ports = [int(p) for p in sys.argv[3:]]
GAPS = (0, 1, 5, 20, 100)  # milliseconds
TRIES = int(os.environ.get("ABSENCE_TRIES", "40"))  # tries per gap
POLICY = """apiVersion: gpugate.dev/v1
kind: Policy
mode: warn
rules:
  namespace-without-gpu-quota: {action: deny}
overrides:
- {namespaceLabels: {gate: audit}, mode: audit}
- {namespaceLabels: {gate: enforce}, mode: enforce}
- {namespaces: ["race*"], mode: enforce}
"""
passed = failed = 0
admin = Server(folder)
over = threading.Event()


def say(good, what, *more):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print("FAILED", what, *(str(m)[:900] for m in more), flush=True)


class Client:
    def __init__(self):
        self.link = None

    def ask(self, obj):
        """Return allowed, message, seconds."""
        if not self.link:
            self.link = http.client.HTTPSConnection(
                "127.0.0.1", ports[0], timeout=5,
                context=ssl.create_default_context(
                    cafile=folder + "/certs/ca.crt"))
        began = time.monotonic()
        self.link.request("POST", "/validate", json.dumps(review(obj)),
                          {"Content-Type": "application/json"})
        body = json.loads(self.link.getresponse().read())["response"]
        return (body["allowed"], body.get("status", {}).get("message", ""),
                time.monotonic() - began)


client = Client()


# --- objects -----------------------------------------------------------------

def job(namespace, queue=None, gpus="1", **spec):
    labels = {"kueue.x-k8s.io/queue-name": queue} if queue else {}
    return {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": "train", "namespace": namespace,
                         "labels": labels},
            "spec": {"backoffLimit": 1, "template": {"spec": {
                "restartPolicy": "Never", **spec, "containers": [{
                    "name": "main", "image": "example.com/train:1",
                    "resources": {"limits": {"nvidia.com/gpu": gpus}}}]}}}}


def unlimited(*where):
    """Return a job whose denial does not depend on the state."""
    obj = job(*where)
    main = obj["spec"]["template"]["spec"]["containers"][0]
    main["resources"]["requests"] = {"nvidia.com/gpu": "2"}
    return obj


def make(obj):
    status, body, _ = admin.create(obj)
    if status != 201:
        raise SystemExit(f"{obj['kind']}: {status} {body}")


def namespace(name, **labels):
    make({"apiVersion": "v1", "kind": "Namespace",
          "metadata": {"name": name, "labels": labels}})


def queue(name, behind="all"):
    make({"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "LocalQueue",
          "metadata": {"name": name, "namespace": "race"},
          "spec": {"clusterQueue": behind}})


def named(kind, version, name, **fields):
    make({"apiVersion": version, "kind": kind, "metadata": {"name": name},
          **fields})


def flavor(name):
    named("ResourceFlavor", "kueue.x-k8s.io/v1beta1", name)


def cluster_queue(name, of="all"):
    named("ClusterQueue", "kueue.x-k8s.io/v1beta1", name,
          spec={"namespaceSelector": {}, "resourceGroups": [{
              "coveredResources": ["nvidia.com/gpu"], "flavors": [{
                  "name": of, "resources": [{
                      "name": "nvidia.com/gpu", "nominalQuota": "8"}]}]}]})


def quota(name):
    make({"apiVersion": "v1", "kind": "ResourceQuota",
          "metadata": {"name": "gpus", "namespace": name},
          "spec": {"hard": {"requests.nvidia.com/gpu": "8"}}})


# --- load --------------------------------------------------------------------

def churn():
    """Create and delete objects of kinds that the state contains."""
    server = Server(folder)
    i = 0
    while not over.is_set():
        i += 1
        obj = {"apiVersion": "v1", "kind": "ResourceQuota",
               "metadata": {"name": f"q-{i}", "namespace": "busy"},
               "spec": {"hard": {"pods": str(i)}}}
        server.create(obj)
        server.delete(obj)


times = []


def reviews():
    """Post reviews whose denial does not depend on an absence, and record their times."""
    one = Client()
    while not over.is_set():
        times.append(one.ask(job("busy", "any", gpus="9"))[2])
        time.sleep(0.005)


def load():
    namespace("busy")
    quota("busy")
    all_of_them = [threading.Thread(target=f)
                   for f in (churn, churn, reviews, reviews)]
    for thread in all_of_them:
        thread.start()
    return all_of_them


# --- the tests ---------------------------------------------------------------

def race(what, create, obj, wanted=True, late=0):
    """Create an object, wait for each of the gaps and post a review that
    depends on it. Check that it is allowed, or denied if `wanted` is false. At
    most `late` reviews may differ, because a late answer skips the rule."""
    wrong, longest, n = {}, 0, 0
    for gap in GAPS:
        for i in range(TRIES):
            name = f"{what}-{gap}-{i}"
            create(name)
            time.sleep(gap / 1000)
            allowed, message, seconds = client.ask(obj(name))
            longest = max(longest, seconds)
            n += 1
            if allowed != wanted:
                wrong.setdefault(gap, []).append(message or "allowed")
    count = sum(len(w) for w in wrong.values())
    print(f"{what}: {count} of {n} wrong "
          f"{ {g: len(w) for g, w in wrong.items()} }, the longest took "
          f"{longest * 1000:.0f} ms", flush=True)
    say(count <= late, what, next(iter(wrong.values()), [""])[0])


def relabel(name):
    admin.patch({"apiVersion": "v1", "kind": "Namespace", "metadata": {
        "name": name}}, {"metadata": {"labels": {"gate": "audit"}}})


def created():
    race("queue", queue, lambda name: job("race", name))

    def both(name):
        queue(name, name)
        cluster_queue(name)
    race("both", both, lambda name: job("race", name))

    def with_flavor(name):
        queue(name, name)
        cluster_queue(name, name)
        flavor(name)
    race("flavor", with_flavor, lambda name: job("race", name))
    race("runtime",
         lambda name: named("RuntimeClass", "node.k8s.io/v1", name,
                            handler="runc"),
         lambda name: job("race", "any", runtimeClassName=name))
    race("priority",
         lambda name: named("PriorityClass", "scheduling.k8s.io/v1", name,
                            value=1),
         lambda name: job("race", "any", priorityClassName=name))

    def with_quota(name):
        namespace(name)
        quota(name)
    race("race-quota", with_quota, job)


def labeled():
    race("race-new", lambda name: namespace(name, gate="audit"),
         lambda name: job(name, "none"))
    race("tell", lambda name: namespace(name, gate="enforce"),
         unlimited, False, TRIES // 4)
    for gap in GAPS:
        for i in range(TRIES):
            namespace(f"race-old-{gap}-{i}")
    time.sleep(2)
    race("race-old", relabel, lambda name: job(name, "none"))


def missing():
    """Test that a missing queue, flavor, runtime class, priority class or quota causes a
    denial."""
    namespace("race-bare")
    for what, obj in (("queue-unknown", job("race", "none")),
                      ("ResourceFlavor `none`", job("race", "bare")),
                      ("runtimeclass-unknown",
                       job("race", "any", runtimeClassName="none")),
                      ("priority-class-unknown",
                       job("race", "any", priorityClassName="none")),
                      ("namespace-without-gpu-quota", job("race-bare"))):
        answers = [client.ask(obj) for _ in range(20)]
        denied = [a for a in answers if not a[0] and what in a[1]]
        longest = max(a[2] for a in answers)
        print(f"{what}: {len(denied)} of 20 denied, the longest took "
              f"{longest * 1000:.0f} ms", flush=True)
        # On a busy machine an answer may be late: the rule is then skipped.
        say(len(denied) >= 10, what, answers[0])


def away(hook):
    """Test that a rule is skipped while the API server does not answer whether an object
    is missing, and that other rules run."""
    with open(folder + "/kube-apiserver.pid", encoding="ascii") as pid:
        pid = int(pid.read().split()[0])
    before = hook.metric("gpugate_rules_not_run", rule="queue-unknown")
    os.kill(pid, signal.SIGSTOP)
    try:
        allowed, message, seconds = client.ask(job("race", "none"))
        say(allowed, "an unproven absence", message)
        say(seconds < 0.5, "a bounded wait", seconds)
        allowed, message, _ = client.ask(unlimited("race", "none"))
        say(not allowed and "queue-unknown" not in message,
            "a denial that does not depend on the state", message)
    finally:
        os.kill(pid, signal.SIGCONT)
    say(hook.metric("gpugate_rules_not_run", rule="queue-unknown") > before,
        "the skipped rule is counted")
    time.sleep(1)


def main():
    hook = Webhook(program, folder, "127.0.0.1", ports, POLICY)
    namespace("race")
    quota("race")
    flavor("all")
    cluster_queue("all")
    cluster_queue("bare", "none")
    queue("any")
    queue("bare", "bare")
    hook.start("--kubeconfig", folder + "/account.kubeconfig", "--live", "on")
    threads = load()
    try:
        time.sleep(1)
        before = len(times)
        created()
        labeled()
        missing()
        during = sorted(times[before:])
    finally:
        over.set()
    for thread in threads:
        thread.join()
    away(hook)
    say(during, "reviews meanwhile")
    print(f"{len(during)} reviews that rest on no absence: p50 "
          f"{during[len(during) // 2] * 1000:.2f} ms, p99 "
          f"{during[len(during) * 99 // 100] * 1000:.2f} ms", flush=True)
    hook.stop()
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
