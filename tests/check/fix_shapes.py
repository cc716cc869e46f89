# SPDX-License-Identifier: Apache-2.0
"""Apply safe fixes to objects that are written in unusual but legal ways.

usage: fix_shapes.py GPUGATE RULES WORK [KUBECTL...]

Each document of RULES/<rule>/bad*.yaml is rewritten in each shape, and gets the
rule's safe fixes. Required of the result:

- no value of the author is overwritten or removed, unless REPLACES has the
  rule
- a volume that is mounted elsewhere than at /dev/shm does not change
- the rule reports no more than before
- with KUBECTL: objects that the API server accepted before are still accepted

Prints a table of rules and shapes: the number of fixed documents, and how many
documents (of kinds that it serves) the server accepts before and after.
"""
import copy
import glob
import json
import os
import subprocess
import sys

import yaml

# Rules whose fix replaces values that the server rejects, that have no effect,
# or that take uncounted devices.
REPLACES = {
    "cuda-visible-devices-invalid", "priority-integer-set",
    "quota-gpu-key-ineffective", "template-restart-policy-ignored",
    "nvidia-visible-devices-override", "hostnetwork-dns-policy",
}
SERVED = {("v1", "Pod"), ("batch/v1", "Job"), ("batch/v1", "CronJob"),
          ("apps/v1", "Deployment"), ("apps/v1", "StatefulSet"),
          ("apps/v1", "DaemonSet"), ("v1", "ResourceQuota"),
          ("v1", "LimitRange")}


def specs(node):
    """Yield all maps that look like a pod's spec."""
    if isinstance(node, dict):
        if isinstance(node.get("containers"), list) and all(
                isinstance(c, dict) for c in node["containers"]):
            yield node
        for value in node.values():
            yield from specs(value)
    elif isinstance(node, list):
        for value in node:
            yield from specs(value)


def for_each(change):
    def shape(document):
        for spec in list(specs(document)):
            if spec["containers"]:
                change(spec)
        return document
    return shape


def pod_level(spec):
    spec.setdefault("resources", {"limits": {"memory": "256Gi", "cpu": "64"}})


def empty_dirs(spec):
    return [v for v in spec.get("volumes") or [] if "emptyDir" in v]


def mounts(spec, path):
    return [{"name": v["name"], "mountPath": f"{path}/{i}"}
            for i, v in enumerate(empty_dirs(spec))]


def shared_volume(spec):
    spec["containers"].append({"name": "beside", "image": "busybox:1",
                               "volumeMounts": mounts(spec, "/beside")})


def sub_path(spec):
    for container in spec["containers"]:
        for mount in container.get("volumeMounts") or []:
            mount.setdefault("subPath", "part")
        if container.get("volumeMounts"):
            container["volumeMounts"] += [
                {**m, "subPath": "other"} for m in mounts(spec, "/other")]


def init_container(spec):
    spec.setdefault("initContainers", []).append(
        {"name": "fetch", "image": "busybox:1",
         "volumeMounts": mounts(spec, "/fetch"),
         "resources": {"limits": {"memory": "512Mi"}}})


def sidecar(spec):
    init_container(spec)
    spec["initContainers"][-1].update(name="side", restartPolicy="Always")


def several(spec):
    second = copy.deepcopy(spec["containers"][0])
    second["name"] = "second"
    second.pop("ports", None)
    spec["containers"].append(second)


def explicit_pod(spec):
    for key, value in (("dnsPolicy", "ClusterFirst"),
                       ("enableServiceLinks", True),
                       ("schedulerName", "default-scheduler"),
                       ("preemptionPolicy", "PreemptLowerPriority")):
        spec.setdefault(key, value)


def explicit(document):
    """Write the defaults that the API server fills in."""
    for_each(explicit_pod)(document)
    spec = document.get("spec") or {}
    if document.get("kind") == "CronJob":
        spec.setdefault("concurrencyPolicy", "Allow")
        spec = (spec.get("jobTemplate") or {}).get("spec") or {}
    if document.get("kind") in ("Job", "CronJob"):
        if "podFailurePolicy" not in spec:
            spec.setdefault("podReplacementPolicy", "TerminatingOrFailed")
        spec.setdefault("backoffLimit", 6)
    return document


def nulls(spec):
    for key in ("volumes", "tolerations", "nodeSelector"):
        spec.setdefault(key, None)
    for container in spec["containers"]:
        for key in ("env", "volumeMounts"):
            container.setdefault(key, None)


def anchors(document):
    for spec in specs(document):
        value = (spec["containers"] or [{}])[0].get("resources")
        if value:
            spec["containers"].append({"name": "anchored", "image": "busybox:1",
                                       "resources": value})
    return document


SHAPES = {
    "as-written": lambda d: d, "pod-level": for_each(pod_level),
    "shared-volume": for_each(shared_volume), "sub-path": for_each(sub_path),
    "init": for_each(init_container), "sidecar": for_each(sidecar),
    "several": for_each(several), "explicit": explicit,
    "null": for_each(nulls), "anchors": anchors, "json": lambda d: d,
}


def lost(before, after, path=""):
    """Yield the paths of written values that are gone or changed."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            yield from lost(value, after.get(key), f"{path}/{key}")
    elif isinstance(before, list) and isinstance(after, list):
        for i, value in enumerate(before):
            other = after[i] if i < len(after) else None
            yield from lost(value, other, f"{path}/{i}")
    elif before not in (None, [], {}) and before != after:
        yield path


def turned(before, after):
    """Yield the shared volumes that a fix turned into memory."""
    for old, new in zip(specs(before), specs(after)):
        elsewhere = {m["name"] for key in ("containers", "initContainers")
                     for c in old.get(key) or []
                     for m in c.get("volumeMounts") or []
                     if m.get("mountPath", "").rstrip("/") != "/dev/shm"}
        kept = {v["name"]: v for v in new.get("volumes") or []}
        for volume in empty_dirs(old):
            if volume["name"] in elsewhere and \
                    kept.get(volume["name"]) != volume:
                yield volume["name"]


class Shapes:
    def __init__(self, gpugate, work, kubectl):
        self.gpugate, self.kubectl, self.failed = gpugate, kubectl, 0
        self.path = os.path.join(work, "shape.yaml")

    def fail(self, *words):
        self.failed += 1
        print("FAIL", *words, file=sys.stderr)

    def lint(self, rule, folder, *more):
        policy = os.path.join(folder, "policy.yaml")
        config = ["--config", policy] if os.path.exists(policy) \
            else ["--isolated"]
        done = subprocess.run(
            [self.gpugate, "lint", *config, "--preset", "all", "--select",
             rule, "--no-ignore-vcs", "--fail-on", "never", "--format",
             "json", *more, self.path], capture_output=True)
        return json.loads(done.stdout)["findings"]

    def accepts(self, document):
        kind = document.get("apiVersion"), document.get("kind")
        if not self.kubectl or kind not in SERVED:
            return None
        plain = copy.deepcopy(document)
        plain.setdefault("metadata", {})["namespace"] = "default"
        return subprocess.run(
            [*self.kubectl, "create", "--dry-run=server", "-f", "-"],
            input=json.dumps(plain).encode(),
            capture_output=True).returncode == 0

    def one(self, rule, folder, shape, document):
        """Fix a document in a shape. Return whether that changed it, and whether the API
        server accepts it before and after (None: not asked)."""
        before = SHAPES[shape](copy.deepcopy(document))
        with open(self.path, "w", encoding="utf-8") as out:
            if shape == "json":
                json.dump(before, out, default=str)
            else:
                yaml.dump(before, out, sort_keys=False)
        found = self.lint(rule, folder)
        left = self.lint(rule, folder, "--fix")
        with open(self.path, encoding="utf-8") as file:
            after = yaml.safe_load(file)
        before = json.loads(json.dumps(before, default=str))
        after = json.loads(json.dumps(after, default=str))
        if len(left) > len(found):
            self.fail(rule, shape, "reports more than before")
        if before == after:
            return False, None, None
        if rule not in REPLACES and rule != "shm-not-memory-backed":
            for path in lost(before, after):
                self.fail(rule, shape, "overwrites", path)
        for name in turned(before, after):
            self.fail(rule, shape, "changes the shared volume", name)
        verdicts = self.accepts(before), self.accepts(after)
        if verdicts == (True, False):
            self.fail(rule, shape, "the API server rejects what was fixed")
        return True, *verdicts


def main():
    gpugate, rules, work, *kubectl = sys.argv[1:]
    shapes = Shapes(gpugate, work, kubectl)
    listing = subprocess.run([gpugate, "rules", "--format", "json"],
                             capture_output=True, check=True).stdout
    total = 0
    for rule in json.loads(listing)["rules"]:
        if rule["repair"] != "safe":
            continue
        folder = os.path.join(rules, rule["name"])
        row = []
        for shape in SHAPES:
            cell = [0, 0, 0]
            for path in sorted(glob.glob(folder + "/bad*.yaml")):
                if path.endswith(".policy.yaml"):
                    continue
                with open(path, encoding="utf-8") as file:
                    documents = [d for d in yaml.safe_load_all(file)
                                 if isinstance(d, dict)]
                for document in documents:
                    result = shapes.one(rule["name"], folder, shape, document)
                    cell = [n + bool(r) for n, r in zip(cell, result)]
            total += cell[0]
            row.append(f"{shape} {cell[0]}" + (
                f" ({cell[1]}>{cell[2]})" if kubectl else ""))
        print(f"{rule['name']}: {', '.join(row)}")
    print(f"fix shapes: {total} documents fixed, {shapes.failed} failed")
    sys.exit(shapes.failed > 0 or not total)


main()
