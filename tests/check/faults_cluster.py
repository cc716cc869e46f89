# SPDX-License-Identifier: Apache-2.0
"""Make allocations fail in gpugated while it reads the cluster state from an API
server and replaces its own certificates every few seconds. It must never exit.
When allocations succeed again, its state must become equal to the server's,
and the configurations must trust its certificate.

usage: faults_cluster.py N GPUGATED FAULT_SO
"""
import base64
import http.client
import json
import os
import random
import re
import ssl
import subprocess
import sys
import tempfile
import time

from faults import Faults

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "webhook"))
import live_server  # noqa: E402

SECRET = "/api/v1/namespaces/ns/secrets/tls"
CONFIGS = ["/apis/admissionregistration.k8s.io/v1/%swebhookconfigurations/gpugate"
           % kind for kind in ("mutating", "validating")]
SEED = 20
KINDS = {"resourcequotas": "ResourceQuota", "pods": "Pod"}


class Handler(live_server.Handler):
    """Serves the Secret and the webhook configurations in addition to lists and
    watches."""

    def stored(self, body=None):
        path = self.path.partition("?")[0]
        objects = self.server.owner.objects
        if path not in objects:
            return self.status(404)
        if body:
            objects[path] = body
        meta = objects[path]["metadata"]
        meta["resourceVersion"] = str(int(meta["resourceVersion"]) + bool(body))
        return self.answer(200, objects[path])

    def body(self):
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def do_GET(self):
        if self.path.partition("?")[0] in self.server.owner.objects:
            return self.stored()
        return super().do_GET()

    def do_PUT(self):
        return self.stored(self.body())

    def do_PATCH(self):
        """Apply a strategic merge patch: entries of webhooks are merged by their names."""
        patch = self.body()
        config = self.server.owner.objects[self.path.partition("?")[0]]
        for hook in patch["webhooks"]:
            for mine in config["webhooks"]:
                if mine["name"] == hook["name"]:
                    mine["clientConfig"].update(hook["clientConfig"])
        return self.stored(config)

    def do_POST(self):
        self.body()
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        return self.answer(201, {"metadata": {"creationTimestamp": now}})


class Server(live_server.FakeServer):
    def __init__(self, folder):
        super().__init__(folder)
        self.objects = {SECRET: {
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": "tls", "resourceVersion": "1"}}}
        for path in CONFIGS:
            self.objects[path] = {"metadata": {
                "name": "gpugate", "uid": path, "resourceVersion": "1"},
                "webhooks": [{"name": "%d.gpugate.dev" % i, "clientConfig": {}}
                             for i in range(3)]}


def b64(path):
    with open(path, "rb") as file:
        return base64.b64encode(file.read()).decode()


class Client:
    """A gpugated that watches the server."""

    def __init__(self, program, folder, faults, server, **more):
        config = os.path.join(folder, "kubeconfig")
        with open(config, "w", encoding="utf-8") as file:
            json.dump({
                "apiVersion": "v1", "kind": "Config", "current-context": "a",
                "contexts": [{"name": "a",
                              "context": {"cluster": "b", "user": "c"}}],
                "clusters": [{"name": "b", "cluster": {
                    "server": "https://127.0.0.1:%d" % server.port,
                    "certificate-authority-data": b64(folder + "/ca.crt")}}],
                "users": [{"name": "c", "user": {
                    "client-certificate-data": b64(folder + "/client.crt"),
                    "client-key-data": b64(folder + "/client.key")}}]}, file)
        self.log = os.path.join(folder, "log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [program, "--listen", "127.0.0.1:0", "--probe-listen",
                 "127.0.0.1:0", "--kubeconfig", config, "--live", "on",
                 "--self-managed", "--secret", "tls", "--namespace", "ns",
                 "--webhook-config", "gpugate", "--dns", "localhost",
                 "--ca-life", "20s", "--leaf-life", "8s", "--ca-settle", "1s",
                 "--threads", "1"], stderr=log,
                env=faults.environment(FAULT_ALLOCATE=2, **more))

    def text(self):
        with open(self.log, encoding="utf-8") as log:
            return log.read()

    def port(self, message):
        found = re.search(r'"msg":"%s".*"port":(\d+)' % message, self.text())
        return int(found.group(1)) if found else None

    def probe(self, path):
        link = http.client.HTTPConnection(
            "localhost", self.port("probes listening"), timeout=20)
        try:
            link.request("GET", path)
            reply = link.getresponse()
            return reply.status, reply.read().decode()
        finally:
            link.close()

    def figure(self, name):
        found = re.search(r"^%s (\S+)$" % re.escape(name),
                          self.probe("/metrics")[1], re.M)
        return float(found.group(1)) if found else None

    def is_trusted(self, server):
        """Return true if every webhook of the configurations trusts the
        server's certificate."""
        hooks = [hook["clientConfig"].get("caBundle", "") for path in CONFIGS
                 for hook in server.objects[path]["webhooks"]]
        if not all(hooks):
            return False
        for bundle in set(hooks):
            context = ssl.create_default_context(
                cadata=base64.b64decode(bundle).decode())
            try:
                link = http.client.HTTPSConnection(
                    "localhost", self.port("listening"), timeout=20,
                    context=context)
                link.connect()
                link.close()
            except ssl.SSLError:
                return False
        return True


def until(what, seconds=90):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.1)
    return False


def change(server, choose):
    """Create, change and delete some objects."""
    for _ in range(40):
        name = "%s-%d" % (choose.choice("abc"), choose.randrange(40))
        plural = choose.choice(list(KINDS))
        if ("ns", name) in server.store[plural] and choose.random() < 0.4:
            server.remove(plural, name, "ns")
        elif plural == "pods":
            server.pod(name, "ns", str(choose.randint(1, 8)))
        else:
            server.quota(name, "ns", str(choose.randint(1, 80)))
        time.sleep(0.005)
    if choose.random() < 0.2:
        server.compact()


def is_whole(client, server):
    """Return true if the metrics show the server's number of objects of each kind."""
    return all(client.figure('gpugate_cluster_objects{kind="%s",group=""}'
                             % kind) == len(server.store[plural])
               for plural, kind in KINDS.items())


def run(n, program, library):
    choose, injected, seed, failed = random.Random(SEED), 0, 0, 0
    counted = 0

    def say(good, what):
        nonlocal failed
        if not good:
            failed += 1
            print("%s: seed %d, %s" % (what, seed, client.text()[-2000:]))

    with tempfile.TemporaryDirectory() as folder:
        live_server.certificates(folder)
        live_server.Handler = Handler
        while injected < n and seed < n:
            seed += 1
            server = Server(folder).start()
            faults = Faults(folder, library)
            client = Client(program, folder, faults, server, FAULT_SEED=seed,
                            FAULT_EVERY=(30, 100, 400, 2000)[seed % 4])
            say(until(lambda: '"msg":"ready"' in client.text()), "not ready")
            faults.arm()
            for _ in range(30):
                change(server, choose)
            injected += faults.failures()
            faults.arm(0)
            if client.process.poll() is not None:
                say(False, "ended with %d" % client.process.returncode)
            else:
                say(until(lambda: is_whole(client, server)), "another state")
                say(until(lambda: client.is_trusted(server)), "not trusted")
                say(client.probe("/readyz")[0] == 200, "not ready again")
                counted += client.figure("gpugate_cluster_out_of_memory_total")
                client.process.kill()
            client.process.wait()
            server.stop()
    print("cluster: %d failures injected, %d counted, %d failed"
          % (injected, counted, failed))
    return 1 if failed or not injected or not counted else 0


if __name__ == "__main__":
    sys.exit(run(int(sys.argv[1]), *sys.argv[2:]))
