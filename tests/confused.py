# SPDX-License-Identifier: Apache-2.0
"""Objects whose values have other types, each place of each kind once.

Maps become lists, lists maps, scalars both, and everything null: what a CRD
without a schema lets through. The linter must end as if nothing had happened
and account for every document. The same of reviews at the door, which answers
each, and of saved states, which may be refused.

usage: confused.py BUILD MANIFESTS WORK [PART...]
"""
import copy
import glob
import json
import os
import subprocess
import sys

import yaml

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "webhook"))
from review import review  # noqa: E402

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
PER_FILE = 200


def documents(folder):
    for here, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            if not name.endswith((".yaml", ".yml", ".json")):
                continue
            try:
                with open(os.path.join(here, name), encoding="utf-8") as text:
                    found = list(yaml.load_all(text, Loader=LOADER))
            except (yaml.YAMLError, ValueError):
                continue  # the linter's own tests read what is not YAML
            yield from (one for one in found if isinstance(one, dict))


def places(value, path=()):
    if path:
        yield path
    if isinstance(value, dict):
        for key, child in value.items():
            yield from places(child, path + (key,))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from places(child, path + (index,))


def others(value):
    yield None
    if isinstance(value, dict):
        yield list(value.values())
        yield "text"
    elif isinstance(value, list):
        yield {"a": value[0] if value else 1}
        yield 1
    else:
        yield [value]
        yield {"name": "x", "a": {"b": [1, None]}}
    yield [[None, 1, "x", {"name": None}]]


def variants(document, seen, kind=""):
    for path in places(document):
        known = (kind,) + tuple(
            "*" if isinstance(key, int) else str(key) for key in path)
        if known in seen:
            continue
        seen.add(known)
        for value in others(lookup(document, path)):
            changed = copy.deepcopy(document)
            lookup(changed, path[:-1])[path[-1]] = value
            yield json.dumps(changed, default=str)


def confused(folder):
    seen = set()
    for document in documents(folder):
        yield from variants(document, seen, str(document.get("kind")))


def lookup(value, path):
    for key in path:
        value = value[key]
    return value


def write(folder, work):
    texts = list(confused(folder))
    for number in range(0, len(texts), PER_FILE):
        name = os.path.join(work, "%d.yaml" % (number // PER_FILE))
        with open(name, "w", encoding="utf-8") as out:
            out.write("\n---\n".join(texts[number:number + PER_FILE]) + "\n")
    return len(texts)


def check_manifests(build, folder, work):
    wanted = write(folder, work)
    for options in ([], ["--preset", "all"],
                    ["--preset", "all", "--fix", "--unsafe-fixes"]):
        ran = subprocess.run(
            [build + "/gpugate", "lint", "--isolated", "--fail-on", "never",
             "--format", "json"] + options + [work],
            capture_output=True, check=False)
        read = json.loads(ran.stdout)["summary"]["documents"] \
            if ran.returncode == 0 else -1
        yield read == wanted, "%s: status %d, %d of %d documents: %s" % (
            options, ran.returncode, read, wanted, ran.stderr.decode()[-300:])


def reviews():
    resources = {"limits": {"nvidia.com/gpu": 2, "cpu": 1}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {
        "name": "a", "namespace": "ml", "labels": {"a": "b"},
        "annotations": {
            "gpugate.dev/ignore": "shm-missing",
            "kubectl.kubernetes.io/last-applied-configuration": "{}"},
        "managedFields": [{"manager": "a", "fieldsV1": {"f:spec": {}}}],
        "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job",
                             "name": "a", "uid": "u", "controller": True}]},
        "spec": {"containers": [{"name": "a", "image": "nvidia/cuda:12",
                                 "resources": resources}]},
        "status": {"phase": "Running"}}
    for operation in ("CREATE", "UPDATE", "DELETE"):
        yield review(None if operation == "DELETE" else pod, operation,
                     None if operation == "CREATE" else pod)


def check_reviews(build, work):
    texts = [text for one in reviews() for text in variants(one, set())]
    names = []
    for number, text in enumerate(texts + ["[]", "null", "1", "{}"]):
        names.append(os.path.join(work, "%d.json" % number))
        with open(names[-1], "w", encoding="utf-8") as out:
            out.write(text)
    listed = os.path.join(work, "list")
    with open(listed, "w", encoding="utf-8") as out:
        out.write("\n".join(names) + "\n")
    for way in ("mutate", "validate"):
        ran = subprocess.run(
            [build + "/tests/tools/door", "--preset", "all", way,
             "@" + listed], capture_output=True, check=False)
        answers = len(ran.stdout.splitlines())
        yield ran.returncode == 0 and answers == len(names), \
            "%s: status %d, %d answers to %d reviews" % (
                way, ran.returncode, answers, len(names))


def check_states(build, work):
    here = os.path.dirname(os.path.abspath(__file__))
    state = os.path.join(work, "state.json")
    seen = set()
    for known in sorted(glob.glob(here + "/rules/*/*cluster.json")):
        beside = known.replace(".cluster.json", ".yaml")
        if not os.path.exists(beside):
            beside = os.path.join(os.path.dirname(known), "bad.yaml")
        with open(known, encoding="utf-8") as text:
            document = json.load(text)
        for text in variants(document, seen, beside):
            with open(state, "w", encoding="utf-8") as out:
                out.write(text)
            ran = subprocess.run(
                [build + "/gpugate", "lint", "--isolated", "--preset", "all",
                 "--fail-on", "never", "--cluster", state, beside],
                capture_output=True, check=False)
            yield ran.returncode in (0, 2), "%s: status %d: %s" % (
                known, ran.returncode, text[:2000])


def main():
    build, folder, work = sys.argv[1:4]
    passed = failed = 0
    parts = {"manifests": check_manifests(build, folder, work),
             "reviews": check_reviews(build, work),
             "states": check_states(build, work)}
    for part in sys.argv[4:] or parts:
        for good, what in parts[part]:
            passed += good
            failed += not good
            if not good:
                print("FAIL %s: %s" % (part, what))
    print("confused: %d passed, %d failed" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
