#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check the JSON Schemas of deploy/schemas against what the programs write and read.

usage: schemas.py GPUGATE SCRATCH
"""
import json
import pathlib
import subprocess
import sys

import jsonschema
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEAD = "apiVersion: gpugate.dev/v1\nkind: Policy\n"
# Policies without HEAD; each has one error that a schema can detect.
FAULTY_POLICIES = """
nonsense: 1
---
mode: enforced
---
extends: [recomended]
---
extends: []
---
rules: [shm-missing]
---
rules: {shm-missing: fatal}
---
rules: {shm-missing: {severity: fatal}}
---
rules: {shm-missing: {act: deny}}
---
rules: {Shm Missing: error}
---
accelerators: [{name: gpu, vendor: example}]
---
accelerators: [{name: example.com/gpu}]
---
kinds: [{apiVersion: a/v1, kind: K}]
---
overrides: [{mode: warn}]
---
overrides: [{namespaces: [a]}]
---
overrides: [{namespaces: a, mode: warn}]
---
paths: [{set: a}]
---
infrastructure: {namespaces: ["a*"]}
---
infrastructure: [a]
---
platform: {gpuTaints: a, deviceInjection: cri}
---
platform: {limitRangeDefaults: 2}
---
injected: [{tolerations: {key: a}}]
---
injected: [{labels: []}]
---
controllerPods: warn
---
breakGlass: {annotation: a/b}
---
suppressions: {annotations: {namespaces: [a]}}
---
suppressions: {annotations: {rules: [shm-missing], maxDays: 0}}
---
exempt: [{rules: [all]}]
---
exempt: [{rules: [all], reason: r, until: tomorrow}]
---
locked: shm-missing
---
exclude: []
---
custom: a.yaml
---
maxAge: 0h
---
maxAge: 24
---
contact: "a\\nb"
""".strip("\n").split("\n---\n")
GOOD_POLICIES = """
{}
---
extends: strict
---
extends: [recommended@1.0]
mode: warn
---
rules: {shm-missing: off, all: {severity: error}, shm: warning}
---
rules: {shm-missing: {severity: error, action: patch, params: {size: 16Gi}}}
---
accelerators: [{name: example.com/gpu, vendor: example, class: whole}]
---
kinds:
- {apiVersion: a.example.com/v1, kind: K, pods: /spec/roles/*/template,
   replicas: /spec/roles/*/replicas}
---
overrides: [{namespaces: ["r-*"], namespaceLabels: {tier: dev}, mode: warn,
             preset: recommended, rules: {shm-missing: off}}]
---
paths: [{glob: "a/**", set: a, namespace: x, preset: strict}]
---
controllers: ["system:serviceaccount:a:b"]
breakGlass: {groups: [g], annotation: a.example.com/b}
---
suppressions: {annotations: {rules: [shm-missing], namespaces: ["t-*"],
                             requireReason: true, maxDays: 30}}
---
exempt: [{namespaces: [a], kinds: [DaemonSet], names: ["*"], rules: [all],
          reason: r, until: "2999-06-30"}]
---
locked: [shm-missing]
exclude: ["**/x/**"]
maxAge: 24h
---
infrastructure: {namespaces: []}
platform: {gpuTaints: ["nvidia.com/gpu"], gpuProducts: [], limitRangeDefaults: no, deviceInjection: volume-mounts}
injected: [{namespaces: ["a*"], tolerations: [{key: a}], schedulerName: b, labels: {a: b}}]
controllerPods: deny
contact: "#gpu"
""".strip("\n").split("\n---\n")
RULE = {"name": "site-x", "summary": "s", "assert": "true"}
FAULTY_RULES = [
    {}, {"assert": None}, {"name": "Site"}, {"severity": "fatal"},
    {"action": "off"}, {"each": "all"}, {"nonsense": 1}, {"summary": "a\nb"},
    {"match": {"kinds": ["job"]}}, {"match": {"kinds": []}},
    {"match": {"gpus": "many"}}, {"fix": []}, {"fix": [{"set": "a.b"}]},
    {"tests": [{"file": "a.yaml"}]}, {"failurePolicy": "Warn"},
]


class Check:
    def __init__(self, program, scratch):
        self.program, self.scratch = program, scratch
        self.passed = self.failed = 0
        self.schemas = {}
        for path in sorted((ROOT / "deploy" / "schemas").glob("*.json")):
            schema = json.loads(path.read_text())
            jsonschema.Draft7Validator.check_schema(schema)
            self.schemas[path.stem] = jsonschema.Draft7Validator(schema)

    def errors(self, schema, value):
        return [f"{list(e.absolute_path)}: {e.message[:200]}"
                for e in self.schemas[schema].iter_errors(value)]

    def expect(self, name, good, why=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAIL {name}: {why}")

    def valid(self, name, schema, value):
        errors = self.errors(schema, value)
        self.expect(name, not errors, "; ".join(errors[:3]))

    def run(self, *arguments, **more):
        return subprocess.run([self.program, *map(str, arguments)],
                              capture_output=True, text=True, check=False,
                              **more)

    def takes_policy(self, path):
        run = self.run("config", "--config", path)
        return run.returncode == 0, run.stderr

    def both(self, name, schema, text, path, want):
        """Check that the program and the schema agree with the expected result."""
        path.write_text(text)
        if schema == "rules":
            policy = self.scratch / "p.yaml"
            policy.write_text(HEAD + f"custom: [{path.name}]\n")
            taken, said = self.takes_policy(policy)
        else:
            taken, said = self.takes_policy(path)
        self.expect(f"{name}: the program", taken == want, said + text)
        errors = self.errors(schema, yaml.safe_load(text))
        self.expect(f"{name}: the schema", (not errors) == want,
                    f"{errors[:3]}\n{text}")


def tracked(*patterns):
    out = subprocess.run(["git", "ls-files", "-z", "--", *patterns], cwd=ROOT,
                         capture_output=True, check=True).stdout
    names = out.decode().split("\0")[:-1]
    if not names:  # an unpacked archive
        return [p for pattern in patterns for p in ROOT.glob(pattern)]
    return [ROOT / n for n in names]


def policies(c):
    for i, body in enumerate(GOOD_POLICIES):
        text = HEAD + ("" if body == "{}" else body + "\n")
        c.both(f"good policy {i}", "policy", text, c.scratch / "g.yaml", True)
    for i, body in enumerate(FAULTY_POLICIES):
        c.both(f"faulty policy {i}", "policy", HEAD + body + "\n",
               c.scratch / "f.yaml", False)
    init = c.scratch / "init"
    init.mkdir()
    c.run("init", cwd=init)
    found = [init / ".gpugate.yaml", *tracked("deploy/*.yaml", "tests/rules/*.yaml")]
    counts = {"policy": 0, "rules": 0}
    for path in found:
        text = path.read_text()
        if "gpugate.dev/v1" not in text or "{{" in text:
            continue
        for value in yaml.safe_load_all(text):
            kind = value.get("kind") if isinstance(value, dict) else None
            schema = {"Policy": "policy", "Exemptions": "policy",
                      "Rules": "rules"}.get(kind)
            if schema:
                counts[schema] += 1
                c.valid(str(path), schema, value)
    c.expect("policies of the tree", min(counts.values()) > 3, counts)


def rules(c):
    head = {"apiVersion": "gpugate.dev/v1", "kind": "Rules"}
    path = c.scratch / "r.yaml"
    good = dict(head, rules=[RULE, dict(
        RULE, name="site-y", severity="error", each="container",
        match={"kinds": ["Job", "core/Pod"], "namespaces": ["a-*"],
               "gpus": True}, why="w", remedy="r", message="'m'")])
    c.both("good rules", "rules", json.dumps(good), path, True)
    for i, fault in enumerate(FAULTY_RULES):
        rule = dict(RULE, **fault)
        if not fault:
            del rule["summary"]
        elif fault == {"assert": None}:
            del rule["assert"]
        c.both(f"faulty rules {i}", "rules",
               json.dumps(dict(head, rules=[rule])), path, False)
    c.both("no rules", "rules", json.dumps(dict(head, rules=[])), path, False)


def reports(c):
    n = 0
    for path in (ROOT / "tests" / "rules", ROOT / "deploy" / "examples"):
        for more in ([], ["--preset", "all", "--no-ignore", "--docs-url",
                          "https://docs.example.com"]):
            out = c.run("lint", "--isolated", "--format", "json", *more, path)
            report = json.loads(out.stdout)
            n += len(report["findings"]) + len(report["suppressed"])
            c.valid(f"report of {path.name}", "report", report)
    bad = c.scratch / "bad.yaml"
    bad.write_text("apiVersion: v1\nkind: [\n---\nkind: Pod\nspec: {{- x }}\n")
    c.valid("report of a mistake", "report", json.loads(
        c.run("lint", "--format", "json", bad).stdout))
    c.expect("findings", n > 1000, n)
    for change in ({"severity": "fatal"}, {"line": 0}, {"fingerprint": "x"},
                   {"rule": None}):
        wrong = dict(report, findings=[dict(report["findings"][0], **change)])
        c.expect(f"a report with {change}", c.errors("report", wrong))


def snapshots(c):
    found = tracked("tests/rules/*.cluster.json", "deploy/*.cluster.json")
    for path in found:
        c.valid(str(path), "snapshot", json.loads(path.read_text()))
    c.expect("snapshots of the tree", len(found) > 10, len(found))
    kubectl = c.scratch / "kubectl"
    kubectl.write_text("""#!/bin/sh
for last; do :; done
case $last in
*/nodes*) printf '{"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"n","labels":{"a":"b"}},"status":{"allocatable":{"nvidia.com/gpu":"8"}}}]}' ;;
*/api/v1/pods*) printf '{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"p","namespace":"ml"},"spec":{"containers":[{"name":"c","resources":{"limits":{"nvidia.com/gpu":"1"}}}]},"status":{"phase":"Running"}}]}' ;;
*/resourcequotas*) echo 'Error from server (Forbidden): no' >&2; exit 1 ;;
*) echo 'Error from server (NotFound): the server could not find the requested resource' >&2; exit 1 ;;
esac
""")
    kubectl.chmod(0o755)
    run = c.run("snapshot", "--kubectl", kubectl)
    snapshot = json.loads(run.stdout)
    c.valid("a new snapshot", "snapshot", snapshot)
    c.expect("what it holds", snapshot["items"] and snapshot["usage"] and
             snapshot["unreadable"], snapshot)
    c.expect("another version",
             c.errors("snapshot", dict(snapshot, version=2)))


def main():
    c = Check(sys.argv[1], pathlib.Path(sys.argv[2]).resolve())
    policies(c)
    rules(c)
    reports(c)
    snapshots(c)
    print(f"documents and schemas: {c.passed} as expected, {c.failed} not")
    return c.failed > 0


if __name__ == "__main__":
    sys.exit(main())
