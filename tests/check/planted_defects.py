#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plant defects in real objects and check that the right rule finds each of them at
the right place.

Each defect (defects.py, *_defects.py) is planted alone, at every place of every
GPU object of the corpus where it applies. The places come from the CRDs' schemas
and the API (pod_paths.py), never from the product. Near misses of the defects,
at the same places, must not be reported.

usage: planted_defects.py BUILD CORPUS CRDS WORK [-v]

At least 2,000 defects must be planted, and 99 % of them found, and half of each
rule's. No near miss may be reported. There must be a defect for each preview
rule and each rule of seven families, except those listed with a reason.
"""
import collections
import copy
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "webhook"))
from defects import ALL, RUNTIMES  # noqa: E402
import gang_defects  # noqa: E402,F401
import job_defects  # noqa: E402,F401
import operator_defects  # noqa: E402,F401
import parallelism_defects  # noqa: E402,F401
import rejection_defects  # noqa: E402,F401
import resource_defects  # noqa: E402,F401
import scheduling_defects  # noqa: E402,F401
import serving_defects  # noqa: E402,F401
import site_defects  # noqa: E402,F401
from pod_paths import (Places, at, devices, group_kind, pointer,  # noqa: E402
                       schemas)
from random_objects import documents  # noqa: E402

FAMILIES = {"resources", "shm", "scheduling", "lifecycle", "quota", "priority",
            "parallelism"}
LEAST, SHARE, BATCH = 2000, 0.99, 400
NOT_PLANTED = {
    "quota-would-exceed": "two objects share a quota: tests/check/quota.sh",
    "batch-preempts-serving": "two objects and two classes",
    "rwo-pvc-multi-replica": "a workload and a claim",
    "networkpolicy-blocks-rendezvous": "a workload and policies",
    "pdb-blocks-gpu-drain": "a workload and a budget",
    "pdb-missing-gpu-serving": "a workload and others' budgets",
    "priorityclass-multiple-default": "no GPU object: two PriorityClasses",
    "priorityclass-value-out-of-range": "no GPU object: a PriorityClass",
}
NODE = {"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": "n", "labels": {"kubernetes.io/os": "linux"}},
        "status": {"allocatable": {"nvidia.com/gpu": "8", "cpu": "64",
                                   "memory": "512Gi"}}}
CLUSTER = {"apiVersion": "gpugate.dev/v1", "kind": "ClusterSnapshot",
           "version": 1, "takenAt": "2026-01-31T08:00:00Z", "usage": [],
           "items": [{"apiVersion": "scheduling.k8s.io/v1",
                      "kind": "PriorityClass", "value": 100,
                      "metadata": {"name": "gpu-batch"}},
                     {"apiVersion": "node.k8s.io/v1", "handler": "nvidia",
                      "kind": "RuntimeClass",
                      "metadata": {"name": "nvidia"}}, NODE]}
CLASSES = dict(CLUSTER, items=[
    {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass",
     "metadata": {"name": name}, "spec": {}}
    for name in ("gpu.nvidia.com", "mig.nvidia.com")])
POLICY = {"apiVersion": "gpugate.dev/v1", "kind": "Policy"}
PLATFORM = dict(POLICY, platform={
    "gpuTaints": ["nvidia.com/gpu"], "priorityClasses": ["gpu-batch"],
    "gpuProducts": ["NVIDIA-H100-80GB-HBM3", "NVIDIA-A100-SXM4-80GB"]})
LIMITS = dict(POLICY, rules={"gpu-count-max": {
    "severity": "error", "params": {"pod": 6, "workload": 6}}})

SITE = dict(POLICY, rules={
    "runtimeclass-missing": {"params": {"class": "nvidia"}},
    "scheduler-name-unknown": {"params": {"schedulers": "volcano,kai"}},
    "queue-bypass": {"params": {"namespaces": "queued"}},
    "cost-labels-missing": {"params": {"labels": "cost-center"}},
    "gpu-budget": {"params": {"hours": 100}},
    "gpu-cpu-memory-ratio": {"params": {"cpu": "64"}}})


def configs(work):
    """Return {name: options of lint}."""
    found = {"plain": [], "all": ["--preset", "all"]}
    for name, content, option in (("platform", PLATFORM, "--config"),
                                  ("limits", LIMITS, "--config"),
                                  ("site", SITE, "--config"),
                                  ("cluster", CLUSTER, "--cluster")):
        path = work / (name + ".json")
        path.write_text(json.dumps(content))
        found[name] = [option, str(path)]
    path = work / "classes.json"
    path.write_text(json.dumps(CLASSES))
    found["known"] = ["--preset", "all", "--cluster", str(path)]
    return found


class Plant:
    def __init__(self, defect, obj, where, near):
        self.defect, self.obj, self.near = defect, obj, near
        self.beside = where[:1] == ("more",)
        self.at = "" if self.beside else pointer(where)

    def write(self, path):
        self.path = str(path)
        text = "\n---\n".join(map(json.dumps, [self.obj, *self.defect.more]))
        text = text.replace("@NAME@", self.obj["metadata"]["name"])
        text = text.replace("@CLASS@", self.device_class)
        path.write_text(text)

    def show(self, what):
        change = self.defect.near if self.near else self.defect.change
        print("%s: %s (%s) in %s/%s at %s: %s %s" % (
            what, self.defect.rule, change.__name__, self.obj["kind"],
            self.obj["metadata"].get("name"), self.at or "/",
            sorted({f["rule"] for f in self.findings}), self.path))

    def found_by(self, findings):
        """Return true for a finding about the place, a value in it or, if it is
        missing, a value around it, but not above the pod that contains
        `at`."""
        for f in findings:
            if f["rule"] != self.defect.rule:
                continue
            if self.beside or self.at == "":
                return True
            if (f["path"] + "/").startswith(self.at + "/"):
                return True
            if (self.at + "/").startswith(f["path"] + "/") and \
                    f["path"].count("/") >= self.at.count("/") - 2:
                return True
        return False


def places_of(obj, crds, on):
    places = Places(obj, crds)
    if on == "object":
        return [()] if any(devices(at(obj, p)) for p in places.resources) \
            else []
    if on == "pod":
        return [(p,) for p in places.pods]
    if on == "container":
        return places.containers
    return [(p,) for p in places.resources if devices(at(obj, p))]


def plants(objects, crds):
    for obj in objects:
        for defect in ALL:
            for place in places_of(obj, crds, defect.on):
                changed = copy.deepcopy(obj)
                where = defect.change(changed, *place)
                if where is None:
                    continue
                yield Plant(defect, changed, where, False)
                if defect.near:
                    miss = copy.deepcopy(changed)
                    defect.near(miss, *place)
                    yield Plant(defect, miss, where, True)


def is_whole(obj, places):
    """Return true unless the object is partial, as kustomize patches are, or a
    component of the GPU stack: missing fields are not defects there."""
    spec = obj.get("spec") or {}
    if group_kind(obj)[0] == "apps" and "selector" not in spec:
        return False
    if obj["kind"] in RUNTIMES or obj["kind"] == "LLMInferenceService":
        return True
    images = [at(obj, box).get("image") for _, box in places.containers]
    return all(images) and "operator-validator" not in " ".join(images)


def asks(obj, crds):
    places = Places(obj, crds)
    return any(devices(at(obj, p)) for p in places.resources) and \
        is_whole(obj, places)


def lint(gpugate, options, paths):
    done = subprocess.run(
        [gpugate, "lint", *(options or ["--isolated"]), "--fail-on", "never",
         "--no-ignore-vcs", "--show-all", "--format", "json", *paths],
        capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit("FAILED: lint: " + done.stderr[-1000:])
    found = collections.defaultdict(list)
    for f in json.loads(done.stdout)["findings"]:
        found[f["file"]].append(f)
    return found


def judge(gpugate, all_plants, work):
    """Write each planted object to a file, and yield it with its findings.
    Objects with additional documents are linted alone."""
    options, batches = configs(work), collections.defaultdict(list)
    for i, plant in enumerate(all_plants):
        meta = plant.obj.setdefault("metadata", {})
        meta.pop("generateName", None)
        # Objects with one name would be duplicates. An object whose name
        # matters keeps it.
        meta["name"] = meta.pop("keep", "plant-%05d" % i)
        plant.device_class = meta.pop("class", "")
        if meta["name"] == "vllm":
            meta["namespace"] = "plant-%05d" % i
        plant.write(work / ("plant-%05d.yaml" % i))
        key = (plant.defect.config, i if plant.defect.more else -1)
        batches[key].append(plant)
    for (config, _), group in batches.items():
        for i in range(0, len(group), BATCH):
            part = group[i:i + BATCH]
            found = lint(gpugate, options[config], [p.path for p in part])
            for plant in part:
                plant.findings = found[plant.path]
                yield plant, plant.found_by(plant.findings)


def unplanted(gpugate, planted):
    rules = json.loads(subprocess.run(
        [gpugate, "rules", "--format", "json"], capture_output=True,
        check=True).stdout)["rules"]
    return [r["name"] for r in rules
            if (r["preview"] or r["category"] in FAMILIES)
            and r["name"] not in planted and r["name"] not in NOT_PLANTED]


def main():
    build, corpus, folder, work = map(pathlib.Path, sys.argv[1:5])
    gpugate, crds = str(build / "gpugate"), schemas(folder)
    objects = [o for o in documents(build, corpus) if asks(o, crds)]
    table = collections.defaultdict(lambda: [0, 0])
    missed = []
    wrong, nears = [], 0
    for plant, found in judge(gpugate, plants(objects, crds), work):
        if plant.near:
            nears += 1
            if found:
                wrong.append(plant)
            continue
        table[plant.defect.rule][0] += 1
        table[plant.defect.rule][1] += found
        if not found:
            missed.append(plant)
    number = sum(n for n, _ in table.values())
    hit = sum(n for _, n in table.values())
    if "-v" in sys.argv:
        for rule, (n, good) in sorted(table.items()):
            print("%5d %5d  %s" % (n, n - good, rule))
    for plant in missed if "-v" in sys.argv else missed[:40]:
        plant.show("missed")
    for plant in wrong[:40]:
        plant.show("FAILED near miss found")
    gaps = unplanted(gpugate, table)
    for name in gaps:
        print("FAILED no plant for rule", name)
    print("%d objects, %d plants, %.2f %% found; %d of %d near misses silent" %
          (len(objects), number, 100 * hit / number, nears - len(wrong), nears))
    blind = [rule for rule, (n, good) in table.items() if good < n / 2]
    for rule in blind:
        print("FAILED %s is found in %d of %d" % (
            rule, table[rule][1], table[rule][0]))
    bad = [number < LEAST, hit < SHARE * number, blind, gaps, wrong]
    print("planted-defects: %d passed, %d failed" % (hit + nears - len(wrong),
                                            sum(map(bool, bad))))
    return 1 if any(bad) else 0


if __name__ == "__main__":
    sys.exit(main())
