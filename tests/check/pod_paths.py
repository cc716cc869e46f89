# SPDX-License-Identifier: Apache-2.0
"""Find the pods, containers and resources of an object by the schemas of its CRD
or the Kubernetes API, without using the product.

A place is a path (keys and indexes) from the object's root.
"""
import pathlib
import re

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# Places of the PodSpec in the API's own kinds.
TEMPLATE = ("spec", "template", "spec")
BUILT_IN = {
    ("", "Pod"): ("spec",),
    ("", "PodTemplate"): ("template", "spec"),
    ("", "ReplicationController"): TEMPLATE,
    ("apps", "Deployment"): TEMPLATE,
    ("apps", "ReplicaSet"): TEMPLATE,
    ("apps", "StatefulSet"): TEMPLATE,
    ("apps", "DaemonSet"): TEMPLATE,
    ("batch", "Job"): TEMPLATE,
    ("batch", "CronJob"): ("spec", "jobTemplate") + TEMPLATE,
}
LISTS = ("containers", "initContainers")
DEVICE = re.compile(r"^[a-z0-9.-]+/(gpu|tpu|npu|mig-.*|gaudi|neuron(core)?|"
                    r"xpu|vgpu|i915|xe|dcu|Ascend.*)$")


def group_kind(obj):
    version = str(obj.get("apiVersion", ""))
    return version.rpartition("/")[0], obj.get("kind")


def schemas(folder):
    """Return {(group, kind): {version: schema}}."""
    found = {}
    for path in sorted(pathlib.Path(folder).glob("*.yaml")):
        for crd in yaml.load_all(path.read_text(), LOADER):
            if not crd:
                continue
            spec = crd["spec"]
            key = (spec["group"], spec["names"]["kind"])
            for version in spec["versions"]:
                schema = version.get("schema", {}).get("openAPIV3Schema")
                found.setdefault(key, {})[version["name"]] = schema or {}
    return found


class Places:
    """Lists the paths of the pods, the (pod, container) pairs and the `resources` maps
    of one object."""

    def __init__(self, obj, crds):
        self.pods, self.containers, self.resources = [], [], []
        key = group_kind(obj)
        if key in BUILT_IN:
            self._pod(obj, BUILT_IN[key])
            return
        versions = crds.get(key, {})
        version = str(obj.get("apiVersion", "")).rpartition("/")[2]
        schema = versions.get(version)
        if schema is None and versions:
            schema = list(versions.values())[-1]
        if schema:
            self._walk(obj, schema, (), obj)

    def _pod(self, obj, path):
        spec = at(obj, path)
        if not isinstance(spec, dict) or \
                not isinstance(spec.get("containers"), list):
            return False
        self.pods.append(path)
        for name in LISTS:
            items = spec.get(name)
            for i, item in enumerate(items if isinstance(items, list) else []):
                if not isinstance(item, dict):
                    continue
                here = path + (name, i)
                if name == "containers":
                    self.containers.append((path, here))
                if isinstance(item.get("resources"), dict):
                    self.resources.append(here + ("resources",))
        return True

    def _walk(self, value, schema, path, obj):
        properties = schema.get("properties", {})
        if isinstance(value, dict):
            if {"containers", "volumes", "nodeSelector"} <= properties.keys():
                if self._pod(obj, path):
                    return
            if {"limits", "requests"} <= properties.keys():
                self.resources.append(path)
                return
            more = schema.get("additionalProperties")
            for key, child in value.items():
                below = properties.get(key, more)
                if isinstance(below, dict):
                    self._walk(child, below, path + (key,), obj)
        elif isinstance(value, list) and isinstance(schema.get("items"), dict):
            for i, child in enumerate(value):
                self._walk(child, schema["items"], path + (i,), obj)


def at(value, path):
    """Return the value at the path, or None."""
    for key in path:
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) \
                and key < len(value):
            value = value[key]
        else:
            return None
    return value


def pointer(path):
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1")
                   for key in path)


def devices(resources):
    """Return the accelerators that a `resources` map names, in limits or requests."""
    names = []
    for part in ("limits", "requests"):
        figures = (resources or {}).get(part)
        if isinstance(figures, dict):
            names += [n for n in figures if DEVICE.match(str(n))
                      and n not in names]
    return names
