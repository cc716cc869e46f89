# SPDX-License-Identifier: Apache-2.0
"""Check that a real API server rejects what rules report as an error.

usage: receipts.py GPUGATE PLANE RULES LIST [RULE...]

LIST has a line for each rule, or RULE/CHECK, that claims this. Its cells, with
tabs between them, are the name, a regular expression for the server's message,
and the documents that the server accepts nevertheless, with the reason, as
"FILE:DOCUMENT reason; ...". Each other
document of the fixtures in which the rule reports an error must be rejected with
such a message, itself or as the pod that a controller would create from it. The
fixed documents must not get such a message, and the server must accept some
document in which the rule reports nothing. The other objects of a file (limit
ranges, classes) are created first. `explain` cites the server for these rules.
"""
import glob
import json
import os
import re
import subprocess
import sys

import yaml

import plane

IN_FORCE = ("ResourceQuota", "LimitRange", "PriorityClass", "RuntimeClass")


class Loader(yaml.SafeLoader):
    """Keeps times as text, as the API server's decoder does."""


Loader.yaml_implicit_resolvers = {
    k: [r for r in v if r[0] != "tag:yaml.org,2002:timestamp"]
    for k, v in yaml.SafeLoader.yaml_implicit_resolvers.items()}


def errors(gpugate, rule, path):
    """Return the documents with errors of the rule, and those with any finding."""
    rule, _, check = rule.partition("/")
    policies = [path[:-5] + ".policy.yaml",
                os.path.join(os.path.dirname(path), "policy.yaml")]
    policy = [p for p in policies if os.path.exists(p)]
    states = [p.replace("policy.yaml", "cluster.json") for p in policies]
    state = [p for p in states if os.path.exists(p)]
    run = subprocess.run(
        [gpugate, "lint", "--select", rule, "--format", "json", "--show-all",
         "--fail-on", "never",
         *(["--config", policy[0]] if policy else ["--isolated"]),
         *(["--cluster", state[0]] if state else []), path],
        capture_output=True, text=True, check=False)
    found = [f for f in json.loads(run.stdout)["findings"]
             if f["rule"] == rule and check in ("", f.get("check"))]
    return ({f["document"] for f in found if f["severity"] == "error"},
            {f["document"] for f in found})


def pods(value):
    """Yield the pods of all templates below a value."""
    if isinstance(value, list):
        for one in value:
            yield from pods(one)
    if not isinstance(value, dict):
        return
    for key, one in value.items():
        spec = one.get("spec") if isinstance(one, dict) else None
        if key == "template" and isinstance(spec, dict) and "containers" in spec:
            meta = one.get("metadata") or {}
            yield {"apiVersion": "v1", "kind": "Pod",
                   "metadata": {**meta, "generateName": "p-"}, "spec": spec}
        else:
            yield from pods(one)


class File:
    """The documents of a fixture, in a separate namespace."""

    def __init__(self, server, path, namespace):
        self.server, self.namespace = server, namespace
        with open(path, encoding="utf-8") as file:
            self.documents = list(yaml.load_all(file, Loader))
        self.made = []

    def known(self, one):
        return isinstance(one, dict) and isinstance(one.get("kind"), str) and \
            isinstance(one.get("apiVersion"), str) and \
            (one["kind"] == "List" or isinstance(one.get("metadata"), dict))

    def path(self, one):
        found = self.server.resource(one)
        if found is None:
            return None
        inside = f"/namespaces/{self.namespace}" if found[1] else ""
        return plane.base(one["apiVersion"]) + f"{inside}/{found[0]}"

    def post(self, one, dry=True):
        """Return the server's message, if it rejects the object, or None."""
        meta = dict(one["metadata"])
        if self.server.resource(one) is None:
            return f"no matches for kind {one['kind']}"
        if "namespace" in meta:
            meta["namespace"] = self.namespace
        status, answer, _ = self.server.request(
            "POST", self.path(one) + "?fieldValidation=Strict" +
            ("&dryRun=All" if dry else ""), {**one, "metadata": meta})
        return None if status < 300 else str(answer.get("message"))

    def __enter__(self):
        self.server.request("POST", "/api/v1/namespaces", {
            "apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": self.namespace}})
        for one in self.documents:
            if self.known(one) and one["kind"] in IN_FORCE and \
                    not self.post(one, dry=False):
                self.made.append(
                    f"{self.path(one)}/{one['metadata']['name']}")
        return self

    def __exit__(self, *_):
        for path in self.made:
            self.server.request("DELETE", path)

    def messages(self, one):
        """Return the rejections of the document, or of a List's items, and of their
        pods."""
        objects = one.get("items", [one]) if one["kind"] == "List" else [one]
        all_of = objects + [pod for o in objects if o["kind"] != "Pod"
                            for pod in pods(o)]
        return [m for m in map(self.post, all_of) if m]


def check_file(server, gpugate, rule, path, namespace):
    """Return [(document, is an error, rejections)]; a document without a kind is only
    sent if the rule reports an error in it."""
    bad, any_finding = errors(gpugate, rule, path)
    with File(server, path, namespace) as file:
        return [(i, i in bad, file.messages(one) if file.known(one) else [])
                for i, one in enumerate(file.documents, 1)
                if i in bad or (file.known(one) and i not in any_finding)]


def check_rule(server, gpugate, folder, rule, want, unseen, namespace):
    """Print a line and the documents that differ; return true if none does."""
    rejected = accepted = 0
    wrong = []
    folder = f"{folder}/{rule.partition('/')[0]}"
    for path in sorted(glob.glob(f"{folder}/*.yaml")):
        name = os.path.basename(path)
        if not re.match("(bad|good|fixed)", name) or "policy" in name:
            continue
        for i, bad, messages in check_file(server, gpugate, rule, path,
                                           f"{namespace}-{name[:-5]}"):
            meets = any(re.search(want, m) for m in messages)
            if f"{name}:{i}" in unseen:
                unseen.remove(f"{name}:{i}")
                if meets:
                    wrong.append(f"    {name}, document {i}: it is rejected, "
                                 "although LIST has it")
                continue
            rejected += bad and meets
            accepted += not bad and not messages
            if bad != meets and (bad or name.startswith("fixed")):
                wrong.append(f"    {name}, document {i}: {messages}")
    page = subprocess.run([gpugate, "explain", rule.partition("/")[0]],
                          capture_output=True, text=True, check=True).stdout
    if "/" not in rule and "observed on kube-apiserver" not in plane.line(page):
        wrong.append("    `explain` does not cite it")
    wrong += [f"    {one} of LIST: no error in it" for one in unseen]
    print(f"{rule}: {rejected} rejected, {accepted} accepted",
          *wrong, sep="\n")
    return rejected and accepted and not wrong


def main(gpugate, folder, rules, table, *chosen):
    server = plane.Plane(folder)
    failed, passed = [], []
    with open(table, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file
                 if not line.startswith("#")]
    for i, (rule, want, *unseen) in enumerate(lines):
        if chosen and rule not in chosen:
            continue
        known = re.findall(r"(\S+:\d+) \w", "".join(unseen))
        good = check_rule(server, gpugate, rules, rule, want, known, f"n{i}")
        (passed if good else failed).append(rule)
    failed += set(chosen).difference(passed, failed)  # not in LIST
    print(f"receipts: {len(passed)} passed, {len(failed)} failed", *failed)
    sys.exit(bool(failed))


main(*sys.argv[1:])
