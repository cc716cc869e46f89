# SPDX-License-Identifier: Apache-2.0
"""Validate the objects of a report against their CustomResourceDefinitions.

usage: openreports.py FOLDER-OF-CRDS REPORT
"""
import collections
import json
import pathlib
import sys

import yaml

TYPES = {"string": str, "integer": int, "boolean": bool, "object": dict,
         "array": list}


def schemas(folder):
    """Return {(apiVersion, kind): (schema, namespaced)}."""
    out = {}
    for path in pathlib.Path(folder).glob("*.yaml"):
        spec = yaml.safe_load(path.read_text())["spec"]
        for version in spec["versions"]:
            key = f"{spec['group']}/{version['name']}", spec["names"]["kind"]
            out[key] = (version["schema"]["openAPIV3Schema"],
                        spec["scope"] == "Namespaced")
    return out


def compare(value, schema, at, wrong):
    kind = TYPES[schema["type"]]
    if not isinstance(value, kind) or (kind is int and
                                       isinstance(value, bool)):
        wrong.append(f"{at}: {value!r} is no {schema['type']}")
    elif "enum" in schema and value not in schema["enum"]:
        wrong.append(f"{at}: {value!r} is none of {schema['enum']}")
    elif kind is dict:
        known = schema.get("properties", {})
        more = schema.get("additionalProperties")
        for name in schema.get("required", []):
            if name not in value:
                wrong.append(f"{at}: no {name}")
        for name, item in value.items():
            if name in known or more:
                compare(item, known.get(name, more), f"{at}.{name}", wrong)
            elif at != ".metadata":
                wrong.append(f"{at}.{name}: unknown")
    elif kind is list:
        for i, item in enumerate(value):
            compare(item, schema["items"], f"{at}[{i}]", wrong)


def main():
    known = schemas(sys.argv[1])
    wrong = []
    kinds = collections.Counter()
    for item in json.loads(pathlib.Path(sys.argv[2]).read_text())["items"]:
        schema, namespaced = known[item["apiVersion"], item["kind"]]
        if namespaced != ("namespace" in item["metadata"]):
            wrong.append(f"{item['kind']}: {item['metadata']}")
        compare(item, schema, "", wrong)
        kinds[item["kind"]] += 1
        kinds["results"] += len(item["results"])
    print(*wrong[:10], sep="\n")
    print(dict(kinds))
    return bool(wrong) or not kinds["results"]


sys.exit(main())
