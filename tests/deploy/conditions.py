#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check which objects a real API server sends under the webhook
configurations.

A webhook that allows everything replaces gpugated and records which entry got
which review. Objects are created with dryRun.

 - The conditions must send everything that a rule of the default preset
   reports. The objects are the bad examples of all rules, each of their pod
   templates as a Pod, and the corpus where there is one. An object that the API
   server itself rejects needs no webhook.
 - A table has single cases that must be sent or must not, and objects made to
   exhaust the conditions' cost.

usage: conditions.py CONTROL-PLANE-DIR GPUGATE RENDERED RULES [CORPUS]
CONTROL-PLANE-DIR holds port, ca.crt and .crt and .key of admin and webhook.
"""
import base64
import copy
import glob
import http.client
import json
import os
import ssl
import subprocess
import sys
import tempfile
import time

import yaml

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "webhook"))
import review_server  # noqa: E402
from condition_cases import (  # noqa: E402
    COMES, GPU, PASSES, cron, deployment, pod)

NATIVE = {
    ("v1", "Pod"): "/api/v1/namespaces/%s/pods",
    ("v1", "PodTemplate"): "/api/v1/namespaces/%s/podtemplates",
    ("v1", "ReplicationController"):
        "/api/v1/namespaces/%s/replicationcontrollers",
    ("v1", "ResourceQuota"): "/api/v1/namespaces/%s/resourcequotas",
    ("v1", "LimitRange"): "/api/v1/namespaces/%s/limitranges",
    ("apps/v1", "Deployment"): "/apis/apps/v1/namespaces/%s/deployments",
    ("apps/v1", "ReplicaSet"): "/apis/apps/v1/namespaces/%s/replicasets",
    ("apps/v1", "StatefulSet"): "/apis/apps/v1/namespaces/%s/statefulsets",
    ("apps/v1", "DaemonSet"): "/apis/apps/v1/namespaces/%s/daemonsets",
    ("batch/v1", "Job"): "/apis/batch/v1/namespaces/%s/jobs",
    ("batch/v1", "CronJob"): "/apis/batch/v1/namespaces/%s/cronjobs",
    ("resource.k8s.io/v1", "ResourceClaim"):
        "/apis/resource.k8s.io/v1/namespaces/%s/resourceclaims",
    ("resource.k8s.io/v1", "ResourceClaimTemplate"):
        "/apis/resource.k8s.io/v1/namespaces/%s/resourceclaimtemplates",
}


class Webhook:
    """Allows every review, or denies every one if `denies` is set. Records
    (entry, name of the object)."""

    def __init__(self, cert, key):
        self.seen = set()
        self.denies = False
        self.port = review_server.serve(cert, key, self.answer)

    def answer(self, path, request):
        self.seen.add((path.split("?")[0].strip("/"),
                       request.get("name", "")))
        return {"allowed": not self.denies}


class Api:
    def __init__(self, folder):
        context = ssl.create_default_context(cafile=folder + "/ca.crt")
        context.load_cert_chain(folder + "/admin.crt", folder + "/admin.key")
        with open(folder + "/port") as f:
            port = int(f.read())
        self.make = lambda: http.client.HTTPSConnection(
            "127.0.0.1", port, context=context, timeout=60)
        self.connection = self.make()

    def call(self, method, path, body=None, headers=None):
        headers = {"Content-Type": "application/json", **(headers or {})}
        for last in (False, True):
            try:
                self.connection.request(
                    method, path, json.dumps(body) if body else None, headers)
                reply = self.connection.getresponse()
                return reply.status, json.loads(reply.read())
            except (http.client.HTTPException, OSError):
                if last:
                    raise
                self.connection = self.make()


def install(api, folder, rendered, port):
    """Create the rendered configurations, with the address of the test's webhook instead
    of a Service. Return the names of their entries."""
    with open(folder + "/ca.crt", "rb") as f:
        ca = base64.b64encode(f.read()).decode()
    with open(rendered) as f:
        documents = [d for d in yaml.safe_load_all(f) if d]
    entries = []
    for d in documents:
        if not d["kind"].endswith("WebhookConfiguration"):
            continue
        for hook in d["webhooks"]:
            entries.append(hook["name"])
            hook["clientConfig"] = {
                "url": "https://127.0.0.1:%d/%s" % (port, hook["name"]),
                "caBundle": ca,
            }
            # A condition that fails must not look like a false one.
            hook["failurePolicy"] = "Fail"
            hook["timeoutSeconds"] = 10
        status, answer = api.call(
            "POST", "/apis/admissionregistration.k8s.io/v1/%ss"
            % d["kind"].lower(), d)
        if status != 201:
            raise SystemExit("FAIL install %s: %s" % (d["kind"], answer))
    return entries


class Trial:
    def __init__(self, api, webhook):
        self.api, self.webhook = api, webhook
        self.passed = self.failed = 0

    def check(self, good, what):
        if good:
            self.passed += 1
        else:
            self.failed += 1
            print("FAIL " + what)

    def create(self, obj, namespace="default", headers=None):
        """Create the object by dry run. Return (status, message, the entries of the
        configurations that sent it)."""
        path = NATIVE[(obj["apiVersion"], obj["kind"])] % namespace
        obj = copy.deepcopy(obj)
        name = obj["metadata"]["name"]
        obj["metadata"].pop("namespace", None)
        status, answer = self.api.call(
            "POST", path + "?dryRun=All", obj, headers)
        seen = {e for e, n in self.webhook.seen if n == name}
        return status, answer.get("message", ""), seen


# --- single cases -----------------------------------------------------------

def single_cases(trial):
    number = 0
    for table, wanted in ((COMES, True), (PASSES, False)):
        for what, obj in table.items():
            number += 1
            obj["metadata"]["name"] = "case-%d" % number
            status, message, seen = trial.create(obj)
            # Errors without a condition, such as an object that is too large, do
            # not matter here.
            broken = "resulted in error" in message
            trial.check(not broken and bool(seen) == wanted,
                        "%s: %s: %s %s %s" % (
                            "comes" if wanted else "passes", what, status,
                            sorted(seen), message[:200]))


def who_and_where(trial):
    gpu = pod(box=GPU)
    masters = ("Impersonate-Group", "system:masters")
    for what, namespace, headers, wanted in (
            ("in kube-system", "kube-system", {}, False),
            ("in our own namespace", "gpugate-system", {}, False),
            ("a user of no group", "default",
             {"Impersonate-User": "anne", masters[0]: masters[1]}, True)):
        gpu["metadata"]["name"] = "who-" + str(abs(hash(what)))
        _, message, seen = trial.create(gpu, namespace, headers)
        trial.check(bool(seen) == wanted,
                    "%s: %s %s" % (what, sorted(seen), message[:200]))


def made(trial, obj):
    """Store the object with the name `changing`, and return its path."""
    path = NATIVE[(obj["apiVersion"], obj["kind"])] % "default"
    obj["metadata"]["name"] = "changing"
    status, answer = trial.api.call("POST", path, obj)
    trial.check(status == 201, "changes: create: %s" % answer.get("message"))
    return path + "/changing"


def change(trial, what, patch, where, wanted, user=None):
    """Check that a merge patch of the object reaches the webhook, or if
    `wanted` is false, that it does not."""
    trial.webhook.seen.clear()
    status, answer = trial.api.call(
        "PATCH", where + "?dryRun=All", patch,
        {"Content-Type": "application/merge-patch+json",
         **({"Impersonate-User": user, "Impersonate-Group": "system:masters"}
            if user else {})})
    seen = {e for e, name in trial.webhook.seen if name == "changing"}
    trial.check(status == 200 and bool(seen) == wanted,
                "change of %s: %s %s %s" % (
                    what, status, answer.get("message"), sorted(seen)))


def changes(trial):
    """Test UPDATE: it is sent only for a changed spec or a new annotation that
    requests devices; a Scale is never sent."""
    obj = deployment(pod(box=GPU))
    obj["spec"]["replicas"] = 2
    one = made(trial, obj)
    for what, patch, where, wanted in (
            ("labels", {"metadata": {"labels": {"a": "b"}}}, one, False),
            ("an annotation", {"metadata": {"annotations": {"a": "b"}}}, one,
             False),
            ("an annotation for devices", {"metadata": {"annotations": {
                "cdi.k8s.io/x": "x=all"}}}, one, True),
            ("the template", {"spec": {"template": {"spec": {
                "terminationGracePeriodSeconds": 9}}}}, one, True),
            ("the replicas", {"spec": {"replicas": 3}}, one, True),
            ("scale up", {"spec": {"replicas": 5}}, one + "/scale", False),
            ("scale down", {"spec": {"replicas": 1}}, one + "/scale", False),
            ("to zero", {"spec": {"replicas": 0}}, one + "/scale", False)):
        change(trial, what, patch, where, wanted)
    trial.api.call("DELETE", one)


DEVICE_ANNOTATIONS = (
    "cdi.k8s.io", "cdi.k8s.io/x", "nvidia.cdi.k8s.io/x",
    "io.kubernetes.cri-o.Devices", "devices.crio.io/c",
    "devices.nri.io/container.c",
    "cdi-devices.nri.io/pod", "mounts.nri.io", "devices.noderesource.dev",
    "mounts.noderesource.dev",
    "cdi-devices.noderesource.dev/container.c")


def pod_changes(trial):
    """Test UPDATE of a Pod: it is sent for annotations that request devices, for
    images and for the placement."""
    def annotated(key, value="x=all"):
        return {"metadata": {"annotations": {key: value}}}

    one = made(trial, pod(box=GPU, annotations={
        "cdi.k8s.io/old": "x=0", "nvidia.com/use": "a"}))
    for key in DEVICE_ANNOTATIONS:
        change(trial, key, annotated(key), one, True)
    for what, patch, wanted in (
            ("a known annotation", annotated("cdi.k8s.io/old"), True),
            ("nothing of it", annotated("cdi.k8s.io/old", "x=0"), False),
            ("it goes", annotated("cdi.k8s.io/old", None), False),
            ("more annotations than are looked at", {"metadata": {
                "annotations": {"a%d" % i: "b" for i in range(65)}}}, True),
            ("a name that only begins so", annotated("cdi.k8s.iox/y"), False),
            ("another annotation", annotated("nvidia.com/use"), False),
            ("a label", {"metadata": {"labels": {"cdi.k8s.io": "a"}}}, False),
            ("an image", {"spec": {"containers": [dict(
                GPU, name="main", image="registry.example.com/team/app:2")]}},
             True),
            ("a toleration", {"spec": {"tolerations": [{
                "key": "a", "operator": "Exists"}]}}, True),
            ("its deadline", {"spec": {"activeDeadlineSeconds": 999}}, False)):
        change(trial, "Pod: " + what, patch, one, wanted)
    trial.api.call("DELETE", one + "?gracePeriodSeconds=0")
    placed(trial)
    source_changes(trial, annotated)


def placed(trial):
    """Test UPDATE of a gated Pod: its placement is sent, unless a queue sets it."""
    queue = "system:serviceaccount:kube-system:queue"
    gate = {"schedulingGates": [{"name": "example.com/queue"}]}
    one = made(trial, pod(box=GPU, **gate))
    node = {"spec": {"schedulingGates": None, "nodeSelector": {"a": "b"}}}
    near = {"spec": {"affinity": {"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{
                "key": "a", "operator": "Exists"}]}]}}}}}
    for what, patch, user, wanted in (
            ("its node", node, None, True), ("its affinity", near, None, True),
            ("its gate", {"spec": {"schedulingGates": None}}, None, False),
            ("its finalizers", {"metadata": {"finalizers": None}}, None,
             False),
            ("its node, by a queue", node, queue, False),
            ("devices, by a queue", {"metadata": {"annotations": {
                "cdi.k8s.io/x": "x=all"}}}, queue, True)):
        change(trial, "Pod: " + what, patch, one, wanted, user)
    trial.api.call("DELETE", one + "?gracePeriodSeconds=0")


def source_changes(trial, annotated):
    """Test UPDATE of labels and annotations: they are sent if the kubelet computes
    NVIDIA_VISIBLE_DEVICES from one of them."""
    box = dict(GPU, env=[{"name": "NVIDIA_VISIBLE_DEVICES", "valueFrom": {
        "fieldRef": {"fieldPath": "metadata.labels['which']"}}}])
    one = made(trial, pod(box=box, labels={"which": "void"}))
    change(trial, "Pod: the label that it reads", {
        "metadata": {"labels": {"which": "all"}}}, one, True)
    change(trial, "Pod: another annotation beside a source",
           annotated("nvidia.com/use"), one, True)
    change(trial, "Pod: its deadline beside a source",
           {"spec": {"activeDeadlineSeconds": 999}}, one, False)
    trial.api.call("DELETE", one + "?gracePeriodSeconds=0")


def until(seconds, question):
    end = time.time() + seconds
    while not question() and time.time() < end:
        time.sleep(0.1)
    return question()


def ends(trial):
    """Test that a Job completes while the webhook denies everything: a queue removes
    the gate of its Pod, and the controller of Jobs the finalizer."""
    job = cron(pod(box=GPU))["spec"]["jobTemplate"]
    job.update(apiVersion="batch/v1", kind="Job", metadata={})
    job["spec"]["template"]["spec"]["schedulingGates"] = [
        {"name": "example.com/queue"}]
    one = made(trial, job)
    pods = NATIVE[("v1", "Pod")] % "default"
    mine = pods + "?labelSelector=job-name%3Dchanging"
    call = trial.api.call
    if not until(20, lambda: call("GET", mine)[1].get("items")):
        trial.check(False, "a Job that ends: no Pod")
        return
    its = call("GET", mine)[1]["items"][0]
    path = pods + "/" + its["metadata"]["name"]
    trial.check("batch.kubernetes.io/job-tracking" in
                its["metadata"].get("finalizers", []),
                "a Job that ends: its Pod has no finalizer")
    trial.webhook.denies = True
    trial.webhook.seen.clear()
    refused = trial.create(pod(box=GPU, labels={"a": "b"}) | {
        "metadata": {"name": "refused"}})
    trial.check(refused[0] == 400, "a webhook that denies: %s" % (refused,))
    merge = {"Content-Type": "application/merge-patch+json"}
    placed_by_queue = call("PATCH", path, {"spec": {
        "schedulingGates": None, "nodeSelector": {"a": "b"}}}, {
            **merge, "Impersonate-User":
            "system:serviceaccount:kube-system:queue",
            "Impersonate-Group": "system:masters"})
    trial.check(placed_by_queue[0] == 200,
                "a gate, denied: %s" % placed_by_queue[1].get("message"))
    call("PATCH", path + "/status", {"status": {"phase": "Succeeded"}}, merge)
    trial.check(until(20, lambda: call("GET", one)[1].get("status", {}).get(
        "succeeded") == 1), "a Job that ends: it does not")
    trial.check(until(20, lambda: not call("GET", path)[1]["metadata"].get(
        "finalizers")), "a Job that ends: its Pod keeps the finalizer")
    trial.webhook.denies = False
    call("DELETE", one + "?propagationPolicy=Background")


# --- every object that a rule reports is sent -------------------------

def templates(node):
    """Yield every pod template below a node."""
    if isinstance(node, dict):
        spec = node.get("spec")
        if isinstance(spec, dict) and isinstance(spec.get("containers"), list):
            yield node
        for value in node.values():
            yield from templates(value)
    elif isinstance(node, list):
        for value in node:
            yield from templates(value)


def documents(path):
    """Yield the documents of a file, except unreadable ones, which cannot be sent."""
    try:
        with open(path, encoding="utf-8") as f:
            for d in yaml.safe_load_all(f):
                if not isinstance(d, dict):
                    continue
                items = d.get("items") if d.get("kind") == "List" else None
                yield from (i for i in items or [d] if isinstance(i, dict))
    except (yaml.YAMLError, UnicodeDecodeError, OSError, ValueError):
        return


def gather(paths):
    """Return the native objects, and every pod template as a Pod, without
    repeated ones."""
    found, known = [], set()

    def add(obj):
        meta = obj.get("metadata")
        obj["metadata"] = {k: v for k, v in (meta or {}).items()
                           if k in ("labels", "annotations") and v}
        try:
            text = json.dumps(obj, sort_keys=True)
        except (TypeError, ValueError):
            return
        if text in known:
            return
        known.add(text)
        obj["metadata"]["name"] = "object-%d" % len(found)
        found.append(obj)

    for path in paths:
        for d in documents(path):
            if (d.get("apiVersion"), d.get("kind")) in NATIVE and \
                    isinstance(d.get("metadata"), (dict, type(None))):
                add(copy.deepcopy(d))
            for t in templates(d):
                add({"apiVersion": "v1", "kind": "Pod",
                     "metadata": copy.deepcopy(t.get("metadata") or {})
                     if isinstance(t.get("metadata"), dict) else {},
                     "spec": copy.deepcopy(t["spec"])})
    return found


def spoken_of(gpugate, objects):
    """Return {name of an object: rules that report it}, without the rules that
    the default preset only audits or turns off."""
    rules = json.loads(subprocess.run(
        [gpugate, "rules", "--format", "json"], capture_output=True,
        check=True).stdout)["rules"]
    quiet = {r["name"] for r in rules if r["action"] in ("audit", "off")}
    # The API server drops unknown fields before it calls a webhook.
    quiet.add("field-unknown")
    result = {}
    with tempfile.TemporaryDirectory() as folder:
        for obj in objects:
            with open("%s/%s.json" % (folder, obj["metadata"]["name"]),
                      "w") as f:
                json.dump(obj, f)
        report = json.loads(subprocess.run(
            [gpugate, "lint", "--isolated", "--partial", "--show-all", "--format", "json",
             "--fail-on", "never", folder], capture_output=True,
            check=False).stdout)
    for finding in report["findings"]:
        name = os.path.basename(finding["file"])[:-len(".json")]
        if finding["rule"] not in quiet:
            result.setdefault(name, set()).add(finding["rule"])
    return result


def nothing_passes(trial, gpugate, paths, what):
    objects = gather(paths)
    rules = spoken_of(gpugate, objects)
    judged = refused = sent = 0
    for obj in objects:
        name = obj["metadata"]["name"]
        status, message, seen = trial.create(obj)
        sent += bool(seen)
        if "resulted in error" in message:
            trial.check(False, "%s: %s" % (name, message[:300]))
        if name not in rules:
            continue
        judged += 1
        if status >= 400 and not seen:
            refused += 1
            continue
        trial.check(bool(seen), "let through, though %s: %s" % (
            ", ".join(sorted(rules[name])), json.dumps(obj)[:1500]))
    print("%s: %d objects, %d sent, rules speak of %d, of these the API "
          "server refuses %d itself" % (what, len(objects), sent, judged,
                                        refused))
    trial.check(judged > 20, "%s: too few objects to mean anything" % what)


def main():
    folder, gpugate, rendered, rules = sys.argv[1:5]
    webhook = Webhook(folder + "/webhook.crt", folder + "/webhook.key")
    api = Api(folder)
    api.call("POST", "/api/v1/namespaces",
             {"metadata": {"name": "gpugate-system"}})
    api.call("POST", "/apis/node.k8s.io/v1/runtimeclasses",
             {"metadata": {"name": "nvidia"}, "handler": "nvidia"})
    install(api, folder, rendered, webhook.port)
    trial = Trial(api, webhook)
    probe = pod(box=GPU)
    probe["metadata"]["name"] = "probe"
    end = time.time() + 30
    while len(trial.create(probe)[2]) < 2 and time.time() < end:
        time.sleep(0.2)
    single_cases(trial)
    who_and_where(trial)
    changes(trial)
    pod_changes(trial)
    ends(trial)
    nothing_passes(trial, gpugate, sorted(glob.glob(rules + "/*/bad*.yaml")),
                   "bad examples")
    if len(sys.argv) > 5:
        paths = [p for p in glob.glob(sys.argv[5] + "/**/*.y*ml",
                                      recursive=True) if os.path.isfile(p)]
        nothing_passes(trial, gpugate, sorted(paths), "corpus")
    print("conditions: %d passed, %d failed" % (trial.passed, trial.failed))
    sys.exit(trial.failed > 0)


main()
