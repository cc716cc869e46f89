# SPDX-License-Identifier: Apache-2.0
"""Compare gpugate with operators' own validation code: which objects are rejected.

usage: operators.py OPERATOR ORACLE GPUGATE WORK COUNT SEED DIFFERENCES

Objects of the operator's kinds in tests/rules are changed at random: fields
are dropped, set to other values, or taken from another object. The oracle
decides whether the operator rejects each object. A rejected object must have a
finding of the operator's rule, or an error of another rule. This must hold for
97 % of all rejected objects. A message of the operator is missed if this holds
for fewer than 80 % of the objects with that message; at most 20 % of the
messages may be missed, and none of three or more objects (of more than one in
4,000, if there are more than 8,000). An accepted object must not have an error
of the operator's rule. DIFFERENCES lists the known differences: "OPERATOR
missed|false TEXT", where TEXT is a part of the operator's message, or a check.
Objects that the API server rejects before the operator sees them, and objects
for which its code panics, are not decided. Three of four objects must be
decided."""
import collections
import glob
import json
import os
import random
import re
import subprocess
import sys

import yaml

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RUNTIMES = ["TrainingRuntime", "ClusterTrainingRuntime"]
KUBEFLOW = ["PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob"]
# Rules whose finding is less than an error, because only some versions of the
# operator reject the object, or a LimitRange or GKE Autopilot may complete it.
RELATED = ["pytorchjob-worker-zero", "kuberay-rejects", "jobset-rejects",
           "gpu-hugepages-incomplete", "gpu-request-without-limit"]
# The rule, additional folders of tests/rules, kinds by group
OPERATORS = {
    "kuberay": ("kuberay-rejects", ["ray-*", "rayservice-*", "rayjob-*"], {
        "ray.io": ["RayCluster", "RayJob", "RayService", "RayCronJob"]}),
    "kueue": ("kueue-rejects", ["queue-*", "clusterqueue-*", "jobset-rejects",
                                "kuberay-rejects", "lws-rejects",
                                "trainer-rejects", "gang-missing"], {
        "kueue.x-k8s.io": ["ClusterQueue", "Cohort", "ResourceFlavor"],
        "batch": ["Job"], "": ["Pod"], "apps": ["Deployment", "StatefulSet"],
        "jobset.x-k8s.io": ["JobSet"],
        "leaderworkerset.x-k8s.io": ["LeaderWorkerSet"],
        "ray.io": ["RayCluster", "RayJob", "RayService"],
        "kubeflow.org": KUBEFLOW}),
    "jobset": ("jobset-rejects", ["jobset-*", "gang-*"], {
        "jobset.x-k8s.io": ["JobSet"]}),
    "lws": ("lws-rejects", ["lws-*", "gang-*"], {
        "leaderworkerset.x-k8s.io": ["LeaderWorkerSet"]}),
    "training": ("trainer-rejects", ["pytorchjob-*", "kubeflow-*"], {
        "kubeflow.org": KUBEFLOW + ["MPIJob"]}),
    "volcano": ("volcano-rejects", ["volcano-*", "gang-*"], {
        "batch.volcano.sh": ["Job", "CronJob"],
        "scheduling.volcano.sh": ["Queue", "PodGroup"]}),
    "trainer": ("trainer-rejects", ["gang-*", "queue-*"], {
        "trainer.kubeflow.org": ["TrainJob"] + RUNTIMES}),
    "kai": ("kai-rejects", ["pod-group-mismatch"], {
        "": ["Pod"], "scheduling.run.ai": ["Queue", "PodGroup"]}),
    "kserve": ("kserve-rejects", ["kserve-*", "*-model-load", "storage-init-*",
                                  "cache-not-writable", "hpa-*", "shm-*"], {
        "serving.kserve.io": ["InferenceService", "LLMInferenceService"]}),
    "mpi": ("mpijob-rejects", ["mpi-*"], {"kubeflow.org": ["MPIJob"]}),
}
VERSIONS = {"training": "kubeflow.org/v1", "mpi": "kubeflow.org/v2beta1",
            "kueue": "v1beta2"}
TEXTS = ["", "a", "A", "a.b", "-a", "a_b", "0", "1", "2", "-1", "true", "false",
         "True", "a b", "w" * 64, "9" * 20, "example.com/block", "/a", "a/",
         "kubernetes.io/hostname", "Never", "Always", "None", "1Gi", "-1Gi"]
NUMBERS = [0, 1, 2, 3, 4, 8, -1, 63, 100, 101, 2147483647]


class Loader(yaml.SafeLoader):
    """Reads dates as text, because some objects have impossible ones."""


Loader.add_constructor("tag:yaml.org,2002:timestamp",
                       yaml.SafeLoader.construct_yaml_str)


def group_of(obj):
    group, slash, _ = str(obj.get("apiVersion")).partition("/")
    return group if slash else ""


def wanted(obj, operator):
    kinds = OPERATORS[operator][2]
    version = VERSIONS.get(operator, "")
    if not isinstance(obj, dict) or "kind" not in obj:
        return False
    if version and "kueue" not in operator and \
            obj.get("apiVersion") != version:
        return False
    if group_of(obj) == "kueue.x-k8s.io" and \
            not obj["apiVersion"].endswith(version):
        return False
    return obj["kind"] in kinds.get(group_of(obj), [])


def has_placeholder(text):
    return re.search(r"\$[({]|{{|<[a-z]", text)


def read_objects(operator):
    rule, folders, _ = OPERATORS[operator]
    found = []
    for folder in [rule] + folders:
        for name in sorted(glob.glob(
                os.path.join(TESTS, "rules", folder, "*.yaml"))):
            with open(name, encoding="utf-8") as text:
                found += [doc for doc in yaml.load_all(text, Loader)
                          if wanted(doc, operator)]
    texts = sorted({json.dumps(o, sort_keys=True, default=str) for o in found})
    return [json.loads(text) for text in texts
            if not has_placeholder(text) and not is_patch(json.loads(text))]


def each_place(value, path=()):
    """Yield the places below the object: (container, key, path with * for
    indexes)."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, child in list(items):
        where = path + ("*" if isinstance(value, list) else key,)
        yield value, key, where
        if isinstance(child, (dict, list)):
            yield from each_place(child, where)


def is_fixed(path):
    return path in (("apiVersion",), ("kind",), ("metadata",), ("spec",))


WITHOUT_PODS = ("kueue.x-k8s.io", "scheduling.volcano.sh",
                "trainer.kubeflow.org")
POD_OWNERS = ("headGroupSpec", "workerTemplate", "leaderTemplate", "Launcher",
              "Worker", "Master", "Chief", "PS", "Evaluator")


def has_containers(value):
    return any(key == "containers" for _, key, _ in each_place(value))


def is_patch(obj):
    """Return true if the object lacks some container or its image, so that it
    may be a patch of another file."""
    if group_of(obj) not in WITHOUT_PODS and not has_containers(obj):
        return True
    if obj.get("kind") in RUNTIMES and not has_containers(obj):
        return True
    for container, key, path in each_place(obj):
        value = container[key]
        if isinstance(value, dict) and not has_containers(value) and (
                key in POD_OWNERS or
                path[-2:] in (("workerGroupSpecs", "*"), ("tasks", "*"),
                              ("replicatedJobs", "*"))):
            return True
        # Releases of Volcano differ on the default.
        if path[-2:] == ("tasks", "*") and "replicas" not in value:
            return True
        if key in ("containers", "initContainers") and not (
                isinstance(container[key], list) and container[key] and
                all(isinstance(c, dict) and c.get("image") and c.get("name")
                    for c in container[key])):
            return True
    return False


def list_of(*objects):
    return {"apiVersion": "v1", "kind": "List", "items": list(objects)}


class Mutator:
    def __init__(self, objects, seed):
        self.random = random.Random(seed)
        self.objects = objects
        self.by_kind = collections.defaultdict(list)
        self.values = collections.defaultdict(list)
        for obj in objects:
            self.by_kind[obj["kind"]].append(obj)
            for container, key, path in each_place(obj):
                if not is_fixed(path):
                    self.values[obj["kind"], path].append(container[key])

    def changed(self, value):
        if isinstance(value, bool):
            return not value
        if isinstance(value, int):
            return self.random.choice(NUMBERS)
        if isinstance(value, str):
            return self.random.choice(TEXTS)
        return value

    def donate(self, obj):
        """Copy a value from the same path of another object of the kind."""
        other = self.random.choice(self.by_kind[obj["kind"]])
        places = [p for p in each_place(other) if not is_fixed(p[2])]
        container, key, path = self.random.choice(places)
        targets = [(obj, ())] + [(parent[name], where) for parent, name, where
                                 in each_place(obj)]
        for target, where in targets:
            if where == path[:-1] and isinstance(target, dict):
                target[path[-1]] = json.loads(json.dumps(container[key]))
                return

    def mutate(self, obj):
        places = [p for p in each_place(obj) if not is_fixed(p[2])]
        if not places:
            return
        container, key, path = self.random.choice(places)
        choice = self.random.random()
        if choice < 0.45:
            self.donate(obj)
        elif choice < 0.6:
            del container[key]
        elif choice < 0.8 and self.values[obj["kind"], path]:
            container[key] = json.loads(json.dumps(
                self.random.choice(self.values[obj["kind"], path])))
        else:
            container[key] = self.changed(container[key])

    def make(self):
        while True:
            obj = self.mutant()
            if obj["kind"] == "TrainJob":
                obj = self.with_runtime(obj)
            if not any(map(is_patch, obj.get("items", [obj]))):
                return obj

    def runtime_for(self, job):
        """Return a copy of a random runtime; in half of the cases, if it exists, of
        the one to which the job refers."""
        ref = job.get("spec", {}).get("runtimeRef") or {}
        all_of_them = [o for kind in RUNTIMES for o in self.by_kind[kind]]
        own = [o for o in all_of_them
               if o["metadata"]["name"] == ref.get("name")]
        return json.loads(json.dumps(self.random.choice(
            own if own and self.random.random() < 0.5 else all_of_them)))

    def with_runtime(self, job):
        """Return a List of a runtime, which is mutated in one of four cases, and of
        the job, which then nearly always refers to it."""
        runtime = self.runtime_for(job)
        if self.random.random() < 0.25:
            self.mutate(runtime)
        ref = job.get("spec", {}).get("runtimeRef")
        name = (runtime.get("metadata") or {}).get("name")
        if isinstance(ref, dict) and self.random.random() < 0.98:
            ref["name"] = name
            ref["kind"] = runtime["kind"]
            ref.pop("apiGroup", None)
        return list_of(runtime, job)

    def mutant(self):
        kind = self.random.choice(sorted(self.by_kind))
        obj = json.loads(json.dumps(self.random.choice(self.by_kind[kind])))
        for _ in range(self.random.choice((1, 1, 1, 2, 2, 3))):
            self.mutate(obj)
        return obj


def message_kind(text):
    """Return the message without the values that differ from object to object."""
    text = re.sub(r'"[^"]*"|\'[^\']*\'|`[^`]*`', "X", text)
    text = re.sub(r"\[[^]]*\]", "[]", text)
    text = re.sub(r"-?[0-9]+", "N", text)
    return re.split(r", |: Invalid value: X: ", text[:160])[0][:90]


def answers_of(oracle, objects):
    """Return the oracle's answer about each object."""
    answers = subprocess.run(
        [oracle], input="".join(json.dumps(o) + "\n" for o in objects),
        capture_output=True, text=True, check=True).stdout.splitlines()
    if len(answers) != len(objects):
        sys.exit("%d answers for %d objects" % (len(answers), len(objects)))
    return answers


def findings_of(gpugate, folder, policy=None):
    """Return the findings by file. The policy gives versions of operators."""
    run = subprocess.run(
        [gpugate, "lint"] + (["--config", policy] if policy else
                             ["--isolated"]) + ["--preset", "all", "--show-all",
         "--format", "json", "--fail-on", "never", "--no-ignore", folder],
        capture_output=True, text=True, check=False)
    found = collections.defaultdict(list)
    for finding in json.loads(run.stdout)["findings"]:
        found[os.path.basename(finding["file"])].append(finding)
    return found


def read_differences(path, operator):
    known = {"missed": [], "false": []}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith(operator + " "):
                _, which, text = line.rstrip("\n").split(" ", 2)
                known[which].append(text)
    return known


class Tally:
    """Counts rejected objects, and the found ones among them, by message."""

    def __init__(self, name, known):
        self.name, self.known = name, known
        self.rejected = collections.Counter()
        self.caught = collections.Counter()
        self.accepted, self.undecided, self.listed = 0, 0, 0
        self.wrong, self.seen = [], {}

    def count(self, number, answer, own, here):
        """Count the answer. `own` holds the findings of the rule about
        rejections."""
        if answer.startswith(("undecodable", "failed")) or \
                " panic: " in answer:
            self.undecided += 1
            return
        if answer == "accepted":
            self.accepted += 1
            self.wrong += [(f.get("check"), f["message"], number) for f in own
                           if f["severity"] == "error" and
                           f.get("check") not in self.known["false"]]
            return
        if any(text in answer for text in self.known["missed"]):
            self.listed += 1
            return
        kind = message_kind(answer[len("rejected "):])
        self.rejected[kind] += 1
        if own or any(f["severity"] == "error" or f["rule"] in RELATED
                      for f in here):
            self.caught[kind] += 1
        else:
            self.seen.setdefault(kind, "%d.json %s" % (number, answer[:300]))

    def report(self, made):
        """Print the counts and the differences; return true if the check
        fails."""
        rejected, caught = self.rejected, self.caught
        total, good = sum(rejected.values()), sum(caught.values())
        unknown = [n for k, n in rejected.items() if caught[k] < 0.8 * n]
        print("%s: %d objects, %d not decided, %d listed, %d accepted, "
              "%d rejected, found %d (%.1f %%); messages missed: %d of %d; "
              "false errors %d" %
              (self.name, len(made), self.undecided, self.listed,
               self.accepted, total, good, 100 * good / max(total, 1),
               len(unknown), len(rejected), len(self.wrong)))
        for kind, text in sorted(self.seen.items()):
            print("missed %d of %d: %s" % (rejected[kind] - caught[kind],
                                           rejected[kind], text))
        for check, message, i in self.wrong[:20]:
            print("false: %d.json %s: %s" % (i, check, message))
        return bool(self.wrong) or total < 0.05 * len(made) or \
            self.undecided > 0.25 * len(made) or good < 0.97 * total or \
            len(unknown) > 0.2 * len(rejected) or \
            max(unknown, default=0) > max(2, len(made) // 4000)


def main():
    operator, oracle, gpugate, work, count, seed, differences = sys.argv[1:]
    rule = OPERATORS[operator][0]
    objects = read_objects(operator)
    mutator = Mutator(objects, int(seed))
    made = [o for o in objects if o["kind"] != "TrainJob" or
            operator != "trainer"] + [
                mutator.make() for _ in range(int(count))]
    os.makedirs(work, exist_ok=True)
    for i, obj in enumerate(made):
        with open(os.path.join(work, "%d.json" % i), "w",
                  encoding="utf-8") as out:
            json.dump(obj, out)
    answers = answers_of(oracle, made)
    found = findings_of(gpugate, work)
    tally = Tally(operator, read_differences(differences, operator))
    for i, answer in enumerate(answers):
        here = found["%d.json" % i]
        tally.count(i, answer, [f for f in here if f["rule"] == rule], here)
    sys.exit(tally.report(made))


if __name__ == "__main__":
    main()
