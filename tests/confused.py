# SPDX-License-Identifier: Apache-2.0
"""Objects whose values have other types, each place of each kind once.

Maps become lists, lists maps, scalars both, and everything null: what a CRD
without a schema lets through. The linter must end as if nothing had happened
and account for every document.

usage: confused.py GPUGATE MANIFESTS WORK
"""
import copy
import json
import os
import subprocess
import sys

import yaml

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


def confused(folder):
    seen = set()
    for document in documents(folder):
        for path in places(document):
            known = (str(document.get("kind")),) + tuple(
                "*" if isinstance(key, int) else str(key) for key in path)
            if known in seen:
                continue
            seen.add(known)
            for value in others(lookup(document, path)):
                changed = copy.deepcopy(document)
                lookup(changed, path[:-1])[path[-1]] = value
                yield json.dumps(changed, default=str)


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


def main():
    gpugate, folder, work = sys.argv[1:]
    wanted = write(folder, work)
    passed = failed = 0
    for options in ([], ["--preset", "all"],
                    ["--preset", "all", "--fix", "--unsafe-fixes"]):
        ran = subprocess.run(
            [gpugate, "lint", "--isolated", "--fail-on", "never", "--format",
             "json"] + options + [work], capture_output=True, check=False)
        read = json.loads(ran.stdout)["summary"]["documents"] \
            if ran.returncode == 0 else -1
        if read == wanted:
            passed += wanted
        else:
            failed += 1
            print("FAIL %s: status %d, %d of %d documents: %s" % (
                options, ran.returncode, read, wanted,
                ran.stderr.decode()[-300:]))
    print("confused: %d passed, %d failed" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
