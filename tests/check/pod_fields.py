#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that a defect is found at every path where a kind keeps its field.

pod-fields.yaml lists the paths of each kind's pod fields; one defect of each
field is planted at each of these paths. At the paths of its near misses, the pod
has no defect, and nothing may be found.

If a kind is completed by another object, each defect is checked again with that
object in another file, and in a cluster state if it keeps the object's kind: the
findings must be the same.

The same defects are planted in each template of every kind of
rules/kube/data/kinds.txt (kind_rows.py). Kinds with other pods than templates that
the table lacks are listed.

usage: pod_fields.py GPUGATE TABLE KINDS WORK [-v]
"""
import collections
import copy
import json
import pathlib
import subprocess
import sys

import yaml

import kind_rows
from planted_defects import CLUSTER, PLATFORM, SITE
from pod_paths import at

KEY = "nvidia.com/gpu"
OTHER = {"amd.com/gpu.product-name": "AMD_Instinct_MI300X"}
AFFINITY = {"nodeAffinity": {
    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "amd.com/gpu.product-name",
                               "operator": "In",
                               "values": ["AMD_Instinct_MI300X"]}]}]}}}
PROBE = {"httpGet": {"path": "/health", "port": 8000}, "periodSeconds": 5,
         "failureThreshold": 3, "timeoutSeconds": 5}
SHM = [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Mi"}}]
DEVICE = [{"name": "dev", "hostPath": {"path": "/dev/nvidia0"}}]


def env(name, value):
    return [{"name": name, "value": value}]


def resources(limits, requests=None):
    return {"limits": dict({"memory": "64Gi"}, **limits),
            "requests": dict({"cpu": 8}, **(requests or {}))}


# rule, options, {field of the pod or of the container: planted value}
DEFECTS = [
    ("hostipc-instead-of-shm", "plain", {"hostIPC": True}),
    ("gpu-hostpid", "all", {"hostPID": True}),
    ("hostnetwork-dns-policy", "all", {"hostNetwork": True}),
    ("node-name-pinned", "all", {"nodeName": "gpu-node-1"}),
    ("selector-resource-contradiction", "plain", {"nodeSelector": OTHER}),
    ("selector-resource-contradiction", "plain", {"affinity": AFFINITY}),
    ("gpu-toleration-missing", "platform",
     {"tolerations": [{"key": "team", "operator": "Exists"}]}),
    ("runtimeclass-unknown", "cluster", {"runtimeClassName": "planted"}),
    ("priority-class-unknown", "cluster", {"priorityClassName": "planted"}),
    ("scheduler-name-unknown", "site", {"schedulerName": "planted"}),
    ("nvidia-device-mount-bypass", "plain",
     {"volumes": DEVICE,
      "volumeMounts": [{"name": "dev", "mountPath": "/dev/nvidia0"}]}),
    ("shm-too-small", "plain",
     {"volumes": SHM,
      "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}]}),
    ("gpu-resource-name-unknown", "plain",
     {"resources": resources({"nvidia.com/gpus": 2})}),
    ("gpu-request-limit-mismatch", "plain",
     {"resources": resources({KEY: 2}, {KEY: 1})}),
    ("gpu-fractional-quantity", "plain",
     {"resources": resources({KEY: "500m"})}),
    ("gpu-count-exceeds-node", "plain",
     {"resources": resources({KEY: 64})}),
    ("gpu-memory-limit-missing", "plain",
     {"resources": {"limits": {KEY: 2}, "requests": {"cpu": 8}}}),
    ("nvidia-visible-devices-override", "plain",
     {"env": env("NVIDIA_VISIBLE_DEVICES", "all")}),
    ("gpu-uuid-pinned", "plain",
     {"env": env("CUDA_VISIBLE_DEVICES",
                 "GPU-8f6d1c3e-2b1a-4c5d-9e8f-0a1b2c3d4e5f")}),
    ("secret-in-gpu-env", "plain",
     {"env": env("HF_TOKEN", "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH")}),
    ("cuda-visible-devices-invalid", "plain",
     {"env": env("CUDA_VISIBLE_DEVICES", "-1")}),
    ("nccl-debug-left-on", "all", {"env": env("NCCL_DEBUG", "TRACE")}),
    ("gpu-privileged", "plain", {"securityContext": {"privileged": True}}),
    ("gpu-image-unpinned", "all", {"image": "vllm/vllm-openai:latest"}),
    ("gpu-image-pull-always", "all", {"imagePullPolicy": "Always"}),
    ("liveness-kills-model-load", "plain", {"livenessProbe": PROBE}),
    ("probe-timeout-default", "all", {"readinessProbe": {
        "httpGet": {"path": "/health", "port": 8000}}}),
    ("command-single-string", "plain", {"command": ["vllm serve --port 1"]}),
]
# Rules that report only in model servers.
ONLY = {"liveness-kills-model-load": "serving",
        "probe-timeout-default": "serving"}
POD = {"hostIPC", "hostPID", "hostNetwork", "nodeName", "nodeSelector",
       "affinity", "tolerations", "runtimeClassName", "priorityClassName",
       "schedulerName", "volumes"}
SERVING = ("Deployment", "NIM", "Dynamo", "RoleBased", "InferenceService",
           "LLMInference")


def steps(pointer):
    return [int(s) if s.isdigit() else s for s in pointer.split("/") if s]


def place_of(place, field):
    """Return the map and the keys where the place keeps the field, or None."""
    if field == "volumes" and "volumes" in place:
        return place["volumes"], ["volumes"]
    if field in (place.get("as") or {}):
        return place["at"], place["as"][field].split(".")
    if field in (place.get("whole") or []):
        return None
    names = place.get("pod" if field in POD else "box") or []
    return (place["at"], [field]) if names == "all" or field in names else None


def put(obj, pointer, keys, value):
    """Set the value and return its pointer."""
    for step in steps(pointer):
        if isinstance(obj, dict):
            obj = obj.setdefault(step, {})
        else:
            obj = obj[step]
    for key in keys[:-1]:
        obj = obj.setdefault(key, {})
    if isinstance(obj.get(keys[-1]), dict) and "repository" in obj[keys[-1]]:
        image, _, tag = value.rpartition(":")
        value = {"repository": image, "tag": tag}
    if keys[-1] == "volumes" or keys[-1] == "env" or keys[-1] == "envs":
        value = (obj.get(keys[-1]) or []) + value
    obj[keys[-1]] = copy.deepcopy(value)
    return pointer + "".join("/" + key for key in keys)


class Plant:
    def __init__(self, entry, place, defect, number):
        self.rule, self.config, fields = defect
        self.kind, self.place = entry["kind"], place["at"]
        self.cluster = entry.get("cluster", True)
        self.near = self.rule in (place.get("near") or [])
        self.name = "plant-%04d" % number
        self.documents = [copy.deepcopy(entry["object"])]
        if "with" in entry:
            self.documents.append(copy.deepcopy(entry["with"]))
        self.fits, self.at = True, []
        for field, value in fields.items():
            where = place_of(place, field)
            if not where:
                self.fits = False
                return
            pointer, keys = where
            beside = pointer.startswith("+")
            self.at.append(put(self.documents[beside], pointer.lstrip("+"),
                               keys, value))
        self.documents[0]["metadata"]["name"] = self.name

    def rules(self, findings):
        """Return the findings at the object that creates the pods, without their
        places, which differ if a value is not in its file, and without those that the
        other object has too."""
        told = {(f["rule"], f["container"]) for f in self.findings
                if f["object"]["name"] != self.name}
        return sorted((f["rule"], f["severity"], f["container"],
                       f["message"].replace(" of the cluster)", ")"))
                      for f in findings if f["object"]["name"] == self.name
                      and (f["rule"], f["container"]) not in told)

    def found_by(self, findings):
        """Return true if the rule reports the planted field, a place in it, or
        one of the three maps around it."""
        for f in findings:
            for place in self.at:
                near = (f["path"] + "/").startswith(place + "/") or \
                    ((place + "/").startswith(f["path"] + "/") and
                     f["path"].count("/") >= place.count("/") - 3)
                if f["rule"] == self.rule and near:
                    return True
        return False


def plants(table):
    number = 0
    for entry in table:
        for place in entry["places"]:
            for defect in DEFECTS:
                if ONLY.get(defect[0]) == "serving" and \
                        not entry.get("serves", entry["kind"].startswith(
                            SERVING)):
                    continue
                plant = Plant(entry, place, defect, number)
                if plant.fits:
                    number += 1
                    yield plant


def configs(work):
    options = {"plain": ["--isolated"],
               "all": ["--isolated", "--preset", "all"]}
    for name, content, option in (("platform", PLATFORM, "--config"),
                                  ("site", SITE, "--config"),
                                  ("cluster", CLUSTER, "--cluster")):
        path = work / (name + ".json")
        path.write_text(json.dumps(content))
        options[name] = [option, str(path)]
    return options


def lint(gpugate, options, path):
    done = subprocess.run(
        [gpugate, "lint", *options, "--fail-on", "never", "--no-ignore-vcs",
         "--show-all", "--format", "json", str(path)],
        capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit("FAILED: lint: " + done.stderr[-1000:])
    return json.loads(done.stdout)["findings"]


def with_state(gpugate, plant, options, items, path):
    """Return the findings in the file, with the options of the defect and a cluster
    state."""
    if plant.config == "cluster":
        options, items = [], CLUSTER["items"] + items
    state = path.parent / "state.json.txt"
    state.write_text(json.dumps(dict(CLUSTER, items=items)))
    return plant.rules(lint(gpugate, [*options, "--cluster", str(state)],
                            path))


def apart(gpugate, plant, options, work):
    """Yield (a name of the place, the findings, the expected findings) with the second
    object in another file and, if possible, in the cluster."""
    folder = work / plant.name
    folder.mkdir()
    path = folder / "object.yaml"
    path.write_text(json.dumps(plant.documents[0]))
    (folder / "runtime.yaml").write_text(json.dumps(plant.documents[1]))
    yield ("another file", plant.rules(lint(gpugate, options, folder)),
           plant.rules(plant.findings))
    if plant.cluster:
        yield ("the cluster",
               with_state(gpugate, plant, options, plant.documents[1:], path),
               with_state(gpugate, plant, options, [],
                          work / (plant.name + ".yaml")))


def differs(gpugate, plant, options, work):
    """Yield the places of the runtime in which the findings are not as expected."""
    for where, found, wanted in apart(gpugate, plant, options, work):
        if found != wanted:
            print("FAILED %s: %s at %s: with the runtime in %s: %s" % (
                plant.kind, plant.rule, " ".join(plant.at), where,
                [f for f in found + wanted
                 if f not in found or f not in wanted]))
            yield where


def judge(gpugate, table, work):
    options = configs(work)
    for plant in plants(table):
        path = work / (plant.name + ".yaml")
        path.write_text("\n---\n".join(map(json.dumps, plant.documents)))
        plant.findings = lint(gpugate, options[plant.config], path)
        plant.apart = (1 + plant.cluster) * (len(plant.documents) > 1)
        plant.differs = plant.apart and len(list(differs(
            gpugate, plant, options[plant.config], work)))
        yield plant, plant.found_by(plant.findings)


def main():
    gpugate, table, kinds = sys.argv[1:4]
    work = pathlib.Path(sys.argv[4])
    verbose = "-v" in sys.argv
    table = [t for t in yaml.safe_load_all(pathlib.Path(table).read_text())
             if t]
    ours = {t["object"]["kind"] for t in table}
    templates, made = [], 0
    for kind, entries, others in kind_rows.entries(pathlib.Path(kinds)):
        made += 1
        templates += entries
        if verbose and (others or kind.embeds) and kind.name not in ours:
            print("not all planted: %s: %s" % (kind.title(), " ".join(
                kind_rows.joined(row.group, row.pod) for row in others) or
                "objects in it"))
    number = len(table)
    table += templates
    counts = collections.OrderedDict()
    wrong = nears = aparts = 0
    for plant, found in judge(gpugate, table, work):
        key = (plant.kind, plant.place)
        aparts += plant.apart
        wrong += plant.differs
        if plant.near:
            nears += 1
            wrong += found
            if found:
                print("FAILED %s: %s at %s is none" %
                      (plant.kind, plant.rule, " ".join(plant.at)))
            continue
        counts.setdefault(key, [0, 0])
        counts[key][0] += found
        counts[key][1] += 1
        if not found and verbose:
            print("missed %s: %s at %s; %s" % (
                plant.kind, plant.rule, " ".join(plant.at),
                " ".join(sorted({f["rule"] for f in plant.findings}))))
    for (kind, place), (good, n) in counts.items():
        print("%-32s %-70s %2d of %2d" % (kind, place, good, n))
    missed = collections.Counter()
    for (kind, _), (good, n) in counts.items():
        missed[kind] += n - good
    for entry in table:
        kind, known = entry["kind"], entry.get("missed", 0)
        if missed[kind] != known:
            print("FAILED %s: %d missed, %d in the table" %
                  (kind, missed[kind], known))
            wrong += 1
    hit = sum(good for good, _ in counts.values())
    planted = sum(n for _, n in counts.values())
    print("%d kinds make pods; %d tables of places, %d templates" %
          (made, number, len(templates)))
    print("%d of %d plants found; %d near misses; %d with a runtime elsewhere" %
          (hit, planted, nears, aparts))
    print("pod fields: %d passed, %d failed" %
          (len(table) + nears + aparts - wrong, wrong))
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
