# SPDX-License-Identifier: Apache-2.0
"""Build AdmissionReviews (admission.k8s.io/v1) around objects given as JSON text.

The object's text is inserted unchanged, so that numbers beyond int64 and
hostile text stay as they are. Only the fields that the request repeats are
parsed.
"""
import json
import sys
import uuid

sys.setrecursionlimit(20000)


def parse(text):
    return json.loads(text)


def flatten(text):
    """Return the objects of a text; kubectl applies the items of a List, never
    the List."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return [text]
    if not isinstance(value, dict) or "kind" not in value:
        return []
    items = value.get("items")
    if str(value["kind"]).endswith("List") and isinstance(items, list):
        return [one for item in items for one in flatten(json.dumps(item))]
    return [text]


def objects(dump):
    """Return the objects in doc_dump's lines."""
    return [one for line in dump.splitlines() if line.startswith("{")
            for one in flatten(line)]


def plural(kind):
    word = kind.lower()
    return word[:-1] + "ies" if word.endswith("y") else word + "s"


def write(case, text, old="null"):
    value = json.loads(text)
    metadata = value.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    group, _, version = str(value.get("apiVersion")).rpartition("/")
    kind = {"group": group, "version": version, "kind": value["kind"]}
    resource = {"group": group, "version": version,
                "resource": plural(value["kind"])}
    options = case.review
    request = {
        "uid": str(uuid.uuid5(uuid.NAMESPACE_URL, case.name)),
        "kind": kind, "resource": resource,
        "requestKind": kind, "requestResource": resource,
        "name": metadata.get("name", ""),
        "namespace": metadata.get("namespace", "research"),
        "operation": options.get("operation", "CREATE"),
        "userInfo": {
            "username": options.get("user", "mallory@example.com"),
            "groups": [*filter(None, options.get("groups", "").split(",")),
                       "system:authenticated"]},
        "dryRun": False,
        "options": {"apiVersion": "meta.k8s.io/v1", "kind": "CreateOptions"},
    }
    if "subresource" in options:
        request["subResource"] = options["subresource"]
        request["requestSubResource"] = options["subresource"]
    head = json.dumps({"apiVersion": "admission.k8s.io/v1",
                       "kind": "AdmissionReview", "request": request})
    return head[:-2] + ', "object": ' + text + ', "oldObject": ' + old + '}}\n'
