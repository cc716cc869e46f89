#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that unrelated edits do not reopen findings of a baseline, and that
new defects are reported as new.

Objects with GPUs become files, and all their findings a baseline. Then, by
seed, keys, labels, variables and containers are added where no finding is
about them, keys change their order, and defects are planted.

usage: baseline.py BUILD FOLDER WORK [NUMBER [SEED]]
"""
import copy
import json
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "webhook"))
from random_objects import documents, places, pods, shuffle  # noqa: E402

BUILT_IN = {"Pod", "Deployment", "Job", "StatefulSet", "ReplicaSet"}


def metas(obj):
    for path in places(obj):
        if path[-1] == "metadata":
            holder = obj
            for key in path:
                holder = holder[key]
            if isinstance(holder, dict):
                yield holder


def boxes(obj):
    return [box for pod in pods(obj) for box in pod["containers"]
            if isinstance(box, dict)]


# --- edits that change nothing ------------------------------------------------

def label(obj, dice):
    meta = dice.choice(list(metas(obj)) or [{}])
    if isinstance(meta.setdefault("labels", {}), dict):
        meta["labels"]["team"] = "a%d" % dice.randrange(9)


def annotation(obj, dice):
    meta = dice.choice(list(metas(obj)) or [{}])
    if isinstance(meta.setdefault("annotations", {}), dict):
        meta["annotations"]["example.com/note"] = "x"


def variable(obj, dice):
    box = dice.choice(boxes(obj))
    if isinstance(box.setdefault("env", []), list):
        box["env"].insert(0, {"name": "UNRELATED", "value": "1"})


def empty(obj, dice):
    """Add an empty `securityContext`, or `resources` with empty limits."""
    box = dice.choice(boxes(obj))
    name = dice.choice(["resources", "securityContext"])
    if isinstance(box.setdefault(name, {}), dict) and name == "resources":
        box[name].setdefault("limits", {})


def tolerate(obj, dice):
    pod = dice.choice(list(pods(obj)))
    if isinstance(pod.setdefault("tolerations", []), list):
        pod["tolerations"].append({"key": "unrelated", "operator": "Exists"})


def field(obj, dice):
    pod = dice.choice(list(pods(obj)))
    pod.setdefault(*dice.choice([("automountServiceAccountToken", False),
                                 ("enableServiceLinks", False),
                                 ("nodeSelector", {}), ("affinity", {})]))


def volume(obj, dice):
    pod = dice.choice(list(pods(obj)))
    if isinstance(pod.setdefault("volumes", []), list):
        name = f"unrelated-{len(pod['volumes'])}"
        pod["volumes"].insert(0, {"name": name, "configMap": {"name": "c"}})


EDITS = [label, annotation, variable, empty, tolerate, field, volume]


# --- defects ------------------------------------------------------------------

def container(**fields):
    def plant(obj, dice):
        pod = dice.choice(list(pods(obj)))
        pod["containers"].append({"name": "planted", "image": "a:1",
                                  **copy.deepcopy(fields)})
    return plant


def spec(key, value):
    def plant(obj, dice):
        dice.choice(list(pods(obj)))[key] = value
    return plant


DEFECTS = {
    "gpu-fractional-quantity": container(resources={"limits": {
        "nvidia.com/gpu": "0.5"}}),
    "gpu-resource-name-unknown": container(resources={"limits": {
        "nvidia.com/gpus": 1}}),
    "shm-mount-invalid": container(volumeMounts=[{
        "name": "not-there", "mountPath": "/dev/shm"}]),
    "restart-policy-invalid": spec("restartPolicy", "Maybe"),
    "priority-integer-set": spec("priority", 5),
}


# --- both ---------------------------------------------------------------------

def lint(build, *words):
    done = subprocess.run([str(build / "gpugate"), "lint", "--isolated",
                           "--fail-on", "never", "--no-ignore-vcs", *words],
                          capture_output=True, check=False)
    if done.returncode:
        sys.exit("FAILED %s: %s" % (words, done.stderr.decode()[-500:]))
    return done.stdout


def rules(build, path, *words):
    report = json.loads(lint(build, "--show-all", "--format", "json", *words, str(path)))
    return sorted({f["rule"] for f in report["findings"]})


def main():
    build, folder, work = (pathlib.Path(p).resolve() for p in sys.argv[1:4])
    number = int(sys.argv[4]) if len(sys.argv) > 4 else 200
    seed = int(sys.argv[5]) if len(sys.argv) > 5 else 1
    dice = random.Random(seed)
    origin = [o for o in documents(build, folder)
              if any(boxes(o)) and "/gpu" in json.dumps(o)]
    native = [o for o in origin if o["kind"] in BUILT_IN
              and len(list(pods(o))) == 1]
    path, baseline = work / "object.json", work / "baseline.json"
    passed, failed, known, unseen = 0, [], 0, 0
    for i in range(2 * number):
        rule, obj = None, copy.deepcopy(dice.choice(origin))
        if i >= number:
            rule, obj = dice.choice(list(DEFECTS)), \
                copy.deepcopy(dice.choice(native))
        path.write_text(json.dumps(obj))
        lint(build, "-q", "--write-baseline", str(baseline), str(path))
        known += json.loads(baseline.read_text())["findings"] != []
        done = []
        for _ in range(dice.randrange(1, 4)):
            edit = dice.choice(EDITS)
            edit(obj, dice)
            done.append(edit.__name__)
        if dice.random() < .3:
            obj = shuffle(obj, dice)
        if rule:
            DEFECTS[rule](obj, dice)
        path.write_text(json.dumps(obj))
        if rule and rule not in rules(build, path):
            unseen += 1  # a fragment, or a placeholder hides it
            continue
        new = rules(build, path, "--baseline", str(baseline))
        if (rule in new) if rule else not new:
            passed += 1
        else:
            failed.append("seed %d, %d: %s after %s: %s" % (
                seed, i, obj["kind"], done + [rule], new))
    for text in failed[:20]:
        print("FAILED", text)
    print("%d of %d baselines list findings; %d defects are not seen at all"
          % (known, 2 * number, unseen))
    print("baseline: %d passed, %d failed" % (passed, len(failed)))
    return 1 if failed or known < number or unseen > number / 10 else 0


if __name__ == "__main__":
    sys.exit(main())
