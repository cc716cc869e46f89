# SPDX-License-Identifier: Apache-2.0
"""Run the suite of vap.py on a real API server: load all its policies and send
each object of its cases as a dry-run create.

usage: vap_server.py GPUGATE SUITE PLANE WORK

The label by which the suite's bindings select objects also selects the policies
to load: first one policy with the case's own binding, which denies, then the
policies of each group, whose bindings warn, so that every failing validation is
reported. gpugate gets the same policies, bindings and objects. Prints
differences, and the reasons for objects that the server itself rejects."""
import collections
import copy
import json
import os
import sys

import plane
import vap

LABEL = "admission-policy-test"
GROUPS = 8  # the server cuts warnings off at 4,096 characters in all


class Suite(vap.Suite):
    def __init__(self, gpugate, folder, server, work):
        super().__init__(gpugate, folder, work)
        self.server = plane.Plane(server)
        self.lint = plane.Lint(gpugate, os.path.join(work, "objects"))
        self.documents, self.asked = {}, []

    def add(self, one):
        self.documents[one["kind"], one["metadata"]["name"]] = one

    def parameters(self, template):
        one = self.resource(template)
        one["metadata"]["name"] = template.removesuffix(".yaml")
        self.add(one)
        return one["metadata"]["name"]

    def bind(self, policy, label, case, actions=None):
        """Create a binding for objects that have the label."""
        binding = self.resource(case.get("binding_template",
                                         "policy-binding.yaml"))
        name = policy["metadata"]["name"]
        spec = binding["spec"]
        binding["metadata"]["name"] = f"{name}.{label}".lower()
        spec["policyName"] = name
        spec["matchResources"]["objectSelector"]["matchLabels"] = {
            LABEL: label}
        if actions:
            spec["validationActions"] = actions
        if "paramKind" in policy["spec"]:
            spec["paramRef"]["name"] = self.parameters(case.get(
                "param_template", "default-control-configuration.yaml"))
        else:
            del spec["paramRef"]
        self.add(binding)

    def ask(self, name, case, one, label):
        one = copy.deepcopy(one)
        labels = one["metadata"].get("labels", {})
        if labels.get(LABEL) == "abc":
            labels[LABEL] = label
        file = f"{name}.{label}".lower()
        self.lint.write(file, one)
        self.asked.append((file, label, case, one))

    def load(self):
        """Write the objects, and load the policies that check them."""
        names = sorted(os.listdir(os.path.join(self.folder, "controls")))
        for number, name in enumerate(names):
            folder = os.path.join(self.folder, "controls", name)
            policy = vap.load(os.path.join(folder, "policy.yaml"))
            self.add(policy)
            self.bind(policy, f"group-{number % GROUPS}", {}, ["Warn"])
            with open(os.path.join(folder, "tests.json"),
                      encoding="utf-8") as file:
                cases = json.load(file)
            for i, case in enumerate(cases):
                label = "-".join([name] + [
                    case[k].split("-")[0 if k[0] == "p" else 2][:5]
                    for k in ("binding_template", "param_template")
                    if k in case]).removesuffix(".")
                self.bind(policy, label, case)
                self.case(f"{name}-{i}", case, label)
        definition = vap.load(os.path.join(
            self.folder, "configuration",
            "policy-configuration-definition.yaml"))
        documents = list(self.documents.values())
        vap.dump(os.path.join(self.work, "policies.yaml"), definition,
                 *documents)
        self.server.namespaces(a[3] for a in self.asked)
        self.server.define(definition)
        self.server.create_all([d for d in documents
                                if d["kind"] == "ControlConfiguration"])
        self.server.policies(documents, (
            "kubescape.io/v1", "ControlConfiguration",
            "default-control-configuration"))

    def case(self, name, case, label):
        one = self.resource(case["template"])
        for text in case.get("field_change_list", []):
            path, _, value = text.partition("=")
            vap.change(one, path, vap.value_of(value))
        for where in [label] + [f"group-{i}" for i in range(GROUPS)]:
            self.ask(name, case, one, where)

    def judge(self, answer, found, label, case):
        """Return the difference, or an empty text."""
        status, value, warnings = answer
        ours = plane.of_policies(found)
        theirs = plane.failures(warnings)
        if label.startswith("group"):
            return "" if ours == theirs else "not the same:\n" + \
                plane.spread(ours ^ theirs)
        first = value.get("message", "").partition("denied request: ")[2]
        verdict = "fail" if first else "warn" if theirs else "pass"
        if verdict != case["expected"]:
            return f"the server: {verdict}, not {case['expected']}"
        if first:
            theirs = {f for f in ours if f[2] == plane.line(first)}
        mine = "pass" if not ours else "warn" if {
            f["severity"] for f in found} == {"warning"} else "fail"
        same = mine == verdict and bool(theirs) == bool(ours)
        return "" if same else f"{mine}, not {verdict}: {first}\n" + \
            plane.spread(ours)

    def run(self):
        self.load()
        found = self.lint.findings(
            "--isolated", "--select", "admission-policy",
            "--admission-policy", os.path.join(self.work, "policies.yaml"))
        answers = plane.each(lambda a: self.server.create(a[3]), self.asked)
        refused, counts = {}, collections.Counter()
        for (file, label, case, one), answer in zip(self.asked, answers):
            message = answer[1].get("message", "")
            if answer[0] != 201 and plane.POLICY not in message:
                refused.setdefault(message, []).append(file)
                continue
            wrong = self.judge(answer, found.get(file, []), label, case)
            if wrong:
                print(f"{file}: {case['name']}: {wrong}")
            group = label.startswith("group")
            counts[group, bool(wrong)] += 1
            counts["failures"] += group and len(plane.failures(answer[2]))
        for message, files in sorted(refused.items()):
            print(f"not asked, {len(files)} x: {files[0]}: {message[:300]}")
        asked = counts[False, False] + counts[False, True]
        print(f"{asked} cases under their policies; {counts['failures']} "
              f"validations of all policies failed")
        bad = counts[False, True] + counts[True, True]
        print(f"vap-server: {counts[False, False] + counts[True, False]} "
              f"passed, {bad} failed")
        return bad or asked < 501


if __name__ == "__main__":
    sys.exit(Suite(*sys.argv[1:5]).run() and 1)
