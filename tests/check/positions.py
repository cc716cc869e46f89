#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that a finding about an admission policy marks the value that decides: in
each failing case of the suite that vap.py reads, another value at the marked
position, or the key that is missing there, makes that validation true.

usage: positions.py GPUGATE SUITE WORK

Each validation is a separate policy, and so is its negation: a validation became
true if it no longer fails and its negation does. The values tried are those that
the expression and the parameters name, some of each type, and no value. Prints
each position at which none of them helps: two in the suite, where a second
container fails as well.
"""
import copy
import json
import os
import re
import subprocess
import sys

import vap

LEAST = 0.98
MEMBER = re.compile(r"\b[A-Za-z_]\w*((?:\??\.[A-Za-z_]\w*)+)(?!\w*\()")
TEXT = re.compile(r"'([^']*)'|\"([^\"]*)\"")
NUMBER = re.compile(r"\b\d+\b")
KINDS = {"Pod": "v1", "Deployment": "apps/v1", "Job": "batch/v1",
         "CronJob": "batch/v1", "ConfigMap": "v1", "ServiceAccount": "v1",
         "Service": "v1", "Namespace": "v1",
         "Role": "rbac.authorization.k8s.io/v1"}
EQUAL = re.compile(r"((?:\.[A-Za-z_]\w*)+)\s*==\s*"
                   r"('[^']*'|\"[^\"]*\"|true|false|\d+)")
ANY = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"],
       "resources": ["*"]}


def scalars(node):
    if isinstance(node, dict):
        node = list(node.values())
    if isinstance(node, list):
        return [s for item in node for s in scalars(item)]
    return [] if node is None else [node]


def values(expression, parameters):
    """Return other values of the field, the likeliest first."""
    named = [a or b for a, b in TEXT.findall(expression)]
    named += [int(n) for n in NUMBER.findall(expression)]
    named += scalars(parameters)
    out = []
    for value in [True, False, *named, "", "x", "default", "RuntimeDefault",
                  "example.com/a/b:1.2", "200m", "200Mi", 0, 1, 1001, 65535]:
        if not any(value is v or (type(value) is type(v) and value == v)
                   for v in out):
            out.append(value)
    return out


def chains(expression):
    """Return the keys of each read `.a.b.c`, and of its tails `.b.c` and `.c`,
    the longest first."""
    out = []
    for match in MEMBER.finditer(expression):
        keys = re.split(r"\??\.", match[1])[1:]
        for i in range(len(keys)):
            if keys[i:] not in out:
                out.append(keys[i:])
    return sorted(out, key=len, reverse=True)


def asked(expression):
    """Return a dict from the last key of each read to the constant that it is
    compared with."""
    return {path.rsplit(".", 1)[1]:
            vap.value_of(text.strip("'\"") if text[0] in "'\"" else text)
            for path, text in EQUAL.findall(expression)}


def graft(node, keys, value):
    """Return a copy of the node with the value at the keys; None if there is
    one already, or its parent is not a map."""
    root = node = copy.deepcopy(node)
    for key in keys[:-1]:
        if not isinstance(node, dict):
            return None
        node = node.setdefault(key, {})
    if not isinstance(node, dict) or keys[-1] in node:
        return None
    node[keys[-1]] = value
    return root


def grafts(node, expression, wanted):
    """Yield copies of the object with the keys that one part of the expression
    reads, or all parts."""
    paths, equal = chains(expression), asked(expression)
    for value in wanted:
        every = full(node, paths, equal, value)
        yield every
        for shape in (value, [value], [full({}, paths, equal, value)], {}):
            for keys in paths:
                one = graft(node, keys, shape)
                if one is not None:
                    yield one
        if isinstance(value, str):
            yield {**node, value: "x"}


def full(node, paths, equal, value):
    for keys in paths:
        more = graft(node, keys, equal.get(keys[-1], value))
        node = node if more is None else more
    return node


def replacements(node, expression, wanted):
    """Yield other values of the node."""
    yield from wanted
    if isinstance(node, str):
        yield from (node + "x", node.lower(), node.upper(), node.strip("/"))
    if isinstance(node, list):
        yield []
        yield from ([v] for v in wanted)
        paths, equal = chains(expression), asked(expression)
        yield from (node + [full({}, paths, equal, v)] for v in wanted)
        for i in range(len(node)):
            yield node[:i] + node[i + 1:]
    if isinstance(node, dict):
        yield {}
        for key in node:
            yield {k: v for k, v in node.items() if k != key}
        yield from grafts(node, expression, wanted)


def at(root, keys):
    for key in keys:
        root = root[int(key)] if isinstance(root, list) else root[key]
    return root


def put(root, keys, value=None, remove=False):
    if not keys:
        return value
    root = copy.deepcopy(root)
    parent = at(root, keys[:-1])
    last = int(keys[-1]) if isinstance(parent, list) else keys[-1]
    if remove:
        del parent[last]
    else:
        parent[last] = value
    return root


def changed(root, pointer, expression, parameters):
    """Yield the object with other values at the pointer, each once."""
    keys = [k.replace("~1", "/").replace("~0", "~")
            for k in pointer.split("/")[1:]]
    seen = set()
    if keys == ["kind"]:
        for kind, version in KINDS.items():
            yield {**root, "apiVersion": version, "kind": kind}
        return
    if len(keys) > 1:
        yield put(root, keys, remove=True)
    for value in replacements(at(root, keys), expression,
                              values(expression, parameters)):
        text = json.dumps(value)
        if text not in seen:
            seen.add(text)
            yield put(root, keys, value)


class Positions(vap.Suite):
    def __init__(self, *args):
        super().__init__(*args)
        self.turned = self.stuck = 0

    def split(self, path):
        """Return the policy's validations and their negations, each a policy."""
        documents = vap.load_all(path)
        policy = next(d for d in documents
                      if d["kind"] == "ValidatingAdmissionPolicy")
        binding = next(d for d in documents
                       if d["kind"] == "ValidatingAdmissionPolicyBinding")
        rest = [d for d in documents if d is not policy and d is not binding]
        out = list(rest)
        expressions = [v["expression"]
                       for v in policy["spec"]["validations"]]
        for i, text in enumerate(expressions):
            for name, expression in ((f"is-{i}", text),
                                     (f"not-{i}", f"!({text.strip()}\n)")):
                one, bound = copy.deepcopy(policy), copy.deepcopy(binding)
                one["metadata"] = {"name": name}
                one["spec"]["validations"] = [{"expression": expression,
                                               "message": name}]
                one["spec"].pop("auditAnnotations", None)
                # The kind itself may be the changed value.
                one["spec"]["matchConstraints"] = {"resourceRules": [ANY]}
                bound["metadata"]["name"] = name
                bound["spec"]["policyName"] = name
                bound["spec"]["validationActions"] = ["Deny"]
                out += [one, bound]
        variables = " ".join(v["expression"] for v in
                             policy["spec"].get("variables", []))
        vap.dump(path, *out)
        parameters = next((d for d in rest if d["metadata"]["name"] ==
                           "parameters"), {})
        return [f"{e} {variables}" for e in expressions], parameters

    def findings(self, policies, objects):
        path = os.path.join(self.work, "objects.yaml")
        with open(path, "w", encoding="utf-8") as file:
            for root in objects:
                print("---", json.dumps(root), sep="\n", file=file)
        run = subprocess.run(
            [self.gpugate, "lint", "--isolated", "--select",
             "admission-policy", "-n", "default", "--format", "json",
             "--admission-policy", policies, path],
            capture_output=True, check=False, text=True)
        if run.returncode not in (0, 1):
            raise SystemExit(f"status {run.returncode}: {run.stderr}")
        return [f for f in json.loads(run.stdout)["findings"]
                if f["rule"] == "admission-policy"]

    def turns(self, policies, root, finding, expression, parameters):
        number = finding["policy"].removeprefix("is-")
        objects = list(changed(root, finding.get("path", ""), expression,
                               parameters))
        found = {(f["document"], f["policy"])
                 for f in self.findings(policies, objects)}
        return any((i, f"not-{number}") in found and
                   (i, f"is-{number}") not in found
                   for i in range(1, len(objects) + 1))

    def case(self, name, policy, case):
        policies = self.policies(policy, case)
        root = vap.load(self.object(case))
        expressions, parameters = self.split(policies)
        for finding in self.findings(policies, [root]):
            number = finding["policy"].removeprefix("is-")
            if not number.isdigit():
                continue
            if self.turns(policies, root, finding, expressions[int(number)],
                          parameters):
                self.turned += 1
                continue
            self.stuck += 1
            print(f"{name}: {case['name']}: validation {number}: nothing "
                  f"at {finding.get('path')} helps")

    def run(self):
        controls = os.path.join(self.folder, "controls")
        for name in sorted(os.listdir(controls)):
            if os.environ.get("ONLY") not in (None, name):
                continue
            folder = os.path.join(controls, name)
            policy = vap.load(os.path.join(folder, "policy.yaml"))
            with open(os.path.join(folder, "tests.json"),
                      encoding="utf-8") as file:
                cases = json.load(file)
            for case in cases:
                if case["expected"] != "pass":
                    self.case(name, copy.deepcopy(policy), case)
        share = self.turned / max(1, self.turned + self.stuck)
        print(f"at the position another value decides: {self.turned} of "
              f"{self.turned + self.stuck} ({share:.1%})")
        return share >= LEAST


if __name__ == "__main__":
    sys.exit(not Positions(*sys.argv[1:4]).run())
