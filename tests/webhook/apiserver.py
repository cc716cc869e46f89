# SPDX-License-Identifier: Apache-2.0
"""A small client of a real kube-apiserver (tests/control-plane), and a gpugated that
runs in front of it. The client sends objects by REST over a kept connection, returns
the response (status, body, warnings) and reads annotations from the audit log. The
webhook class makes certificates and webhook configurations, starts and stops
gpugated, and reads its metrics."""
import http.client
import json
import os
import re
import ssl
import subprocess
import time


class Server:
    def __init__(self, folder, user="admin"):
        self.folder = folder
        with open(folder + "/port", encoding="utf-8") as port:
            self.port = int(port.read())
        self.context = ssl.create_default_context(cafile=folder + "/ca.crt")
        self.context.load_cert_chain(f"{folder}/{user}.crt",
                                     f"{folder}/{user}.key")
        self.connection = None
        self.plurals = {}
        self.audit = None  # the id of the last request
        self.read = 0  # position in the audit log

    def request(self, method, path, body=None, headers=None):
        """Return (status, object, warnings)."""
        data = json.dumps(body).encode() if body is not None else None
        sent = {"Content-Type": "application/json",
                "Accept": "application/json", **(headers or {})}
        for again in (False, True):
            try:
                if self.connection is None:
                    self.connection = http.client.HTTPSConnection(
                        "127.0.0.1", self.port, context=self.context,
                        timeout=40)
                self.connection.request(method, path, data, sent)
                reply = self.connection.getresponse()
                text = reply.read()
                break
            except (http.client.HTTPException, OSError):
                self.connection = None
                if again:
                    raise
        self.audit = reply.headers.get("Audit-Id")
        warnings = [re.sub(r'^299 \S+ "(.*)"$', r"\1",
                           w.encode("latin-1").decode()).replace('\\"', '"')
                    for w in reply.headers.get_all("Warning") or []]
        return reply.status, json.loads(text) if text else {}, warnings

    def resources(self, group_version):
        if group_version not in self.plurals:
            root = "/api/" if "/" not in group_version else "/apis/"
            status, body, _ = self.request("GET", root + group_version)
            self.plurals[group_version] = {
                r["kind"]: r for r in body.get("resources", [])
                if "/" not in r["name"]} if status == 200 else {}
        return self.plurals[group_version]

    def path(self, obj, name=None, subresource=None):
        version = obj["apiVersion"]
        row = self.resources(version).get(obj["kind"])
        if row is None:
            return None
        path = ("/api/" if "/" not in version else "/apis/") + version
        if row["namespaced"]:
            meta = obj.get("metadata") or {}
            path += "/namespaces/" + (meta.get("namespace") or "default")
        path += "/" + row["name"]
        if name:
            path += "/" + name
        if subresource:
            path += "/" + subresource
        return path

    def create(self, obj, dry_run=False):
        query = "?fieldManager=test" + ("&dryRun=All" if dry_run else "")
        return self.request("POST", self.path(obj) + query, obj)

    def get(self, obj):
        return self.request("GET", self.path(obj, obj["metadata"]["name"]))

    def replace(self, obj):
        return self.request("PUT", self.path(obj, obj["metadata"]["name"]),
                            obj)

    def patch(self, obj, patch, subresource=None, kind="merge-patch+json"):
        return self.request(
            "PATCH", self.path(obj, obj["metadata"]["name"], subresource),
            patch, {"Content-Type": "application/" + kind})

    def delete(self, obj):
        return self.request(
            "DELETE", self.path(obj, obj["metadata"]["name"]),
            {"kind": "DeleteOptions", "apiVersion": "v1",
             "gracePeriodSeconds": 0})

    def notes(self, limit=20):
        """Return the annotations of the audit event of the last request. It
        may come a moment after the answer."""
        began = time.time()
        with open(self.folder + "/audit.log", "rb") as log:
            log.seek(self.read)
            while time.time() - began < limit:
                line = log.readline()
                if not line.endswith(b"\n"):
                    log.seek(self.read)
                    time.sleep(0.02)
                    continue
                self.read = log.tell()
                event = json.loads(line)
                if event["auditID"] == self.audit:
                    return event.get("annotations") or {}
        raise SystemExit(f"no audit event {self.audit} within {limit} s")


class Webhook:
    """Runs gpugated in front of the API server."""

    def __init__(self, program, folder, address, ports, policy):
        self.folder = folder
        self.address = address
        self.ports = ports
        self.policy = folder + "/policy.yaml"
        self.log = folder + "/gpugated.log"
        self.program = program
        self.set_policy(policy)
        if not os.path.exists(folder + "/certs/tls.crt"):
            subprocess.run(
                [program, "certs", "--dir", folder + "/certs", "--dns",
                 "localhost", "--ip", address, "--ip", "127.0.0.1"],
                check=True, stdout=subprocess.DEVNULL)
        self.process = None

    def set_policy(self, text):
        with open(self.policy + ".new", "w", encoding="utf-8") as out:
            out.write(text)
        os.rename(self.policy + ".new", self.policy)

    def start(self, *more):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [self.program, "--listen", f"{self.address}:{self.ports[0]}",
                 "--probe-listen", f"127.0.0.1:{self.ports[1]}",
                 "--tls-cert", self.folder + "/certs/tls.crt",
                 "--tls-key", self.folder + "/certs/tls.key",
                 "--policy", self.policy, "--drain", "2", *more], stderr=log)
        for _ in range(600):
            if self.ready():
                return
            time.sleep(0.05)
        with open(self.log, encoding="utf-8") as log:
            raise SystemExit("gpugated is not ready:\n" + log.read()[-2000:])

    def probe(self, path):
        link = http.client.HTTPConnection("127.0.0.1", self.ports[1],
                                          timeout=5)
        link.request("GET", path)
        reply = link.getresponse()
        return reply.status, reply.read().decode()

    def ready(self):
        try:
            return self.probe("/readyz")[0] == 200
        except OSError:
            return False

    def metric(self, name, **labels):
        """Return the sum of all series of that name with these labels."""
        total = 0.0
        for line in self.probe("/metrics")[1].splitlines():
            if line.startswith((name + "{", name + " ")) and all(
                    f'{k}="{v}"' in line for k, v in labels.items()):
                total += float(line.rsplit(" ", 1)[1])
        return total

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(timeout=120)
            self.process = None

    def configurations(self, kinds, policy="Fail"):
        """Yield the two webhook configurations for these kinds."""
        import base64
        with open(self.folder + "/certs/ca.crt", "rb") as ca:
            bundle = base64.b64encode(ca.read()).decode()
        for path, kind in (("mutate", "Mutating"), ("validate", "Validating")):
            hook = {
                "name": f"{path}.gpugate.dev",
                "clientConfig": {
                    "url": f"https://{self.address}:{self.ports[0]}/{path}",
                    "caBundle": bundle},
                "rules": kinds[path], "sideEffects": "None",
                "admissionReviewVersions": ["v1"], "failurePolicy": policy,
                "timeoutSeconds": 5,
                "namespaceSelector": {"matchExpressions": [{
                    "key": "kubernetes.io/metadata.name", "operator": "NotIn",
                    "values": ["kube-system"]}]}}
            if path == "mutate":
                hook["reinvocationPolicy"] = "IfNeeded"
            yield {"apiVersion": "admissionregistration.k8s.io/v1",
                   "kind": kind + "WebhookConfiguration",
                   "metadata": {"name": "gpugate"}, "webhooks": [hook]}
