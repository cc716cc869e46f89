# SPDX-License-Identifier: Apache-2.0
"""A client of the API server that control-plane.sh starts, and the comparison
of its answers with the findings of `gpugate lint`.

Connections are kept, one per thread, and requests run eight at a time. Objects
under test are created by dry run, so that none is stored."""
import http.client
import json
import os
import re
import ssl
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

ADMISSION = "admissionregistration.k8s.io/v1"
POLICY = "ValidatingAdmissionPolicy"
# A policy that is effective once the earlier ones are.
PROBE = "probe"


def line(text):
    """Return the text with single blanks for white space, as gpugate prints a
    message."""
    return " ".join(text.split())


class Plane:
    def __init__(self, folder):
        with open(os.path.join(folder, "port"), encoding="utf-8") as file:
            self.port = int(file.read())
        self.tls = ssl.create_default_context(
            cafile=os.path.join(folder, "ca.crt"))
        self.tls.load_cert_chain(os.path.join(folder, "admin.crt"),
                                 os.path.join(folder, "admin.key"))
        self.local = threading.local()
        self.resources = {}
        self.lock = threading.Lock()

    def request(self, method, path, body=None, kind="application/json"):
        """Return the status, the answer and its warnings."""
        data = None if body is None else json.dumps(body).encode()
        for attempt in (1, 2):
            connection = getattr(self.local, "connection", None)
            if connection is None:
                connection = self.local.connection = \
                    http.client.HTTPSConnection("127.0.0.1", self.port,
                                                context=self.tls, timeout=60)
            try:
                connection.request(method, path, data, {"Content-Type": kind})
                answer = connection.getresponse()
                text = answer.read()
                break
            except (http.client.HTTPException, OSError):
                connection.close()
                self.local.connection = None
                if attempt == 2:
                    raise
        try:
            value = json.loads(text)
        except ValueError:
            value = {"message": text.decode(errors="replace")}
        warnings = [unquote(w) for w in
                    answer.headers.get_all("Warning") or []]
        return answer.status, value, warnings

    def resource(self, one):
        """Return (plural, namespaced) of an object's kind, or None if it is
        not served."""
        version = one["apiVersion"]
        with self.lock:
            if version not in self.resources:
                _, answer, _ = self.request("GET", base(version))
                self.resources[version] = {
                    r["kind"]: (r["name"], r["namespaced"])
                    for r in answer.get("resources", [])
                    if "/" not in r["name"]}
            return self.resources[version].get(one["kind"])

    def path(self, one, namespace="default"):
        plural, namespaced = self.resource(one)
        inside = one["metadata"].get("namespace", namespace)
        return base(one["apiVersion"]) + (
            f"/namespaces/{quote(str(inside))}/{plural}" if namespaced else f"/{plural}")

    def create(self, one, dry=True):
        query = "?fieldValidation=Ignore" + ("&dryRun=All" if dry else "")
        return self.request("POST", self.path(one) + query, one)

    def create_all(self, objects):
        """Create the objects in order, not as a dry run; existing ones are kept."""
        for one in objects:
            status, answer, _ = self.create(one, dry=False)
            if status not in (201, 409):
                sys.exit(f"{one['kind']} {one['metadata']['name']}: "
                         f"{answer.get('message')}")

    def wait(self, what, try_it):
        end = time.monotonic() + 60
        while not try_it():
            if time.monotonic() > end:
                sys.exit(f"not within a minute: {what}")
            time.sleep(0.1)

    def namespaces(self, objects):
        """Create the namespaces that the objects name, as far as the server
        allows."""
        names = sorted({o["metadata"].get("namespace") or "default"
                        for o in objects})
        each(lambda name: self.create(
            {"apiVersion": "v1", "kind": "Namespace",
             "metadata": {"name": name}}, dry=False), names)

    def define(self, definition):
        """Create a CustomResourceDefinition, and wait until its kind is
        served."""
        self.create_all([definition])
        spec = definition["spec"]
        version = f"{spec['group']}/{spec['versions'][0]['name']}"
        self.wait(f"{spec['names']['kind']} is served", lambda: self.request(
            "GET", f"{base(version)}/{spec['names']['plural']}")[0] == 200)
        self.resources.pop(version, None)

    def policies(self, documents, parameter=None):
        """Create policies, then bindings, and wait until they take effect.
        With `parameter` (apiVersion, kind, name) also wait for the parameter
        objects."""
        probe, binding = {"failurePolicy": "Fail", "matchConstraints": {
            "resourceRules": [{
                "apiGroups": [""], "apiVersions": ["v1"],
                "operations": ["CREATE"], "resources": ["configmaps"],
                "resourceNames": [PROBE]}]},
            "validations": [{"expression": "false",
                             "message": "in force"}]}, {
            "policyName": PROBE, "validationActions": ["Deny"]}
        if parameter:
            probe["paramKind"] = dict(zip(("apiVersion", "kind"), parameter))
            probe["validations"][0]["expression"] = \
                f"params.metadata.name != '{parameter[2]}'"
            binding["paramRef"] = {"name": parameter[2],
                                   "parameterNotFoundAction": "Deny"}
        documents = documents + [
            {"apiVersion": ADMISSION, "kind": POLICY,
             "metadata": {"name": PROBE}, "spec": probe},
            {"apiVersion": ADMISSION, "kind": POLICY + "Binding",
             "metadata": {"name": PROBE}, "spec": binding}]
        for kind in (POLICY, POLICY + "Binding"):
            self.create_all([d for d in documents if d["kind"] == kind])
        one = {"apiVersion": "v1", "kind": "ConfigMap",
               "metadata": {"name": PROBE}}
        self.wait("the policies take effect", lambda: self.create(one)[1]
                  .get("message", "").endswith("denied request: in force"))


def base(version):
    return "/apis/" + version if "/" in version else "/api/" + version


def unquote(header):
    """Return the text of a Warning header: 299 - "text"."""
    text = header.split(" ", 2)[2].strip()
    return re.sub(r"\\(.)", r"\1", text[1:-1])


def each(function, items):
    """Call the function for each item, several at a time; return the results in
    order."""
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(function, items))


def failures(warnings):
    """Return {(policy, binding, message)} of warnings of policies."""
    found = set()
    for text in warnings:
        match = re.match(r"Validation failed for ValidatingAdmissionPolicy "
                         r"'(.*?)' with binding '(.*?)': (.*)", text, re.S)
        if match:
            found.add((match[1], match[2], line(match[3])))
    return found


class Lint:
    """gpugate over a folder with one object per file."""

    def __init__(self, gpugate, folder):
        self.gpugate, self.folder = gpugate, folder
        os.makedirs(folder, exist_ok=True)

    def write(self, name, one):
        with open(os.path.join(self.folder, name + ".json"), "w",
                  encoding="utf-8") as file:
            json.dump(one, file)

    def report(self, *options):
        run = subprocess.run(
            [self.gpugate, "lint", "--no-ignore-vcs", "-n", "default",
             "--show-all", "--format", "json", "--fail-on", "never",
             *options, self.folder],
            capture_output=True, check=False, text=True)
        if run.returncode:
            sys.exit(f"gpugate: status {run.returncode}: {run.stderr}")
        return json.loads(run.stdout)

    def findings(self, *options):
        """Return {file's name: findings} of one run."""
        found = {}
        for finding in self.report(*options)["findings"]:
            name = os.path.basename(finding["file"])[:-5]
            found.setdefault(name, []).append(finding)
        return found


def of_policies(findings):
    """Return {(policy, binding, message)} of gpugate's findings."""
    found = set()
    for f in findings:
        if f["rule"] == "admission-policy":
            text = re.sub(r"^policy `.*?`(, binding `.*?`)?: ", "",
                          f["message"])
            found.add((f["policy"], f["binding"], text))
    return found


def spread(found):
    """Return the failures as text for a message, one per line."""
    return "".join(f"    {' | '.join(map(str, one))}\n"
                   for one in sorted(found))
