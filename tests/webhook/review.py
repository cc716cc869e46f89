# SPDX-License-Identifier: Apache-2.0
"""Build AdmissionReviews from objects, as kube-apiserver sends them."""
import json


def split(api_version):
    group, _, version = (api_version or "").rpartition("/")
    return group, version


def review(obj, operation="CREATE", old=None, user="alice",
           groups=("system:authenticated",), namespace=None, subresource=None,
           dry_run=False, uid="705ab4f5-6393-11e8-b7cc-42010a800002"):
    meta = obj.get("metadata") if obj else old.get("metadata")
    meta = meta if isinstance(meta, dict) else {}
    group, version = split((obj or old).get("apiVersion"))
    kind = (obj or old).get("kind") or ""
    gvk = {"group": group, "version": version, "kind": kind}
    gvr = {"group": group, "version": version, "resource": kind.lower() + "s"}
    request = {
        "uid": uid, "kind": gvk, "resource": gvr,
        "requestKind": gvk, "requestResource": gvr,
        "name": meta.get("name") or "",
        "namespace": namespace or meta.get("namespace") or "",
        "operation": operation,
        "userInfo": {"username": user, "groups": list(groups)},
        "object": obj, "oldObject": old, "dryRun": dry_run,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
    }
    if subresource:
        request["subResource"] = subresource
    return {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1",
            "request": request}


def dump(value, path):
    with open(path, "w", encoding="utf-8") as out:
        json.dump(value, out, separators=(",", ":"), ensure_ascii=False)

# Rules that report only in files: the API server drops the field or rejects
# the object, or the pod that an operator makes from it.
OF_SERVER = ("field-type-invalid", "field-unknown", "field-missing",
             "field-value-invalid", "kind-unknown", "pod-invalid",
             "server-rejects", "dra-selector-invalid")
