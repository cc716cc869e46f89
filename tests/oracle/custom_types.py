#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints rules/kube/data/custom_types.tsv from CustomResourceDefinitions.

usage: custom_types.py FOLDER... (each is searched for *.yaml)
       custom_types.py --missing TABLE FOLDER...

A field that any of the files has is a field; one whose type differs between
them has any. Parts that Kubernetes' own types define (pods, metadata) have any
type here, because they are checked as such. The folders should have the
definitions of all releases: `git show TAG:PATH` for each tag of an operator.

With --missing, prints the fields of the definitions that the table lacks, and
fails if there are any.
"""
import pathlib
import re
import sys

import yaml

KINDS = {
    "ray.io/v1": ["RayCluster", "RayJob", "RayService"],
    "leaderworkerset.x-k8s.io/v1": ["LeaderWorkerSet"],
    "jobset.x-k8s.io/v1alpha2": ["JobSet"],
    "trainer.kubeflow.org/v1alpha1": [
        "TrainJob", "TrainingRuntime", "ClusterTrainingRuntime"],
    "kubeflow.org/v1": [
        "PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob"],
    "kubeflow.org/v2beta1": ["MPIJob"],
    "batch.volcano.sh/v1alpha1": ["Job", "CronJob"],
    "apps.nvidia.com/v1alpha1": ["NIMService"],
}
# Inline fields of the operators before the Training Operator; the first release
# of mpi-operator's v2beta1 had cleanPodPolicy.
EARLIER = {
    "kubeflow.org/v1": [
        "activeDeadlineSeconds", "backoffLimit", "cleanPodPolicy",
        "schedulingPolicy", "ttlSecondsAfterFinished"],
    "kubeflow.org/v2beta1": ["cleanPodPolicy"],
}
# KubeRay 1.0 alone, in which serveConfigV2 replaced it.
FORMER = {"ray.io/v1": ["serveConfig"]}
FORMS = {"string": "s", "integer": "i", "boolean": "b", "number": "f"}
ANY = "x"


def merge(a, b):
    """Returns the union of two forms: a letter, or (list or map, fields)."""
    if a == b:
        return a
    if isinstance(a, str) or isinstance(b, str) or a[0] != b[0]:
        return ANY
    fields = dict(a[1])
    for name, form in b[1].items():
        fields[name] = merge(fields[name], form) if name in fields else form
    return (a[0], fields)


def is_native(name, fields):
    """True for a part of a pod, and for metadata."""
    return (name in ("metadata", "status", "selector", "affinity", "volumes",
                     "tolerations", "env", "envFrom", "resources", "template",
                     "volumeMounts", "containers", "initContainers",
                     "volumeClaimTemplates", "securityContext")
            and "containers" not in str(sorted(fields)) or
            "containers" in fields or
            "containers" in fields.get("spec", {}).get("properties", {}))


def form_of(name, schema):
    if schema.get("x-kubernetes-int-or-string"):
        return "o" if "pattern" not in schema else ANY
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        return ANY
    kind = schema.get("type")
    if kind in FORMS:
        return FORMS[kind]
    if kind == "array":
        form = form_of(name, schema.get("items", {}))
        if isinstance(form, str):
            return ANY if form == ANY else "[" + form
        return ANY if form[0] else ("[", form[1])
    more = schema.get("additionalProperties")
    if isinstance(more, dict):
        form = form_of(name, more)
        if isinstance(form, str):
            return ANY if form == ANY or form[0] in "[{" else "{" + form
        return ANY if form[0] else ("{", form[1])
    fields = schema.get("properties")
    if not fields or more or is_native(name, fields):
        return ANY
    return ("", {key: form_of(key, one) for key, one in fields.items()})


def read(folders):
    kinds = {}
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*.yaml")):
            text = path.read_text(errors="replace")
            if "CustomResourceDefinition" not in text or "{{" in text:
                continue
            for crd in yaml.load_all(text, yaml.CSafeLoader):
                if not crd or crd.get("kind") != "CustomResourceDefinition" or \
                        not crd.get("spec", {}).get("group"):
                    continue
                spec = crd["spec"]
                for version in spec.get("versions") or []:
                    at = f"{spec['group']}/{version['name']}"
                    kind = spec["names"]["kind"]
                    schema = version.get("schema", {}).get(
                        "openAPIV3Schema", {})
                    if kind not in KINDS.get(at, []) or not schema:
                        continue
                    one = form_of(kind, schema)
                    if one == ANY:
                        continue
                    key = (at, kind)
                    kinds[key] = merge(kinds[key], one) if key in kinds else one
    return kinds


class Types:
    def __init__(self):
        self.rows, self.names = [], {}

    def add(self, name, kind, fields):
        """Returns the name of a type with these fields."""
        text = " ".join(f"{key}={self.form(key, kind, form)}"
                        for key, form in sorted(fields.items()))
        if text not in self.names:
            own, n = f"{name}.{kind}", 1
            while own in self.names.values():
                n += 1
                own = f"{name}.{kind}{n}"
            self.names[text] = own
            self.rows.append(f"{own}\t{text}")
        return self.names[text]

    def form(self, key, kind, form):
        if isinstance(form, str):
            return form
        return form[0] + "T" + self.add(key, kind, form[1])


def read_table(path):
    """Return the table's types, as {name: {field: form}}, and the type of each
    (group/version, kind)."""
    types, kinds = {}, {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.rstrip("\n").split("\t")
            if words[0] == "@":
                kinds[f"{words[1]}/{words[2]}", words[3]] = words[4]
            elif not line.startswith("#") and len(words) == 2:
                types[words[0]] = dict(
                    one.split("=", 1) for one in words[1].split())
    return types, kinds


def missing(types, name, fields, path):
    """Yield the paths of the fields that the type of this name lacks."""
    for key, form in sorted(fields.items()):
        have = types[name].get(key)
        if have is None:
            yield f"{path}.{key}"
        elif not isinstance(form, str) and "T" in have:
            yield from missing(types, have.split("T", 1)[1], form[1],
                               f"{path}.{key}")


def compare(table, folders):
    types, kinds = read_table(table)
    lacks, n = [], 0
    for key, form in sorted(read(folders).items()):
        n += 1
        lacks += missing(types, kinds[key], form[1], key[1]) \
            if key in kinds else [key[1]]
    print("\n".join(lacks))
    sys.exit(bool(lacks) or not n)


def main():
    if sys.argv[1:2] == ["--missing"]:
        compare(sys.argv[2], sys.argv[3:])
    types, kinds = Types(), []
    for (at, kind), form in sorted(read(sys.argv[1:]).items()):
        fields = {key: one for key, one in form[1].items()}
        fields.update(apiVersion="s", kind="s", metadata=ANY, status=ANY)
        spec = fields["spec"][1]
        for field in EARLIER.get(at, []):
            spec.setdefault(field, ANY)
        for field in FORMER.get(at, []):
            spec.pop(field, None)
        group, version = at.split("/")
        name = types.add(kind, re.sub(r"\W", "", group), fields)
        kinds.append(f"@\t{group}\t{version}\t{kind}\t{name}")
    print("\n".join(kinds + types.rows))


main()
