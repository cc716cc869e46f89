# SPDX-License-Identifier: Apache-2.0
"""Read the kinds of rules/kube/data/kinds.txt that create pods, and build a healthy
object for each place of a PodSpec, in the form of pod-fields.yaml."""
import re

SKIPPED = ("template", "other", "daemon")
RESOURCES = {"limits": {"nvidia.com/gpu": 2, "memory": "64Gi"},
             "requests": {"cpu": 8}}
SERVER = {"image": "vllm/vllm-openai:v0.9.1",
          "args": ["--model", "meta-llama/Llama-3.1-8B-Instruct"]}
TRAINER = {"image": "pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime",
           "command": ["python", "train.py"]}


# Rules whose defect the operator corrects: kinds and places, and how.
MENDED = [
    ("hostnetwork-dns-policy", "^batch.volcano.sh|MPIJob v2.*Launcher",
     "sets ClusterFirstWithHostNet"),
    ("command-single-string", "^ray.io|RayCluster", "runs it with bash -c"),
    ("liveness-kills-model-load", "^serving.knative.dev", "has a deadline"),
    ("liveness-kills-model-load", "LLMInferenceService", "has presets"),
    ("liveness-kills-model-load", "Dynamo", "adds a startupProbe"),
    ("probe-timeout-default", "LLMInferenceService", "has presets"),
    ("gpu-memory-limit-missing", "/roleTemplates/", "a role may have a limit"),
]


class Row:
    def __init__(self, form, group, pod, attrs):
        self.form, self.group, self.pod = form, group, pod
        self.attrs = dict(a.partition("=")[::2] for a in attrs)

    def below(self, prefix, attrs):
        """Return a copy of the row below a path, with additional attributes."""
        return Row(self.form, joined(prefix, self.group), self.pod,
                   ["=".join(a) for a in self.attrs.items()] + attrs)


class Kind:
    def __init__(self, group, name, words):
        self.group, self.name = group, name
        self.kind_class, self.words = words[0], words[1:]
        self.rows = []
        self.embeds = False

    def title(self):
        return self.name if self.group == "-" else \
            self.group + " " + self.name

    def main(self):
        for word in self.words:
            if word.startswith("main="):
                return word[len("main="):]
        return "main"


def joined(prefix, path):
    return path if prefix == "." else \
        prefix if path == "." else prefix + "." + path


def read(path):
    """Return all kinds, with the rows of their shapes."""
    kinds, shapes, rows, defined = {}, {}, [], {}
    for line in path.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        words = re.sub(r"\$(\w+)", lambda m: defined.get(m[1], m[0]),
                       line).split()
        if words[0] == "define":
            defined[words[1]] = words[2]
        elif words[0] == "shape":
            rows = shapes.setdefault(words[1], [])
        elif words[0] == "kind":
            kind = Kind(words[1], words[2], words[3:])
            kinds[words[1], words[2]] = kind
            rows = kind.rows
        elif words[0] in ("pod", "spec", "flat", "patch"):
            rows.append(Row(words[0], words[1], words[2], words[3:]))
        elif words[0] == "use":
            rows += [r.below(words[2], words[3:]) for r in shapes[words[1]]]
        elif words[0] == "like":
            rows += kinds[words[1], words[2]].rows
        elif words[0] in ("embed", "yaml"):
            kind.embeds = True
    return [k for k in kinds.values()
            if (k.rows or k.embeds) and k.kind_class not in SKIPPED]


def steps(path):
    return [] if path == "." else re.findall(r"[^.\[\]]+|\[\]", path)


def nested(keys, leaf):
    """Return an object that has the leaf at the keys, and the leaf's pointer."""
    pointer = ""
    for key in keys:
        pointer += "/" + {"[]": "0", "*": "Worker"}.get(key, key)
    for key in reversed(keys):
        leaf = [leaf] if key == "[]" else \
            {"Worker" if key == "*" else key: leaf}
    return leaf, pointer


def entry(kind, row):
    """Return an object with the pod of this row alone."""
    serves = kind.kind_class in ("serving", "service")
    spec = {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
            "containers": [dict(SERVER if serves else TRAINER,
                                name=kind.main(), resources=RESOURCES)]}
    below = steps(row.pod) + (["spec"] if row.form == "pod" else [])
    inner, end = nested(below, spec)
    field = row.attrs.get("role", "")
    if field.startswith(".") and row.group != ".":
        inner[field[1:]] = "worker"
    tree, start = nested(steps(row.group), inner)
    version = row.attrs.get("version", "v1").lstrip("!").split(",")[0]
    if row.attrs.get("version", "").startswith("!"):
        version = "v1"
    tree = dict({"metadata": {}}, **tree)
    tree["metadata"].update(name="plant", namespace="ml")
    tree["apiVersion"] = version if kind.group == "-" else \
        kind.group + "/" + version
    tree["kind"] = kind.name
    if "selector" in kind.words:
        tree["spec"]["selector"] = {"matchLabels": {"app": "plant"}}
        tree["spec"]["template"]["metadata"] = {"labels": {"app": "plant"}}
    at = start + end
    near = [rule for rule, kinds, _ in MENDED
            if re.search(kinds, "%s %s%s" % (kind.title(), version, at))]
    return {"kind": kind.title(), "object": tree, "serves": serves,
            "places": [{"at": at, "pod": "all", "near": near},
                       {"at": at + "/containers/0", "box": "all",
                        "volumes": at, "near": near}]}


def entries(path):
    """Yield every kind with an entry for each row that is a template, and with
    the other rows."""
    for kind in read(path):
        plain = [r for r in kind.rows
                 if r.form in ("pod", "spec") and "boxes" not in r.attrs]
        yield kind, [entry(kind, row) for row in plain], \
            [row for row in kind.rows if row not in plain]
