# SPDX-License-Identifier: Apache-2.0
"""An API server that misbehaves on demand: lists and watches over HTTPS, in
memory, with resourceVersions as a real one has them. Faults are functions
that a test puts in server.fault: they see each request first and may answer
it themselves (return True)."""
import bisect
import http.server
import json
import os
import socket
import ssl
import subprocess
import threading
import time
import urllib.parse

KINDS = {
    "namespaces": ("/api/v1", "Namespace"), "resourcequotas": ("/api/v1", "ResourceQuota"),
    "limitranges": ("/api/v1", "LimitRange"), "nodes": ("/api/v1", "Node"), "pods": ("/api/v1", "Pod"),
    "persistentvolumeclaims": ("/api/v1", "PersistentVolumeClaim"),
    "poddisruptionbudgets": ("/apis/policy/v1", "PodDisruptionBudget"),
    "networkpolicies": ("/apis/networking.k8s.io/v1", "NetworkPolicy"),
    "priorityclasses": ("/apis/scheduling.k8s.io/v1", "PriorityClass"),
    "runtimeclasses": ("/apis/node.k8s.io/v1", "RuntimeClass"),
    "daemonsets": ("/apis/apps/v1", "DaemonSet"), "deployments": ("/apis/apps/v1", "Deployment"),
    "deviceclasses": ("/apis/resource.k8s.io/v1", "DeviceClass"),
    "resourceslices": ("/apis/resource.k8s.io/v1", "ResourceSlice"),
}


def certificates(folder):
    """Create the CAs `ca` and `other`, and the leaves `server` and `client`,
    signed by `ca`, each as NAME.crt and NAME.key."""
    def run(*args):
        subprocess.run(["openssl", *args], cwd=folder, check=True, capture_output=True)
    for name in ("ca", "other"):
        run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.crt")
    for name, ext in (("server", "subjectAltName=IP:127.0.0.1,DNS:fake.test"), ("client", "extendedKeyUsage=clientAuth")):
        with open(os.path.join(folder, name + ".ext"), "w", encoding="ascii") as f:
            f.write(ext + "\n")
        run("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}",
            "-keyout", f"{name}.key", "-out", f"{name}.csr")
        run("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-days", "2",
            "-CAcreateserial", "-extfile", f"{name}.ext", "-out", f"{name}.crt")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def setup(self):
        super().setup()
        self.server.owner.connections.add(self.connection)

    def finish(self):
        self.server.owner.connections.discard(self.connection)
        try:
            super().finish()
        except OSError:
            pass

    def answer(self, code, body, headers=()):
        data = json.dumps(body).encode() if not isinstance(body, bytes) else body
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
        return True

    def status(self, code, message="", headers=()):
        return self.answer(code, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code,
                                  "message": message}, headers)

    def begin_watch(self):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()

    def chunk(self, data):
        if isinstance(data, dict):
            data = json.dumps(data).encode() + b"\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def end_watch(self):
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def do_GET(self):
        owner = self.server.owner
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        base, _, plural = url.path.rpartition("/")
        watch = query.get("watch") == "true"
        owner.requests.append((time.monotonic(), plural, watch, query, self.headers.get("Authorization")))
        try:
            if owner.fault and owner.fault(self, plural, watch, query):
                return
            if plural not in KINDS or KINDS[plural][0] != base or plural in owner.absent:
                self.status(404, "the server could not find the requested resource")
            elif watch:
                owner.watch(self, plural, int(query["resourceVersion"]))
            else:
                owner.list(self, plural, query)
        except OSError:
            self.close_connection = True


class Quiet(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        pass


class FakeServer:
    def __init__(self, folder, port=0):
        self.folder, self.port = folder, port
        self.store = {plural: {} for plural in KINDS}
        self.events = {plural: [] for plural in KINDS}
        self.compacted = {plural: 0 for plural in KINDS}
        self.absent = set()
        self.version = 100
        self.changed = threading.Condition()
        self.fault = None
        self.requests = []
        self.connections = set()
        self.http = None
        self.bookmark = 0.5
        self.generation = 0
        self.sorted = {}

    # --- up and down --------------------------------------------------------

    def start(self):
        self.http = Quiet(("127.0.0.1", self.port), Handler, bind_and_activate=False)
        self.http.allow_reuse_address = True
        self.http.server_bind()
        self.http.server_activate()
        self.http.owner = self
        self.port = self.http.server_address[1]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(self.folder, "server.crt"), os.path.join(self.folder, "server.key"))
        context.load_verify_locations(os.path.join(self.folder, "ca.crt"))
        context.verify_mode = ssl.CERT_OPTIONAL
        self.http.socket = context.wrap_socket(self.http.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def stop(self):
        if not self.http:
            return
        self.generation += 1
        self.http.shutdown()
        self.http.server_close()
        for connection in list(self.connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        with self.changed:
            self.changed.notify_all()
        self.http = None

    # --- objects --------------------------------------------------------------

    def put(self, plural, name, namespace=None, kind="ADDED", **rest):
        with self.changed:
            self.version += 1
            meta = {"name": name, "resourceVersion": str(self.version)}
            if namespace:
                meta["namespace"] = namespace
            meta.update(rest.pop("metadata", {}))
            obj = {"metadata": meta, **rest}
            key = (namespace, name)
            kind = "MODIFIED" if key in self.store[plural] else "ADDED"
            self.store[plural][key] = obj
            self.events[plural].append((self.version, kind, obj))
            self.changed.notify_all()

    def remove(self, plural, name, namespace=None):
        with self.changed:
            self.version += 1
            obj = self.store[plural].pop((namespace, name))
            obj = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self.version)}}
            self.events[plural].append((self.version, "DELETED", obj))
            self.changed.notify_all()

    def quota(self, name, namespace, gpus):
        self.put("resourcequotas", name, namespace, spec={"hard": {"requests.nvidia.com/gpu": gpus}})

    def pod(self, name, namespace, gpus):
        self.put("pods", name, namespace, spec={"containers": [
            {"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": gpus}}}]})

    def compact(self):
        """Drop all events so far: a watch from an earlier version then gets status 410."""
        with self.changed:
            for plural in KINDS:
                self.compacted[plural] = self.version
                self.events[plural] = []
            self.changed.notify_all()

    # --- answers ------------------------------------------------------------

    def list(self, h, plural, query):
        # All pages of a list have one version.
        with self.changed:
            version = query["continue"].split("/")[0] if "continue" in query else str(self.version)
            if (plural, version) not in self.sorted:
                self.sorted[plural, version] = sorted(self.store[plural].items(), key=lambda pair: str(pair[0]))
            items = self.sorted[plural, version]
        start = int(query.get("continue", "0/0").split("/")[1])
        end = start + int(query.get("limit", len(items) + 1))
        if end >= len(items):
            self.sorted.pop((plural, version), None)
        meta = {"resourceVersion": str(version)}
        if end < len(items):
            meta["continue"] = f"{version}/{end}"
        base, kind = KINDS[plural]
        h.answer(200, {"kind": kind + "List", "apiVersion": base.split("/", 2)[2], "metadata": meta,
                       "items": [obj for _, obj in items[start:end]]})

    def event(self, plural, kind, obj):
        base, name = KINDS[plural]
        return {"type": kind, "object": {"kind": name, "apiVersion": base.split("/", 2)[2], **obj}}

    def since(self, plural, version):
        events = self.events[plural]
        return events[bisect.bisect_right(events, version, key=lambda e: e[0]):]

    def watch(self, h, plural, version):
        generation = self.generation
        if version < self.compacted[plural]:
            h.begin_watch()
            h.chunk({"type": "ERROR", "object": {"kind": "Status", "apiVersion": "v1", "code": 410,
                                                 "message": "too old resource version"}})
            h.end_watch()
            return
        h.begin_watch()
        while generation == self.generation:
            with self.changed:
                fresh = self.since(plural, version)
                if not fresh:
                    self.changed.wait(self.bookmark)
                    fresh = self.since(plural, version)
                current = self.version
            if fresh:
                h.chunk(b"".join(json.dumps(self.event(plural, kind, obj)).encode() + b"\n" for _, kind, obj in fresh))
                version = fresh[-1][0]
            if not fresh:
                version = max(version, current)
                h.chunk(self.event(plural, "BOOKMARK", {"metadata": {"resourceVersion": str(version)}}))
