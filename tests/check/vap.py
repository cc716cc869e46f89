#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run the cases of a suite of ValidatingAdmissionPolicies.

usage: vap.py GPUGATE SUITE WORK

A case is an object of SUITE/test-resources with some fields changed
("spec.containers.[0].image=x", the value is JSON or a text), and the API
server's answer under the case's policy and its binding. Prints each case with
another result in gpugate, and the numbers of cases.
"""
import copy
import json
import os
import subprocess
import sys

import yaml


def step(node, key):
    """Return the child, which is created if it is missing."""
    if key.startswith("["):
        index = int(key[1:-1])
        while len(node) <= index:
            node.append({})
        return node[index]
    return node.setdefault(key, {})


def change(root, path, value):
    keys = path.split(".")
    node = root
    for i, key in enumerate(keys[:-1]):
        child = step(node, key)
        if keys[i + 1].startswith("[") and not isinstance(child, list):
            child = []
            node[key] = child
        node = child
    last = keys[-1]
    if last.startswith("["):
        index = int(last[1:-1])
        while len(node) <= index:
            node.append(None)
        node[index] = value
    else:
        node[last] = value


def value_of(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def load_all(path):
    with open(path, encoding="utf-8") as file:
        return list(yaml.load_all(file, getattr(yaml, "CSafeLoader",
                                                yaml.SafeLoader)))


def load(path):
    return load_all(path)[0]


def dump(path, *documents):
    with open(path, "w", encoding="utf-8") as file:
        yaml.dump_all(documents, file, sort_keys=False, Dumper=getattr(
            yaml, "CSafeDumper", yaml.SafeDumper))


class Suite:
    def __init__(self, gpugate, folder, work):
        self.gpugate, self.folder, self.work = gpugate, folder, work
        self.passed = self.failed = 0
        self.resources = {}

    def resource(self, name):
        if name not in self.resources:
            self.resources[name] = load(
                os.path.join(self.folder, "test-resources", name))
        return copy.deepcopy(self.resources[name])

    def policies(self, policy, case):
        """Return the files that --admission-policy gets."""
        binding = self.resource(case.get("binding_template",
                                         "policy-binding.yaml"))
        binding["metadata"]["name"] = "bound"
        binding["spec"]["policyName"] = policy["metadata"]["name"]
        documents = [policy, binding]
        if "paramKind" in policy["spec"]:
            parameters = self.resource(case.get(
                "param_template", "default-control-configuration.yaml"))
            parameters["metadata"]["name"] = "parameters"
            binding["spec"]["paramRef"]["name"] = "parameters"
            documents.append(parameters)
        else:
            del binding["spec"]["paramRef"]
        definition = load(os.path.join(
            self.folder, "configuration",
            "policy-configuration-definition.yaml"))
        path = os.path.join(self.work, "policies.yaml")
        dump(path, definition, *documents)
        return path

    def object(self, case):
        root = self.resource(case["template"])
        for text in case.get("field_change_list", []):
            path, _, value = text.partition("=")
            change(root, path, value_of(value))
        path = os.path.join(self.work, "object.yaml")
        dump(path, root)
        return path

    def verdict(self, policies, path):
        run = subprocess.run(
            [self.gpugate, "lint", "--isolated", "--select",
             "admission-policy", "-n", "default", "--format", "json",
             "--admission-policy", policies, path],
            capture_output=True, check=False, text=True)
        if run.returncode > 1 or run.returncode < 0:
            return f"status {run.returncode}: {run.stderr.strip()}", ""
        report = json.loads(run.stdout)
        severities = {f["severity"] for f in report["findings"]
                      if f["rule"] == "admission-policy"}
        why = [r["reason"] for r in report["summary"]["rulesNotRun"]
               if r["rule"] == "admission-policy"]
        if "error" in severities:
            return "fail", why
        return "warn" if "warning" in severities else "pass", why

    def control(self, name):
        folder = os.path.join(self.folder, "controls", name)
        policy = load(os.path.join(folder, "policy.yaml"))
        with open(os.path.join(folder, "tests.json"),
                  encoding="utf-8") as file:
            cases = json.load(file)
        for case in cases:
            policies, path = self.policies(policy, case), self.object(case)
            got, why = self.verdict(policies, path)
            if got == case["expected"]:
                self.passed += 1
                continue
            self.failed += 1
            print(f"{name}: {case['name']}: {got} {why}, "
                  f"not {case['expected']}")
            if os.environ.get("KEEP"):
                for file in (policies, path):
                    with open(file, encoding="utf-8") as text:
                        print(text.read())
                sys.exit(1)

    def run(self):
        names = sorted(os.listdir(os.path.join(self.folder, "controls")))
        for name in names:
            if not os.environ.get("ONLY") or name == os.environ["ONLY"]:
                self.control(name)
        print(f"vap: {self.passed} passed, {self.failed} failed")
        return self.failed or not self.passed


if __name__ == "__main__":
    sys.exit(Suite(*sys.argv[1:4]).run() and 1)
