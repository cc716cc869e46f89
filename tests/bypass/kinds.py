# SPDX-License-Identifier: Apache-2.0
"""Write objects of every kind that creates pods, with a pod of eight GPUs at each
place where the kind has one.

kinds.tsv has a row for each place: apiVersion, kind, path, shape. [] in a path
is a list with one item, * a map with one. Shapes: pod (metadata and spec), spec
(a PodSpec), box (a container), resources (limits and requests), object (a
whole Pod), text (a Pod as YAML text), or JSON in which @ is replaced by the
number of GPUs. For comparison, each object is also written with one GPU.
"""
import json
import pathlib
import re

TABLE = pathlib.Path("..") / ".." / "rules" / "kube" / "data" / "kinds.txt"
RULES = ["gpu-count-max"]


def container(gpus):
    return {"name": "train", "image": "registry.example.com/team/train:1.4",
            "resources": {"limits": {"cpu": 8, "memory": "64Gi",
                                     "nvidia.com/gpu": gpus}}}


def leaf(shape, gpus):
    spec = {"containers": [container(gpus)]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
           "spec": spec}
    shapes = {"pod": {"spec": spec}, "spec": spec, "box": container(gpus),
              "resources": container(gpus)["resources"],
              "object": pod, "text": json.dumps(pod)}
    if shape in shapes:
        return shapes[shape]
    return json.loads(shape.replace("@", str(gpus)))


def put(path, value):
    """Return the value at the path, in maps and lists of one."""
    for key in reversed(re.findall(r"[^.\[\]]+|\[\]", path)):
        if key == "[]":
            if isinstance(value, dict) and "name" not in value:
                value = {"name": "main", **value}
            value = [value]
        else:
            value = {"Worker" if key == "*" else key: value}
    return value


def manifest(api_version, kind, path, shape, gpus):
    value = put(path, leaf(shape, gpus)) if path != "." else leaf(shape, gpus)
    name = {"metadata": {"name": "wide", "namespace": "research"}}
    return {"apiVersion": api_version, "kind": kind, **name, **value}


def rows(folder):
    text = (folder / "kinds.tsv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()
            if line and not line.startswith("#")]


def write(folder, out):
    """Yield (path, the rules that deny it, why)."""
    out.mkdir(parents=True)
    for i, (api_version, kind, path, shape) in enumerate(rows(folder)):
        name = f"{i:03}-{kind}-{api_version.split('/')[0]}.json"
        for gpus, word, rules in ((8, "", RULES), (1, "good-", [])):
            if shape.startswith("{") and "@" not in shape and not rules:
                continue    # an instance type fixes the number of GPUs
            at = out / (word + name)
            at.write_text(json.dumps(
                manifest(api_version, kind, path, shape, gpus), indent=1))
            yield at, rules, f"{gpus} GPUs a pod at {path} of a {kind}"


def missing(folder):
    """Yield the kinds of the catalog that make pods and have no row here."""
    have = {(v.rpartition("/")[0] or "-", kind) for v, kind, *_ in rows(folder)}
    kind = ("", "")
    for line in (folder / TABLE).read_text(encoding="utf-8").splitlines():
        words = line.split()
        if not words or words[0] in ("#", "define", "shape",
                                     "operator"):
            kind = kind if words[:1] == ["#"] else ("", "")
        elif words[0] == "kind":
            kind = (words[1], words[2])
        elif kind[0] and kind not in have:
            yield f"kinds.tsv has no row of {kind[0]} {kind[1]}"
            have.add(kind)
