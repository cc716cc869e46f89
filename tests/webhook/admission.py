# SPDX-License-Identifier: Apache-2.0
"""Check the answers that users of a real kube-apiserver get from the webhook.

usage: admission.py BUILD CLUSTER-FOLDER ADDRESS PORT PROBE-PORT
"""
import copy
import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from admission_corpus import Corpus  # noqa: E402
from apiserver import Server, Webhook  # noqa: E402
from injector import reinvocation  # noqa: E402
from latency import latency  # noqa: E402

build, folder, address = sys.argv[1:4]
ports = [int(p) for p in sys.argv[4:6]]
passed = failed = 0
admin = Server(folder)
alice = Server(folder, "alice")

POLICY = """\
apiVersion: gpugate.dev/v1
kind: Policy
mode: %s
contact: "#gpu-platform, https://wiki.example.com/gpu"
rules:
  shm-missing: {action: patch, params: {size: 8Gi}}
  gpu-toleration-missing: {action: patch}
  job-backoff-unbounded: {action: deny}
  shm-size-exceeds-memory-limit: {action: deny}
  gpu-limit-missing: {action: deny}
  quota-gpu-key-ineffective: {action: deny}
platform: {deviceInjection: envvar}
controllers: ["system:serviceaccount:kubeflow:training-operator"]
breakGlass: {groups: [gpu-oncall], annotation: gpugate.dev/break-glass}
suppressions: {annotations: {rules: [gpu-fractional-quantity, shm-missing], namespaces: ["team-*"], requireReason: true}}
%s"""


def say(good, what, *more):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print("FAILED", what, *(str(m)[:900] for m in more))


def rules_for(*kinds, operations=("CREATE", "UPDATE")):
    return [{"apiGroups": [g], "apiVersions": ["*"], "resources": r,
             "operations": list(operations), "scope": "*"} for g, r in kinds]


KINDS = {
    "mutate": rules_for(("", ["pods"]), ("kubeflow.org", ["pytorchjobs"]),
                        ("apps", ["deployments"]), operations=("CREATE",)),
    "validate": rules_for(
        ("", ["pods", "pods/ephemeralcontainers", "pods/resize",
              "resourcequotas", "replicationcontrollers"]),
        ("apps", ["deployments", "statefulsets", "daemonsets",
                  "replicasets"]),
        ("batch", ["jobs", "cronjobs"]), ("scheduling.k8s.io",
                                          ["priorityclasses"]),
        ("kubeflow.org", ["pytorchjobs/status"]),
        *((g, ["*"]) for g in (
            "kubeflow.org", "ray.io", "batch.volcano.sh",
            "serving.kserve.io", "jobset.x-k8s.io",
            "leaderworkerset.x-k8s.io", "argoproj.io",
            "trainer.kubeflow.org", "apps.nvidia.com", "nvidia.com")),
        operations=("CREATE", "UPDATE", "DELETE")),
}

MODES = ("enforce", "")


def pod(name="train", namespace="ml", **spec):
    container = {"name": "main", "image": "registry.example.com/train:1",
                 "command": ["torchrun", "train.py"],
                 "resources": {"limits": {"nvidia.com/gpu": "2",
                                          "memory": "64Gi", "cpu": "8"}}}
    container.update(spec.pop("container", {}))
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": namespace,
                         **spec.pop("metadata", {})},
            "spec": {"restartPolicy": "Never", "containers": [container],
                     "automountServiceAccountToken": False, **spec}}


def pytorchjob(name="job", replicas=2, backoff=None, **meta):
    template = {"spec": {"containers": [{
        "name": "pytorch", "image": "registry.example.com/train:1", "command": ["train"],
        "resources": {"limits": {"nvidia.com/gpu": 1}}}]}}
    job = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
           "metadata": {"name": name, "namespace": "ml", **meta},
           "spec": {"pytorchReplicaSpecs": {"Worker": {
               "replicas": replicas, "template": template}}}}
    if backoff is not None:
        job["spec"]["runPolicy"] = {"backoffLimit": backoff}
    return job


def denied(answer, *rules):
    status, body, _ = answer
    message = body.get("message", "")
    return (status == 403 and "denied the request: " in message and
            all(r + ": " in message for r in rules))


def first_line(answer):
    return answer[1].get("message", "").split("denied the request: ", 1)[-1] \
        .split("\n")[0]


def prepare():
    for name in ("ml", "team-a", "research"):
        admin.create({"apiVersion": "v1", "kind": "Namespace",
                      "metadata": {"name": name}})
    for name, value in (("gpu-batch", 1000),):
        admin.create({"apiVersion": "scheduling.k8s.io/v1",
                      "kind": "PriorityClass", "metadata": {"name": name},
                      "value": value})


def configure(hook):
    for configuration in hook.configurations(KINDS):
        answer = admin.create(configuration)
        say(answer[0] == 201, "webhook configuration", answer)
    # The API server calls new webhooks only after about a second.
    for _ in range(400):
        if denied(admin.create(pod("probe", container={"resources": {
                "limits": {"nvidia.com/gpu": "1"}}}, nodeName="n",
                metadata={"annotations": {}}, priorityClassName=
                "system-node-critical"), dry_run=True)):
            return
        time.sleep(0.1)
    say(False, "the webhook is never asked")


# --- denials that depend on a single object ---------------------------------------

FAMILIES = [
    ("limits", "gpu-limit-missing", pod("p", container={
        "image": "pytorch/pytorch:2.3.0-cuda12.1-cudnn8-runtime",
        "resources": {}})),
    ("limits", "gpu-mixed-vendors", pod("p", container={"resources": {
        "limits": {"nvidia.com/gpu": 1, "amd.com/gpu": 1}}})),
    ("limits", "gpu-count-exceeds-node", pod("p", container={"resources": {
        "limits": {"nvidia.com/gpu": 64}}})),
    ("shm", "shm-size-exceeds-memory-limit", pod("p", volumes=[
        {"name": "s", "emptyDir": {"medium": "Memory",
                                   "sizeLimit": "128Gi"}}], container={
            "volumeMounts": [{"name": "s", "mountPath": "/dev/shm"}]})),
    ("selector", "selector-resource-contradiction", pod("p", nodeSelector={
        "cloud.google.com/gke-tpu-accelerator": "tpu-v4-podslice"})),
    ("restart", "job-backoff-unbounded", pytorchjob("p")),
    ("quota", "quota-gpu-key-ineffective", {
        "apiVersion": "v1", "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "ml"},
        "spec": {"hard": {"nvidia.com/gpu": "8"}}}),
    ("priority", "priority-class-system-reserved", pod(
        "p", priorityClassName="system-cluster-critical")),
]


def families():
    for family, rule, obj in FAMILIES:
        answer = admin.create(obj)
        say(denied(answer, rule), f"{family}: {rule} denied", answer)
        line = first_line(answer)
        say(line.startswith(f"{rule}: ") and "…" not in line
            and "..." not in line, f"{rule}: the first line is whole", line)
        say("#gpu-platform" in answer[1].get("message", ""),
            f"{rule}: the contact ends the denial", answer)
        say(admin.get(obj)[0] == 404, f"{rule}: nothing is stored")


def patches(hook):
    before = hook.metric("gpugate_patches_total", rule="shm-missing")
    status, made, warnings = admin.create(pod("patched", nodeSelector={
        "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"}))
    notes = admin.notes()
    say(status == 201, "a Pod without /dev/shm is admitted", made)
    spec = made.get("spec", {})
    mounts = [m for c in spec.get("containers", [])
              for m in c.get("volumeMounts", [])]
    say(any(m["mountPath"] == "/dev/shm" for m in mounts), "mount", mounts)
    say(any((v.get("emptyDir") or {}).get("sizeLimit") == "8Gi"
            for v in spec.get("volumes", [])), "volume of the policy's size")
    say(any(t.get("key") == "nvidia.com/gpu"
            for t in spec.get("tolerations", [])), "toleration")
    say(any("shm-missing" in w for w in warnings), "a warning reports the patch",
        warnings)
    stored = admin.get(made)[1]
    say(stored.get("spec", {}).get("volumes") == spec.get("volumes"),
        "the patch is stored")
    say("shm-missing" in notes.get("mutate.gpugate.dev/patched", ""),
        "audit annotation patched", notes)
    say(hook.metric("gpugate_patches_total", rule="shm-missing") > before,
        "gpugate_patches_total")
    say(not made["metadata"].get("annotations"), "nothing else is written")
    # A patched object is not patched a second time.
    again = copy.deepcopy(made)
    again["metadata"] = {"name": "again", "namespace": "ml"}
    again["spec"].pop("nodeName", None)
    made2 = admin.create(again)[1]
    say(made2.get("spec", {}).get("volumes") == spec.get("volumes"),
        "a patched Pod is not changed")
    applied = pod("applied")
    status, made, _ = admin.request(
        "PATCH", admin.path(applied, "applied") + "?fieldManager=test",
        applied, {"Content-Type": "application/apply-patch+yaml"})
    say(status == 201 and made["spec"].get("volumes"),
        "what is applied by the server is patched too", made)


def classes(hook):
    """Test that the Priority plugin runs before the webhook and again after it."""
    with_class = "  priority-class-missing: {action: patch, params: {class: gpu-batch}}\n"
    hook.set_policy(POLICY.replace("platform:", with_class + "platform:")
                    % ("enforce", "patchOwners: true\n"))
    for _ in range(400):
        status, made, _ = admin.create(pod("classy"), dry_run=True)
        if made.get("spec", {}).get("priorityClassName"):
            break
        time.sleep(0.05)
    status, made, _ = admin.create(pod("classy"))
    say(status == 201, "the class patch survives the Priority plugin", made)
    say((made.get("spec", {}).get("priorityClassName"),
         made.get("spec", {}).get("priority")) == ("gpu-batch", 1000),
        "class and number", made.get("spec"))
    status, made, _ = admin.create(pytorchjob("classy", backoff=2))
    template = made["spec"]["pytorchReplicaSpecs"]["Worker"]["template"] \
        if status == 201 else {}
    say(template.get("spec", {}).get("priorityClassName") == "gpu-batch",
        "an owner is patched where the policy says so", made)
    kept = pytorchjob("kept", backoff=2, annotations={
        "argocd.argoproj.io/tracking-id": "app:kubeflow.org/PyTorchJob:ml/kept"})
    status, made, warnings = admin.create(kept)
    template = made["spec"]["pytorchReplicaSpecs"]["Worker"]["template"] \
        if status == 201 else {}
    say(status == 201 and not template.get("spec", {}).get("priorityClassName"),
        "what Argo CD keeps is not touched", made)
    say(any("gpugate lint --fix" in w for w in warnings), "but told", warnings)
    deployment = {
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "classy", "namespace": "ml"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": dict(
                pod()["spec"], restartPolicy="Always")}}}
    status, made, _ = admin.create(deployment)
    say(status == 201 and made["spec"]["template"]["spec"].get(
        "priorityClassName") == "gpu-batch", "and a Deployment", made)
    hook.set_policy(POLICY % MODES)
    for _ in range(400):
        made = admin.create(pytorchjob("plain", backoff=2), dry_run=True)[1]
        if "priorityClassName" not in json.dumps(made):
            break
        time.sleep(0.05)
    say("priorityClassName" not in json.dumps(made), "owners are not, else")


def side_effects(hook):
    obj = pod("dry")
    say(admin.create(obj, dry_run=True)[0] == 201, "dry run")
    say(admin.get(obj)[0] == 404, "a dry run stores nothing")
    say(hook.metric("gpugate_admission_requests_total", dry_run="true") > 0,
        "dry runs are counted apart")
    hook.set_policy(POLICY % ("audit", ""))
    wait_for_mode("audit")
    bad = pytorchjob("old", backoff=None)
    say(admin.create(bad)[0] == 201, "made under audit")
    wait_for_policy(hook, *MODES)
    label = {"reason": "subresource"}
    before = hook.metric("gpugate_not_judged_total", **label)
    status, made, _ = admin.patch(
        bad, {"status": {"lastReconcileTime": "2026-01-31T08:00:00Z"}},
        "status")
    say(status == 200 and made["status"]["lastReconcileTime"],
        "a status update is untouched", made)
    say(hook.metric("gpugate_not_judged_total", **label) == before + 1,
        "although the webhook is asked")
    say(admin.delete(bad)[0] in (200, 202), "DELETE is untouched")


def warnings_and_audit():
    status, _, warnings = alice.create(pytorchjob("warned", backoff=3))
    say(status == 201, "warnings let it in")
    say(any(w.startswith("job-deadline-missing: ") for w in warnings),
        "warning is seen", warnings)
    say(warnings and all(len(w) <= 120 for w in warnings),
        "warnings are short", warnings)
    notes = alice.notes()
    rules = notes.get("validate.gpugate.dev/rules", "").split(",")
    say("gpu-node-selector-missing" in rules, "audit annotation rules", notes)
    say(len(notes.get("validate.gpugate.dev/policy", "")) == 16,
        "audit annotation policy", notes)
    alice.delete(pytorchjob("warned"))


# --- a rollout ----------------------------------------------------------------

def wait_for_mode(mode, limit=5.0):
    """Wait until the API server answers as in that mode; return the seconds. More
    than `limit` seconds are a failure."""
    began = time.time()
    obj = pytorchjob("switch")
    while time.time() - began < limit + 5:
        status, _, warnings = admin.create(obj, dry_run=True)
        seen = ("enforce" if status == 403 else
                "warn" if any("job-backoff-unbounded" in w for w in warnings)
                else "audit")
        if seen == mode:
            break
        time.sleep(0.05)
    took = time.time() - began
    say(took <= limit, f"mode {mode} within {limit} s", took)
    return took


def wait_for_policy(hook, mode, more=""):
    hook.set_policy(POLICY % (mode, more))
    return wait_for_mode(mode)


def rollout(hook):
    wait_for_policy(hook, "audit")
    bad = pytorchjob("legacy", replicas=4)
    status, made, warnings = alice.create(bad)
    say(status == 201 and not warnings, "audit changes nothing", warnings)
    notes = alice.notes()
    say("job-backoff-unbounded" in
        notes.get("validate.gpugate.dev/would-deny", ""), "would-deny", notes)
    say(hook.metric("gpugate_findings_total", rule="job-backoff-unbounded",
                    action="audit", mode="audit") > 0, "counted")
    plain = alice.create(pod("audited"))[1]
    say(not plain["spec"].get("volumes"), "audit patches nothing")
    notes = alice.notes()
    say("shm-missing" in notes.get("mutate.gpugate.dev/would-patch", ""),
        "would-patch", notes)
    wait_for_policy(hook, "warn")
    status, _, warnings = alice.create(pytorchjob("warned"))
    say(status == 201 and any("job-backoff-unbounded" in w for w in warnings),
        "warn warns", warnings)
    say(not alice.create(pod("warned"))[1]["spec"].get("volumes"),
        "warn patches nothing")
    wait_namespace(hook)
    wait_for_policy(hook, "enforce")
    ratchet(bad)
    took = wait_for_policy(hook, "audit")
    print(f"back to audit after {took:.2f} s")
    wait_for_policy(hook, "enforce")


def wait_namespace(hook):
    """Test mode enforce in one namespace while the others warn."""
    hook.set_policy(POLICY % (
        "warn", "overrides:\n- {namespaces: [research], mode: enforce}\n"))
    there = pytorchjob("first")
    there["metadata"]["namespace"] = "research"
    for _ in range(400):
        if denied(alice.create(there, dry_run=True), "job-backoff-unbounded"):
            break
        time.sleep(0.05)
    say(denied(alice.create(there), "job-backoff-unbounded"),
        "enforce in one namespace")
    say(alice.create(pytorchjob("second"))[0] == 201, "warn in the other")


def ratchet(bad):
    status, body, _ = alice.patch(bad, {"metadata": {"labels": {"a": "b"}}})
    say(status == 200, "an old object can be labeled", body)
    workers = {"spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": 2}}}}
    status, body, _ = alice.patch(bad, workers)
    say(status == 200, "and scaled down", body)
    workers["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"] = 8
    answer = alice.patch(bad, workers)
    say(denied(answer, "job-backoff-unbounded"), "but not up", answer)
    answer = alice.patch(bad, {"spec": {"runPolicy": {"ttlSecondsAfterFinished": 60}}})
    say(answer[0] == 200, "an old finding only warns", answer)
    say(any("job-backoff-unbounded" in w for w in answer[2]), "and is told")
    say(alice.delete(bad)[0] in (200, 202), "and deleted")


def owned(name, **more):
    return pod(name, metadata={"ownerReferences": [{
        "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
        "name": "owner", "uid": "2d0b6c9e-1111-4222-8333-444455556666",
        "controller": True}]},
        container={"resources": {"limits": {"nvidia.com/gpu": 64}}}, **more)


def owners():
    operator = Server(folder, "system:serviceaccount:kubeflow:training-operator")
    status, made, _ = operator.create(owned("worker-0"))
    say(status == 201, "a controller's Pod is not denied", made)
    say(made.get("spec", {}).get("volumes"), "but patched")
    notes = operator.notes()
    say("gpu-count-exceeds-node" in notes.get("validate.gpugate.dev/rules", ""),
        "and audited", notes)
    answer = alice.create(owned("worker-1"))
    say(denied(answer, "gpu-count-exceeds-node"),
        "a forged ownerReference is denied", answer)
    bare = owned("worker-2")
    del bare["metadata"]["ownerReferences"]
    say(denied(operator.create(bare), "gpu-count-exceeds-node"),
        "a controller's Pod without owner is judged")


def break_glass(hook):
    oncall = Server(folder, "oncall")
    note = {"annotations": {"gpugate.dev/break-glass": "INC-4711 restore"}}
    bad = pytorchjob("glass", **note)
    before = hook.metric("gpugate_break_glass_total")
    say(denied(alice.create(bad), "job-backoff-unbounded"),
        "the annotation alone breaks nothing")
    say(denied(oncall.create(pytorchjob("glass", annotations={
        "gpugate.dev/break-glass": " "})), "job-backoff-unbounded"),
        "nor does the group without a ticket")
    status, _, warnings = oncall.create(bad)
    say(status == 201, "break-glass lets it in")
    say(any("job-backoff-unbounded" in w for w in warnings), "with a warning",
        warnings)
    notes = oncall.notes()
    say(notes.get("validate.gpugate.dev/break-glass") == "INC-4711 restore",
        "and a trace", notes)
    say(hook.metric("gpugate_break_glass_total") == before + 1, "and a count")
    oncall.delete(bad)


def suppressions():
    def asking(namespace, **notes):
        obj = pod("quiet", namespace, nodeSelector={"a": "b"}, container={
            "resources": {"limits": {"nvidia.com/gpu": 64}}})
        obj["metadata"]["annotations"] = {
            "gpugate.dev/" + k.replace("_", "-"): v for k, v in notes.items()}
        return obj

    answer = alice.create(asking(
        "team-a", ignore="gpu-count-exceeds-node", ignore_reason="big box"))
    say(denied(answer, "gpu-count-exceeds-node"),
        "an annotation that is not granted does nothing", answer)
    obj = pod("quiet", "team-a")
    obj["metadata"]["annotations"] = {
        "gpugate.dev/ignore": "shm-missing",
        "gpugate.dev/ignore-reason": "the image brings its own"}
    status, made, _ = alice.create(obj)
    say(status == 201 and not made["spec"].get("volumes"),
        "a granted one is honored", made)
    obj["metadata"]["name"] = "loud"
    obj["metadata"]["namespace"] = "ml"
    status, made, warnings = alice.create(obj)
    say(status == 201 and made["spec"].get("volumes"),
        "not in another namespace", made)


def subresources():
    obj = pod("sub", container={"resources": {"limits": {"cpu": "1"}}})
    say(admin.create(obj)[0] == 201, "a plain Pod")
    status, body, _ = admin.patch(
        obj, {"spec": {"ephemeralContainers": [{
            "name": "debug", "image": "busybox"}]}},
        "ephemeralcontainers", "strategic-merge-patch+json")
    say(status == 200, "a debug container is let in", body)
    answer = admin.patch(
        obj, {"spec": {"ephemeralContainers": [{
            "name": "spy", "image": "busybox", "env": [
                {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]}]}},
        "ephemeralcontainers", "strategic-merge-patch+json")
    say(denied(answer, "nvidia-visible-devices-override"),
        "one that takes all GPUs is not", answer)
    status, body, _ = admin.patch(
        obj, {"spec": {"containers": [{
            "name": "main", "resources": {"limits": {"cpu": "2"}}}]}},
        "resize", "strategic-merge-patch+json")
    say(status == 200, "a Pod is resized", body)
    status, body, _ = admin.patch(obj, {"metadata": {"annotations": {
        "example.com/cdi": "nvidia.com/gpu=all"}}})
    say(status == 200, "a Pod is annotated", body)
    answer = admin.patch(obj, {"metadata": {"annotations": {
        "nvidia.cdi.k8s.io/run": "nvidia.com/gpu=all"}}})
    say(denied(answer, "nvidia-device-mount-bypass"),
        "an annotation that takes all GPUs is not let in", answer)


def too_much():
    """Test that objects whose check would take too long are denied."""
    half = {"limits": {"nvidia.com/gpu": 1}}
    for what, obj in (
            # The API server writes each < as six bytes: 8 MB.
            ("escaped", pod("p", container={"env": [
                {"name": "A", "value": "<" * 1300000}]})),
            ("crowded", pod("p", containers=[
                {"name": f"c{i}", "image": "i", "resources": half}
                for i in range(9000)]))):
        began = time.time()
        answer = admin.create(obj)
        say(denied(answer, "invalid-syntax"), what, str(answer)[:300])
        print(f"{what}: denied after {time.time() - began:.2f} s")


def log(hook):
    """Test that the log has one line for each decision with findings, and never an
    object."""
    with open(hook.log, encoding="utf-8") as text:
        text = text.read()
    lines = [json.loads(line) for line in text.splitlines()]
    lines = [line for line in lines if line["msg"] == "decision"]

    def logged(**fields):
        return any(all(line.get(k) == v for k, v in fields.items())
                   for line in lines)

    say(logged(decision="deny", user="alice", namespace="ml", name="worker-1",
               kind="Pod", owner="PyTorchJob/owner", mode="enforce",
               dryRun=False), "a denial is logged", lines[:3])
    say(logged(decision="audit", would="deny", mode="audit", name="legacy",
               kind="PyTorchJob.kubeflow.org"), "what would be denied")
    say(logged(decision="patch", name="patched"), "a patch")
    say(logged(decision="deny", dryRun=True), "a dry run")
    say(all(len(line["policy"]) == 16 and line["uid"] for line in lines),
        "with policy and uid")
    say("torchrun" not in text and "pytorch/pytorch" not in text,
        "nothing of an object is logged")


def corpus(hook):
    """Test that for real objects the webhook reports the findings of `gpugate lint`."""
    objects = Corpus(build, folder, admin)
    wait_for_policy(hook, "audit")
    count, different = objects.audited()
    print(f"corpus: {count} objects through the API server, "
          f"{different} with other rules than lint")
    say(count > 100, "corpus objects", count)
    say(different == 0, "same rules as lint", different)
    for preset in ("recommended", "strict"):
        # Without another mode in between, the next wait would end at once.
        wait_for_policy(hook, "audit")
        wait_for_policy(hook, "enforce", f"extends: [{preset}]\n")
        counts = objects.decided()
        print(f"corpus: verdicts under {preset}: {counts}")
        say(counts["allowed"] > 10 and counts["denied"] > 5 and
            not counts["differ"], "lint and the API server agree", counts)
    counts, different = objects.denied()
    print("corpus: denied under strict: " +
          ", ".join(f"{n} {kind}" for kind, n in counts.items()))
    say(all(counts.values()), "some of each kind are denied", counts)
    say(different == 0, "with the findings of lint", different)
    objects.tell()
    wait_for_policy(hook, "audit")


def main():
    prepare()
    hook = Webhook(build + "/gpugated", folder, address, ports,
                   POLICY % MODES)
    hook.start()
    try:
        configure(hook)
        families()
        patches(hook)
        warnings_and_audit()
        reinvocation(say, admin, hook, pod)
        classes(hook)
        side_effects(hook)
        owners()
        break_glass(hook)
        suppressions()
        subresources()
        too_much()
        rollout(hook)
        log(hook)
        corpus(hook)
        obj = pod("timed", container={"resources": {"limits": {"cpu": "1"}}})
        latency(admin, hook.configurations(KINDS), obj)
    finally:
        hook.stop()
    print(f"webhook: {passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
