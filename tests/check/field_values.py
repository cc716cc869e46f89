# SPDX-License-Identifier: Apache-2.0
"""Compare gpugate with a real API server on words outside of an enumeration and on
missing fields.

The pods of the rules' own tests are sent as well: the server must reject the
bad ones and store the others.

usage: field_values.py GPUGATE PLANE WORK <CANDIDATES

Generates the marks of native_types.tsv again and compares them with the table.
For each mark of the Go types, an object of each kind is linted: gpugate must
report it if the server rejects all such objects, and must not if the server
accepts one."""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../oracle"))
import confirm_types  # noqa: E402
import plane  # noqa: E402
import yaml  # noqa: E402

TABLE = os.path.join(HERE, "../../rules/kube/data/native_types.tsv")
NATIVE = {"Pod", "Service", "ConfigMap", "StatefulSet", "CronJob"}
RULES = "field-value-invalid,field-missing,restart-policy-invalid"
# gpugate treats objects without these fields as patches.
PATCHES = {("PodSpec", "containers"), ("DeploymentSpec", "selector"),
           ("ReplicaSetSpec", "selector"), ("StatefulSetSpec", "selector")}


def is_about(finding, path, mark, field):
    """Return true if the finding is at the path (for example spec.taints[0].effect) or,
    if a required field is missing, at the map that lacks it."""
    words = re.sub(r"\[(\w+)\]", r".\1", path).split(".")
    if mark == "required":
        words.pop()
        if f"`{field}`" not in finding["message"]:
            return False
    here = "".join("/" + word for word in words)
    return finding["path"] == here or \
        mark == "enum" and finding["path"].startswith(here + "/")


def tried(server):
    """Yield (file, object, stored or not) for the objects of the tests, except those
    that a tool fills in first."""
    for name in ("field-value-invalid", "pod-invalid"):
        folder = os.path.join(HERE, "../rules", name)
        for file in sorted(set(os.listdir(folder)) - {"good-filled.yaml"}):
            if file.endswith(".policy.yaml"):
                continue
            with open(os.path.join(folder, file), encoding="utf-8") as text:
                for one in yaml.safe_load_all(text):
                    one["metadata"]["namespace"] = "default"
                    if one["kind"] in NATIVE and "${" not in repr(one):
                        yield file, one, server.create(one)[0] == 201


def main(gpugate, folder, work):
    lint = plane.Lint(gpugate, os.path.join(work, "objects"))
    server = plane.Plane(folder)
    kept, cases = confirm_types.confirm(sys.stdin, server)
    with open(TABLE, encoding="utf-8") as file:
        table = [line for line in file if not line.startswith("#")]
    failed = int(table != kept)
    if failed:
        print("FAIL native_types.tsv is not what the server confirms")
    for number, (_, _, one, _) in enumerate(cases):
        lint.write(str(number), one)
    ours = lint.findings("--select", RULES)
    for number, ((of, field, mark), path, _, refused) in enumerate(cases):
        said = any(is_about(f, path, mark, field)
                   for f in ours.get(str(number), []))
        if said != refused and (of, field) not in PATCHES:
            failed += 1
            print(f"FAIL {of}.{field} ({mark}) at {path}: "
                  f"gpugate {said}, server {refused}")
    count = len(cases) + 1
    for file, one, stored in tried(server):
        count += 1
        if stored != file.startswith("good"):
            failed += 1
            print(f"FAIL {file}: {one['kind']} {one['metadata']['name']}: "
                  f"stored: {stored}")
    print(f"field values: {count - failed} passed, {failed} failed")
    return failed or len(cases) < 1000


sys.exit(bool(main(*sys.argv[1:])))
