#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write the smallest manifests with one GPU pod, for every place where a table or
a CustomResourceDefinition has a pod.

usage: kinds.py paths TABLE OUT | crds FOLDER OUT

TABLE has tab separated rows: group, kind, path. FOLDER has
CustomResourceDefinitions; a place is a schema with `containers` whose items
have an image, or (flat) limits and requests outside of such a place. OUT gets
one JSON file per place; its name and its content are printed.
"""
import glob
import json
import os
import re
import sys

RESOURCES = {"limits": {"nvidia.com/gpu": 1}}
CONTAINER = {"name": "c", "image": "i", "resources": RESOURCES}
SPEC = {"containers": [CONTAINER]}
POD = {"apiVersion": "v1", "kind": "Pod", "spec": SPEC}
# Values at places that are not pod specs.
SHAPES = {
    "spec.resourceProfile": "nvidia-gpu-l4:1",
    "spec.deploymentConfig": {"resources": {"gpu": 1}},
    "spec.driver": {"gpu": {"name": "nvidia.com/gpu", "quantity": 1}},
    "spec.executor": {"gpu": {"name": "nvidia.com/gpu", "quantity": 1}},
}


def manifest(group, kind, version, path, leaf):
    """Return an object with leaf at the path."""
    for key in reversed(re.findall(r"[^.\[\]]+|\[\]", path)):
        leaf = [leaf] if key == "[]" else {"Worker" if key == "*" else key: leaf}
    prefix = "" if group == "core" else group + "/"
    return {"apiVersion": prefix + version, "kind": kind, **leaf}


def alternatives(path):
    """Return the paths of a row, with each {a|b} spelled out."""
    match = re.search(r"\{([^{}]*\|[^{}]*)\}", path)
    if not match:
        return [path]
    out = []
    for word in match.group(1).split("|"):
        out += alternatives(path[:match.start()] + word + path[match.end():])
    return out


def leaf_of(path, suffix):
    """Return the path without its references, and the value to put there."""
    if suffix == "embed":
        return path, POD
    if suffix == "embedded-yaml":
        return path, json.dumps(POD)
    if suffix == "container" or re.search(
            r"(\.container|\.script|ontainers\[\]|sidecars\[\])$", path):
        return path, CONTAINER
    if path.endswith(".<template>"):
        return path[:-len(".<template>")], {"container": CONTAINER}
    if path.endswith(".<same as Workflow.spec>"):
        return path[:path.index(".<")], {"templates": [
            {"name": "t", "container": CONTAINER}]}
    if path.endswith(".<same as RoleBasedGroup role>"):
        return path[:path.index(".<")], {"template": {"spec": SPEC}}
    if path.endswith("esources"):
        return path, RESOURCES
    return path, SHAPES.get(path, SPEC)


def string_patch(group, kind, path):
    """Return a Workflow whose patch in a string adds the GPU."""
    spec = {"templates": [{"container": {"image": "i"}}]}
    at = spec["templates"][0] if "templates" in path else spec
    at["podSpecPatch"] = json.dumps(SPEC)
    return {"apiVersion": group + "/v1", "kind": kind, "spec": spec}


def rows_of_table(name):
    with open(name, encoding="utf-8") as file:
        next(file)
        for line in file:
            group, kind, text = line.rstrip("\n").split("\t")
            version = re.search(r"\bv\d+(alpha|beta)\d+", text)
            version = version.group() if version else "v1"
            flat = "not a PodSpec" in text
            for part in re.sub(r"\s*\(.*?\)(?=$|\s)", "", text).split(" + "):
                for path in part.split(" / "):
                    yield group, kind, version, path.strip(), flat


def table(name):
    for group, kind, version, text, flat in rows_of_table(name):
        text, _, suffix = text.partition("#")
        if text.startswith("extraPodSpec"):
            text = "spec.services.*." + text
        for path in alternatives(text):
            if suffix == "string-patch":
                yield group, kind, path, string_patch(group, kind, path)
                continue
            at, leaf = leaf_of(path, suffix)
            if flat and leaf is SPEC:
                leaf = {"resources": RESOURCES}
            yield group, kind, text + ("" if path == text else " " + path), \
                manifest(group, kind, version, at, leaf)


def places(schema, path, found):
    """Add to `found` the paths below a schema that contain a pod spec or only
    its `resources`."""
    if not isinstance(schema, dict):
        return
    props = schema.get("properties") or {}
    items = props.get("containers", {}).get("items", {})
    if "image" in items.get("properties", {}):
        found[path] = SPEC
    elif "limits" in props and "requests" in props:
        found[path] = RESOURCES
    for name, child in props.items():
        if name in ("containers", "initContainers", "ephemeralContainers",
                    "status", "volumes"):
            continue
        # Pod-level resources of a pod spec request no devices.
        if name == "resources" and path in found:
            continue
        places(child, path + "." + name if path else name, found)
    if "items" in schema:
        places(schema["items"], path + "[]", found)
    if isinstance(schema.get("additionalProperties"), dict):
        places(schema["additionalProperties"], path + ".*", found)


def crds(folder):
    import yaml
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for name in sorted(glob.glob(os.path.join(folder, "*.yaml"))):
        with open(name, encoding="utf-8") as file:
            documents = list(yaml.load_all(file, loader))
        for crd in documents:
            if not crd or crd.get("kind") != "CustomResourceDefinition":
                continue
            spec = crd["spec"]
            for version in spec["versions"]:
                found = {}
                schema = version.get("schema", {}).get("openAPIV3Schema", {})
                places(schema, "", found)
                for path, leaf in found.items():
                    yield spec["group"], spec["names"]["kind"], path, \
                        manifest(spec["group"], spec["names"]["kind"],
                                 version["name"], path, leaf)


def main():
    what, source, out = sys.argv[1:]
    rows = table(source) if what == "paths" else crds(source)
    for i, (group, kind, path, text) in enumerate(rows):
        name = os.path.join(out, "%s-%04d.json" % (what, i))
        with open(name, "w", encoding="utf-8") as file:
            json.dump(text, file)
        print(name, group, kind, path, sep="\t")


main()
