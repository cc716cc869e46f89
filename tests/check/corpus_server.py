# SPDX-License-Identifier: Apache-2.0
"""Compare gpugate with a real API server that enforces policies, on the corpus.

usage: corpus_server.py values|rules GPUGATE PLANE CORPUS WORK

values  policies whose messages contain the quantities, defaults and lists that
        they see: gpugate's findings have the same messages.
rules   the policies that `rules --format vap` writes for rules files: the
        server warns about the objects that the rules report.

Each document is sent unchanged, with its quantities written in other ways, and
with a sidecar in each of its pods. Prints the differences."""
import collections
import glob
import copy
import json
import os
import re
import subprocess
import sys

import yaml

import plane

HERE = os.path.dirname(os.path.abspath(__file__))
WARNINGS = 3700  # characters; the server truncates more warnings to 256 each
# Placeholders, which are unknown before deployment: gpugate reports nothing
# that depends on them.
PLACEHOLDER = re.compile(r"\$\{|\{\{|<[A-Za-z_0-9 -]+>|\$\(|"
                         r"\$[A-Z_0-9]{4}|__[A-Z_]+__|REPLACE|YOUR|PLACEHOLDER|FILLED BY")
QUANTITY = re.compile(r"\d+(\.\d+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$")
UNITS = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


class Loader(yaml.CSafeLoader):
    """Keeps times as text, as the API server's decoder does."""


Loader.yaml_implicit_resolvers = {
    k: [r for r in v if r[0] != "tag:yaml.org,2002:timestamp"]
    for k, v in yaml.CSafeLoader.yaml_implicit_resolvers.items()}


def documents(corpus):
    for folder, folders, files in os.walk(corpus):
        folders.sort()
        for name in sorted(files):
            if not name.endswith((".yaml", ".yml")):
                continue
            try:
                with open(os.path.join(folder, name),
                          encoding="utf-8") as file:
                    for one in yaml.load_all(file, Loader):
                        yield from items(one)
            except (yaml.YAMLError, UnicodeDecodeError):
                pass  # no manifest


def items(one):
    if not isinstance(one, dict) or not isinstance(one.get("kind"), str) \
            or not isinstance(one.get("apiVersion"), str):
        return
    if one["kind"] == "List":
        for item in one.get("items") or []:
            yield from items(item)
    elif isinstance(one.get("metadata"), dict) and \
            isinstance(one["metadata"].get("name"), str):
        yield one


def with_gpus(one):
    return bool(re.search(r'"[a-z.]+/(gpu|mig-[^"]*|tpu)": ',
                          json.dumps(one)))


def maps(node):
    if isinstance(node, dict):
        yield node
    for child in node.values() if isinstance(node, dict) else \
            node if isinstance(node, list) else ():
        yield from maps(child)


def other_form(value):
    """Return a number for a text that is a quantity, and a text for a
    number."""
    if isinstance(value, int):
        return str(value)
    if not isinstance(value, str) or not QUANTITY.match(value):
        return value
    if value.isdigit():
        return int(value)
    if value.endswith("m"):
        return int(value[:-1]) / 1000
    unit = UNITS.get(value[-2:])
    return f"{float(value[:-2]) * unit / 1000:.0f}k" if unit else value


def with_other_forms(one):
    for node in maps(one):
        for key in ("limits", "requests"):
            if isinstance(node.get(key), dict):
                node[key] = {k: other_form(v) for k, v in node[key].items()}


def with_sidecars(one):
    for node in maps(one):
        first = node.get("containers")
        if isinstance(first, list) and first and isinstance(first[0], dict):
            node["initContainers"] = (node.get("initContainers") or []) + [
                {"name": "added-init", "image": "registry.example.com/init",
                 "resources": {"limits": {"nvidia.com/gpu": 1}}},
                {"name": "added-side", "image": "quay.io/side:1",
                 "restartPolicy": "Always", "env": [{"name": "A"}],
                 "resources": first[0].get("resources") or {}}]


LABEL = "gpugate.dev/set"
FORMS = {"": lambda one: None, "forms": with_other_forms,
         "sidecars": with_sidecars}
PLACES = [("ml-vision", "speech"), ("tenant-a", "vision"), ("ml-a", "vision"),
          ("default", None)]


def placed(one, number, plain):
    """Put the object into a namespace, with a label, both of which rules read."""
    namespace, team = PLACES[number % len(PLACES)]
    if plain:
        one["metadata"].setdefault("namespace", "default")
        return
    one["metadata"]["namespace"] = namespace
    if team:
        labels = one["metadata"].get("labels") or {}
        one["metadata"]["labels"] = labels | {"team": team}


class Corpus:
    def __init__(self, mode, gpugate, server, corpus, work):
        self.mode, self.gpugate, self.work = mode, gpugate, work
        self.server = plane.Plane(server)
        self.lint = plane.Lint(gpugate, os.path.join(work, "objects"))
        self.counts = collections.Counter()
        self.asked = list(self.objects(corpus))
        self.server.namespaces(one for _, one in self.asked)

    def objects(self, corpus):
        seen = set()
        for number, document in enumerate(documents(corpus)):
            if not self.server.resource(document):
                self.counts["not served"] += 1
                continue
            forms = FORMS if with_gpus(document) else {"": FORMS[""]}
            for form, change in forms.items():
                one = copy.deepcopy(document)
                change(one)
                placed(one, number, self.mode == "values")
                if not self.server.resource(one)[1]:
                    del one["metadata"]["namespace"]
                text = json.dumps(one)
                if PLACEHOLDER.search(text):
                    self.counts["with placeholders"] += 1
                elif text not in seen:
                    seen.add(text)
                    yield from self.for_sets(f"{number}{form}", text)

    def for_sets(self, name, text):
        one = json.loads(text)
        if self.mode != "values":
            yield name, one
            return
        native = re.search(r"^v1$|^(apps|batch)/|k8s.io/v\d", one["apiVersion"])
        for letter in "a", "b" if native else "c":
            one = json.loads(text)
            one["metadata"]["labels"] = (one["metadata"].get("labels") or {}
                                         ) | {LABEL: letter}
            yield name + letter, one

    def send(self):
        """Return {name: (object, answer)} for objects that the server
        accepts."""
        answers = plane.each(lambda a: self.server.create(a[1]), self.asked)
        taken = {}
        for (name, one), answer in zip(self.asked, answers):
            if answer[0] == 201:
                taken[name] = one, answer
                self.lint.write(name, one)
            else:
                self.counts["refused"] += 1
        return taken

    def compare(self, taken, ours, theirs):
        """Compare gpugate's findings about each object with the server's;
        print differences. Return true if the check fails."""
        for name, (one, answer) in taken.items():
            mine, servers = ours(name), theirs(name)
            if sum(len(w) for w in answer[2]) > WARNINGS:
                self.counts["with more warnings than the server sends"] += 1
                continue
            self.counts["failures"] += len(servers)
            self.counts["wrong" if mine != servers else "good"] += 1
            if mine != servers:
                print(f"{name}: {one['kind']} {one['metadata']['name']}\n"
                      f"  only gpugate:\n{plane.spread(mine - servers)}"
                      f"  only the server:\n{plane.spread(servers - mine)}")
        kinds = {(o["apiVersion"], o["kind"]) for o, _ in taken.values()}
        gpus = sum(with_gpus(o) for n, (o, _) in taken.items()
                   if not n.endswith(("b", "c")))
        print(f"{len(taken)} objects of {len(kinds)} kinds, {gpus} with "
              f"GPUs; {self.counts['failures']} failures; left out: " +
              ", ".join(f"{self.counts[k]} {k}" for k in
                        ("not served", "refused", "with placeholders",
                         "with more warnings than the server sends")))
        print(f"corpus-server {self.mode}: {self.counts['good']} passed, "
              f"{self.counts['wrong']} failed")
        return self.counts["wrong"] or len(kinds) < 10 or \
            gpus < 200 or len(taken) < 500

    # --- values ---------------------------------------------------------------

    def run_values(self, definitions):
        path = os.path.join(self.work, "policies.yaml")
        with open(os.path.join(HERE, "server-policies.yaml"),
                  encoding="utf-8") as file:
            policies = [d for p in yaml.safe_load(file) for d in policy(p)]
        with open(path, "w", encoding="utf-8") as file:
            yaml.safe_dump_all(policies, file)
        self.server.policies(policies)
        taken = self.send()
        found = self.lint.findings(
            "--isolated", "--select", "admission-policy",
            "--admission-policy", path, "--admission-policy", definitions)
        return self.compare(
            taken, lambda name: plane.of_policies(found.get(name, [])),
            lambda name: plane.failures(taken[name][1][2]))


    # --- rules ----------------------------------------------------------------

    def export(self):
        """Return the documents of `rules --format vap`, and the policy's path."""
        examples = os.path.join(HERE, "..", "..", "deploy", "examples",
                                "rules")
        files = sorted(os.path.join(examples, f)
                       for f in os.listdir(examples) if f.endswith(".yaml"))
        more = os.path.join(self.work, "of-any-kind.yaml")
        with open(more, "w", encoding="utf-8") as file:
            yaml.safe_dump({"apiVersion": "gpugate.dev/v1", "kind": "Rules",
                            "rules": list(without_gpus(files))}, file)
        files += [more, os.path.join(HERE, "export-rules.yaml")]
        # The built-in rules in CEL, as deploy/vap has them.
        folder = os.path.join(self.work, "cel")
        subprocess.run([os.path.join(HERE, "..", "..", "rules", "catalog",
                                     "cel.sh"), folder], check=True)
        files += sorted(glob.glob(os.path.join(folder, "*", "*.cel")))
        path = os.path.join(self.work, "gpugate.yaml")
        with open(path, "w", encoding="utf-8") as file:
            yaml.safe_dump({"apiVersion": "gpugate.dev/v1", "kind": "Policy",
                            "custom": files}, file)
        run = subprocess.run(
            [self.gpugate, "rules", "--format", "vap", "--config", path],
            capture_output=True, check=True, text=True)
        for line in run.stderr.splitlines():
            print(line.replace("gpugate: ", ""))
        exported = [d for d in yaml.safe_load_all(run.stdout) if d]
        for one in exported:
            # The server reports only the first policy that denies, and drops
            # warnings with line breaks.
            if one["kind"].endswith("Binding"):
                one["spec"]["validationActions"] = ["Warn"]
            for v in one["spec"].get("validations", []):
                if "//" not in v["expression"]:
                    v["expression"] = plane.line(v["expression"])
        with open(os.path.join(self.work, "policies.yaml"), "w",
                  encoding="utf-8") as file:
            yaml.safe_dump_all(exported, file)
        return exported, path

    def run_rules(self, _):
        exported, path = self.export()
        names = {d["metadata"]["name"] for d in exported}
        self.server.policies(exported)
        taken = self.send()
        rules = self.lint.findings("--config", path, "--select", "custom")
        found = self.lint.findings(
            "--isolated", "--select", "admission-policy",
            "--admission-policy", os.path.join(self.work, "policies.yaml"))
        judged, others = collections.Counter(), collections.Counter()

        def ours(name):
            of_rules = {f["rule"] for f in rules.get(name, [])} & names
            policies = {f["policy"] for f in found.get(name, [])}
            judged.update(of_rules)
            kind = taken[name][0]["kind"]
            others.update((rule, kind) for rule in of_rules ^ policies)
            return {(rule,) for rule in policies}

        def theirs(name):
            kind = taken[name][0]["kind"]
            policies = {f["policy"] for f in found.get(name, [])}
            return {f[:1] for f in plane.failures(taken[name][1][2])
                    if f[0] in policies or (f[0], kind) not in UNKNOWN}

        wrong = self.compare(taken, ours, theirs)
        print(f"{len(names)} rules exported; findings: " + ", ".join(
            f"{k} {n}" for k, n in sorted(judged.items())))
        for (rule, kind), n in sorted(others.items()):
            why = "only the server knows" if (rule, kind) in UNKNOWN \
                else "not what the rule finds in the file"
            print(f"{why}: {rule}, {n} x {kind}")
        return wrong or len(names) < 15 or set(others) - UNKNOWN


# An admission plugin may add to the nodeSelector of a Pod, which the rule
# reads: the server knows the result, gpugate does not.
UNKNOWN = {("gpugate-hostipc-instead-of-shm", "Pod")}
KINDS = [
    "core/Pod", "batch/Job", "batch/CronJob", "apps/Deployment",
    "apps/StatefulSet", "apps/DaemonSet", "kubeflow.org/PyTorchJob",
    "kubeflow.org/MPIJob", "kubeflow.org/TFJob", "kubeflow.org/Notebook",
    "ray.io/RayCluster", "ray.io/RayJob", "ray.io/RayService",
    "jobset.x-k8s.io/JobSet", "leaderworkerset.x-k8s.io/LeaderWorkerSet",
    "batch.volcano.sh/Job",
    "serving.kserve.io/ClusterServingRuntime", "serving.knative.dev/Service",
    "trainer.kubeflow.org/ClusterTrainingRuntime"]


def without_gpus(files):
    """Yield the rules without the condition match.gpus, so that they check any
    object."""
    for path in files:
        with open(path, encoding="utf-8") as file:
            for rule in yaml.safe_load(file)["rules"]:
                match = rule.get("match", {})
                if not match.pop("gpus", False) or "gpugate." in str(
                        {k: rule.get(k) for k in ("when", "assert")}):
                    continue
                rule.pop("tests")
                match["kinds"] = match.get("kinds", KINDS)
                rule.update(name=rule["name"] + "-any", match=match)
                yield rule


def policy(one):
    """Yield a policy and its binding."""
    validations = []
    for v in one["validations"]:
        if isinstance(v, str):
            validations.append({"expression": v})
        else:
            when = v.get("when", "true")
            validations.append({
                "expression": f"!({when})",
                "message": "no message: " + v["says"],
                "messageExpression": f"'sees {len(validations)}: ' + "
                                     f"string({v['says']})"})
    spec = {"matchConstraints": {"resourceRules": [{
        "apiGroups": one["groups"], "apiVersions": ["*"],
        "operations": ["CREATE"], "resources": one["resources"]}]},
            "variables": [{"name": k, "expression": e}
                          for k, e in one.get("variables", {}).items()],
            "validations": validations}
    yield {"apiVersion": plane.ADMISSION, "kind": plane.POLICY,
           "metadata": {"name": one["name"]}, "spec": spec}
    yield {"apiVersion": plane.ADMISSION, "kind": plane.POLICY + "Binding",
           "metadata": {"name": one["name"]},
           "spec": {"policyName": one["name"],
                    "validationActions": ["Warn"],
                    "matchResources": {"objectSelector": {
                        "matchLabels": {LABEL: one["set"]}}}}}


def main():
    mode, gpugate, server, shared, work = sys.argv[1:6]
    corpus = Corpus(mode, gpugate, server, os.path.join(shared, "corpus"),
                    work)
    run = {"values": corpus.run_values, "rules": corpus.run_rules}[mode]
    sys.exit(1 if run(os.path.join(shared, "crds")) else 0)


if __name__ == "__main__":
    main()
