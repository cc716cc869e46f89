# SPDX-License-Identifier: Apache-2.0
"""Check that values of a wrong type, which a CRD without a schema admits, crash
neither program.

manifests  each place of each kind of the corpus once: maps become lists, lists
           maps, scalars both, and everything null
several    real objects with one to four such values at once, at random
reviews    the same for admission reviews; the webhook answers each
states     the same for saved cluster states, which may be refused

The linter ends normally and accounts for every document.

usage: wrong_types.py BUILD CORPUS WORK [PART...]
"""
import copy
import glob
import json
import os
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "webhook"))
from review import review  # noqa: E402

PER_FILE = 200
SEVERAL = 3000
ODD = [None, True, 0, -1, 9223372036854775807, 1e300, "", "1Zi", "${X}", [],
       {}, [[]], [None], {"": None}, ["a"], {"name": ["x"]}, "9" * 400,
       [{"name": "x"}, {"name": "x"}], "\x00", "-9223372036854775808"]


def documents(build, corpus):
    """Return the values of the corpus' documents, as our own reader reads them."""
    files = sorted(str(path) for path in pathlib.Path(corpus).rglob("*")
                   if path.suffix in (".yaml", ".yml", ".json"))
    found = []
    for start in range(0, len(files), PER_FILE):
        run = subprocess.run(
            [build + "/tests/tools/doc_dump", *files[start:start + PER_FILE]],
            capture_output=True, text=True, errors="replace", check=False)
        found += [json.loads(line) for line in run.stdout.splitlines()
                  if line.startswith("{")]
    assert found, "no documents"
    return found


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


def wrong_types(build, corpus):
    seen = set()
    for document in documents(build, corpus):
        yield from variants(document, seen, str(document.get("kind")))


def wrong_types_at_random(build, corpus):
    pick = random.Random(int(os.environ.get("SEED", "1")))
    known = documents(build, corpus)
    for _ in range(SEVERAL):
        changed = copy.deepcopy(pick.choice(known))
        for _ in range(pick.randint(1, 4)):
            path = pick.choice([(), *places(changed)])
            value = copy.deepcopy(pick.choice(ODD))
            if path:
                lookup(changed, path[:-1])[path[-1]] = value
            elif isinstance(value, (dict, list)):
                changed = value
        yield json.dumps(changed, ensure_ascii=False)


def lookup(value, path):
    for key in path:
        value = value[key]
    return value


def write(texts, work):
    """Write many documents per file, so that they are read as YAML."""
    for number in range(0, len(texts), PER_FILE):
        name = os.path.join(work, "%d.yaml" % (number // PER_FILE))
        with open(name, "w", encoding="utf-8") as out:
            out.write("\n---\n".join(texts[number:number + PER_FILE]) + "\n")


def write_each(texts, work):
    """Write one document per file, so that it is read as JSON."""
    for number, text in enumerate(texts):
        name = os.path.join(work, "%d.json" % number)
        with open(name, "w", encoding="utf-8") as out:
            out.write(text)


def check_manifests(build, texts, work, put):
    os.mkdir(work)
    put(texts, work)
    for options in ([], ["--preset", "all"],
                    ["--preset", "all", "--fix", "--unsafe-fixes"]):
        ran = subprocess.run(
            [build + "/gpugate", "lint", "--isolated", "--fail-on", "never",
             "--show-all", "--format", "json"] + options + [work],
            capture_output=True, check=False)
        # Documents that lack apiVersion or kind count as notKubernetes.
        read = -1
        if ran.returncode == 0:
            summary = json.loads(ran.stdout)["summary"]
            read = summary["documents"] + summary["notKubernetes"]
        yield read == len(texts), "%s: status %d, %d of %d documents: %s" % (
            options, ran.returncode, read, len(texts),
            ran.stderr.decode()[-300:])


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
            [build + "/tests/tools/admission", "--preset", "all", way,
             "@" + listed], capture_output=True, check=False)
        answers = len(ran.stdout.splitlines())
        yield ran.returncode == 0 and answers == len(names), \
            "%s: status %d, %d answers to %d reviews" % (
                way, ran.returncode, answers, len(names))


def check_states(build, work):
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
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


def results(part, build, corpus, work):
    folder = os.path.join(work, part)
    if part == "manifests":
        return check_manifests(build, list(wrong_types(build, corpus)), folder,
                               write)
    if part == "several":
        return check_manifests(
            build, list(wrong_types_at_random(build, corpus)), folder, write_each)
    if part == "reviews":
        return check_reviews(build, work)
    if part == "states":
        return check_states(build, work)
    raise ValueError(part)


def main():
    build, corpus, work = sys.argv[1:4]
    passed = failed = 0
    for part in sys.argv[4:] or ("manifests", "several", "reviews", "states"):
        for good, what in results(part, build, corpus, work):
            passed += good
            failed += not good
            if not good:
                print("FAIL %s: %s" % (part, what))
    print("wrong-types: %d passed, %d failed" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
