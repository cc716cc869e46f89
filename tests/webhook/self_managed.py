# SPDX-License-Identifier: Apache-2.0
"""Test two replicas that manage their own certificates, with a real kube-apiserver.

usage: self_managed.py GPUGATED CLUSTER-FOLDER ADDRESS PORT PORT PROBE PROBE

Each admission calls both replicas twice, because the mutating and the validating
configuration have an entry for each of them. Besides the API server, a client of
the test opens new connections all the time, with every CA bundle that an API
server may still use, because a kept connection does not verify the certificate
again.
"""
import base64
import http.client
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from apiserver import Server  # noqa: E402

program, folder, address = sys.argv[1:4]
ports = [int(p) for p in sys.argv[4:6]]
probes = [int(p) for p in sys.argv[6:8]]
USER = "system:serviceaccount:gpugate-system:gpugate"
SECRET = "/api/v1/namespaces/gpugate-system/secrets/gpugate-tls"
CONFIGS = ["/apis/admissionregistration.k8s.io/v1/%swebhookconfigurations"
           "/gpugate" % kind for kind in ("mutating", "validating")]
SETTLE = 3
passed = failed = 0
admin = Server(folder)


def say(good, what, *more):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print("FAILED", what, *(str(m)[:600] for m in more), flush=True)


def until(seconds, what):
    end = time.time() + seconds
    while time.time() < end:
        value = what()
        if value:
            return value
        time.sleep(0.1)
    return what()


def merge(path, body):
    return admin.request("PATCH", path, body,
                         {"Content-Type": "application/merge-patch+json"})


# --- replicas ----------------------------------------------------------------

class Replica:
    def __init__(self, number):
        self.number = number
        self.log = f"{folder}/gpugated-{number}.log"
        self.process = None

    def start(self, *more):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [program, "--listen", f"{address}:{ports[self.number]}",
                 "--probe-listen", f"127.0.0.1:{probes[self.number]}",
                 "--kubeconfig", f"{folder}/account.kubeconfig",
                 "--live=off", "--self-managed", "--secret=gpugate-tls",
                 "--namespace=gpugate-system", "--webhook-config=gpugate",
                 "--dns=gpugate.gpugate-system.svc," + address,
                 f"--ca-settle={SETTLE}s", *more], stderr=log)

    def get(self, path):
        link = http.client.HTTPConnection("127.0.0.1", probes[self.number],
                                          timeout=5)
        try:
            link.request("GET", path)
            reply = link.getresponse()
            return reply.status, reply.read().decode()
        except OSError as error:
            return 0, str(error)

    def ready(self):
        return self.get("/readyz")[0] == 200

    def stop(self, number=signal.SIGINT):
        """Stop the process; a second signal disconnects clients."""
        for again in (number, number, signal.SIGKILL):
            self.process.send_signal(again)
            try:
                self.process.wait(5)
                return
            except subprocess.TimeoutExpired:
                pass
        self.process.wait()

    def answered(self):
        return sum(float(line.split()[-1])
                   for line in self.get("/metrics")[1].splitlines()
                   if line.startswith("gpugate_admission_requests_total{"))

    def said(self, text):
        with open(self.log, encoding="utf-8") as log:
            return log.read().count(text)


replicas = [Replica(0), Replica(1)]


def start(*more):
    for r in replicas:
        r.start(*more)
    return until(60, lambda: all(r.ready() for r in replicas))


def webhook(replica, path):
    return {"name": f"r{replica}.{path}.gpugate.dev",
            "clientConfig": {
                "url": f"https://{address}:{ports[replica]}/{path}"},
            "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "failurePolicy": "Fail", "timeoutSeconds": 5,
            "namespaceSelector": {"matchLabels": {
                "kubernetes.io/metadata.name": "ml"}},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"],
                       "operations": ["CREATE"], "resources": ["pods"],
                       "scope": "Namespaced"}]}


def configure():
    for path, kind in zip(CONFIGS, ("Mutating", "Validating")):
        status, body, _ = admin.request("POST", os.path.dirname(path), {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": kind + "WebhookConfiguration",
            "metadata": {"name": "gpugate"},
            "webhooks": [webhook(r, "mutate" if kind == "Mutating"
                                 else "validate") for r in (0, 1)]})
        say(status == 201, "configuration", body)


# --- admissions --------------------------------------------------------------

POD = {"apiVersion": "v1", "kind": "Pod",
       "metadata": {"name": "train", "namespace": "ml"},
       "spec": {"containers": [{"name": "main", "image": "busybox",
                                "resources": {"limits": {"cpu": "1"}}}]}}


class Load:
    """Creates objects by dry run, continuously."""

    def __init__(self, rate):
        self.pause = 1 / rate
        self.good = 0
        self.bad = []
        self.ended = False
        self.began = time.time()
        self.threads = [threading.Thread(target=self.run, daemon=True)
                        for _ in range(2)]
        for t in self.threads:
            t.start()

    def run(self):
        server = Server(folder)
        while not self.ended:
            begun = time.time()
            try:
                status, body, _ = server.create(POD, dry_run=True)
            except OSError as error:
                status, body = 0, error
            if status == 201:
                self.good += 1
            else:
                self.bad.append((begun - self.began, status, body))
            time.sleep(max(0, 2 * self.pause - (time.time() - begun)))

    def end(self):
        self.ended = True
        for t in self.threads:
            t.join()
        return self.good / (time.time() - self.began)


class Handshakes:
    """Opens new connections, verified with every bundle of the last seconds."""

    def __init__(self):
        self.bundles = {p: [] for p in CONFIGS}  # (from, until, text)
        self.good = 0
        self.bad = []
        self.watched = set(replicas)
        self.ended = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def look(self, server, path):
        _, body, _ = server.request("GET", path)
        texts = {w["clientConfig"].get("caBundle", "")
                 for w in body["webhooks"]}
        now = time.time()
        kept = self.bundles[path]
        if not kept or kept[-1][2] != texts:
            if kept:
                kept[-1][1] = now
            kept.append([now, None, texts])
        kept[:] = [k for k in kept if not k[1] or k[1] > now - SETTLE + 1]
        return {t for k in kept for t in k[2]}

    def verify(self, replica, text):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(cadata=base64.b64decode(text).decode())
        with socket.create_connection((address, ports[replica.number]),
                                      timeout=5) as link:
            with context.wrap_socket(link, server_hostname=address):
                self.good += 1

    def run(self):
        server = Server(folder)
        while not self.ended:
            texts = set().union(*(self.look(server, p) for p in CONFIGS))
            for text in texts - {""}:
                for replica in list(self.watched):
                    try:
                        self.verify(replica, text)
                    except (OSError, ssl.SSLError) as error:
                        self.bad.append((time.time(), replica.number, error))
            time.sleep(0.05)

    def end(self):
        self.ended = True
        self.thread.join()


# --- stored objects ----------------------------------------------------------

def secret():
    status, body, _ = admin.request("GET", SECRET)
    return body if status == 200 else {}


def stored(key):
    return base64.b64decode((secret().get("data") or {}).get(key, ""))


def versions():
    return [admin.request("GET", p)[1]["metadata"]["resourceVersion"]
            for p in [SECRET, *CONFIGS]]


def is_whole():
    """Return true if the current CA signed the leaf, and every webhook
    configuration has the stored CAs as its bundle."""
    with open(folder + "/look.ca", "wb") as out:
        out.write(stored("ca.crt"))
    with open(folder + "/look.tls", "wb") as out:
        out.write(stored("tls.crt"))
    run = subprocess.run(["openssl", "verify", "-CAfile", folder + "/look.ca",
                          folder + "/look.tls"], capture_output=True,
                         check=False)
    wanted = stored("ca.crt") + stored("ca-old.crt")
    return run.returncode == 0 and all(
        base64.b64decode(w["clientConfig"].get("caBundle", "")) == wanted
        for p in CONFIGS for w in admin.request("GET", p)[1]["webhooks"])


# --- the tests ---------------------------------------------------------------

def refused():
    """Check that gpugated's rights allow no other Secret, and its own one only with its
    name in the path."""
    ours, path = Server(folder, USER), os.path.dirname(SECRET)
    other = {"apiVersion": "v1", "kind": "Secret",
             "metadata": {"name": "other"}}
    kind = {"Content-Type": "application/apply-patch+yaml"}
    for what, arguments in (
            ("read", ("GET", path + "/other")),
            ("listed", ("GET", path + "?fieldManager=refused")),
            ("applied", ("PATCH", path + "/other?fieldManager=refused", other,
                         kind)),
            ("posted", ("POST", path + "?fieldManager=refused", other)),
            ("posted by our name", ("POST", path + "?fieldManager=refused", {
                **other, "metadata": {"name": "gpugate-tls"}})),
            ("deleted", ("DELETE", SECRET + "?fieldManager=refused"))):
        status = ours.request(*arguments)[0]
        say(status == 403, f"no Secret is {what}", status)


def begin():
    refused()
    # The Secret may be missing, after an install by hand or by a tool that prunes.
    admin.request("DELETE", SECRET)
    # A replica compares its clock with the time in this response.
    status, body, _ = Server(folder, USER).request(
        "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "SelfSubjectReview"})
    say(status == 201 and body["metadata"].get("creationTimestamp", "")
        .startswith(time.strftime("%Y-%m-%dT%H:", time.gmtime())),
        "the API server tells its time", body)
    configure()
    for r in replicas:
        r.start("--ca-life=36s", "--leaf-life=18s")
    say(until(30, lambda: all(r.ready() for r in replicas)),
        "a Secret is made and filled", *(r.get("/readyz") for r in replicas))
    say(is_whole(), "the bundle is written")


def rotate():
    """Test that no admission and no handshake fails during three changes of the CA,
    with more changes of the leaf."""
    load, handshakes = Load(30), Handshakes()
    cas, leaves = [stored("ca.crt")], [stored("tls.crt")]
    begun, answered = time.time(), [r.answered() for r in replicas]
    while time.time() < begun + 150:
        for key, seen in (("ca.crt", cas), ("tls.crt", leaves)):
            text = stored(key)
            if text != seen[-1]:
                seen.append(text)
        if len(cas) > 3 and is_whole():
            break
        time.sleep(0.2)
    seconds = time.time() - begun
    rate = load.end()
    handshakes.end()
    say(len(cas) > 3, "three new CAs", len(cas))
    say(not load.bad, "no admission fails", len(load.bad), load.bad[:3])
    say(rate >= 20, "20 admissions a second", rate)
    say(not handshakes.bad, "no handshake fails", len(handshakes.bad),
        handshakes.bad[:3])
    for r, before in zip(replicas, answered):
        say(r.answered() - before >= 2 * load.good,
            "each admission calls every replica twice", r.answered())
    print(f"{len(cas) - 1} CAs and {len(leaves) - 1} certificates in "
          f"{seconds:.0f} s: {load.good} admissions ({rate:.0f}/s), "
          f"{len(load.bad)} failed; {handshakes.good} handshakes, "
          f"{len(handshakes.bad)} failed", flush=True)


def quiet():
    """Restart with longer lives; check that nothing is written while no step is due."""
    for r in replicas:
        r.stop()
    say(start("--ca-life=900s", "--leaf-life=300s"), "restart")
    # The stored certificates have short lives, so they are replaced at once.
    merge(SECRET, {"data": None})
    say(until(60, lambda: stored("tls.crt") and is_whole()),
        "an emptied Secret is filled again")
    until(60, lambda: all(r.ready() for r in replicas))
    time.sleep(2)
    before = versions()
    time.sleep(12)
    say(versions() == before, "nothing is written", before, versions())


class Calm:
    """Checks that no admission and no handshake fails in the meantime."""

    def __init__(self, what):
        self.what = what

    def __enter__(self):
        self.load, self.handshakes = Load(20), Handshakes()
        return self

    def __exit__(self, *_):
        time.sleep(1)
        self.load.end()
        self.handshakes.end()
        say(not self.load.bad and self.load.good > 20,
            f"{self.what}: admissions", self.load.good, len(self.load.bad),
            self.load.bad[:2])
        say(not self.handshakes.bad, f"{self.what}: handshakes",
            len(self.handshakes.bad), self.handshakes.bad[:2])
        print(f"{self.what}: {self.load.good} admissions, "
              f"{len(self.load.bad)} failed", flush=True)


def broken():
    for what, data in (
            ("no CA key", {"ca.key": None}),
            ("another's key", {"ca.key": base64.b64encode(b"x").decode()}),
            ("garbage", {k: "Z2FyYmFnZQ==" for k in
                         ("ca.crt", "ca.key", "tls.crt", "tls.key")}),
            ("no certificate", {"tls.crt": None, "tls.key": None})):
        before = stored("tls.crt")
        with Calm(what):
            merge(SECRET, {"data": data})
            say(until(40, lambda: stored("tls.crt") not in (
                before, b"", b"garbage") and is_whole()), what + " is healed")


def deleted():
    with Calm("Secret deleted"):
        before = stored("ca.crt")
        admin.request("DELETE", SECRET)
        say(until(60, lambda: stored("tls.crt") and is_whole()),
            "it is made anew")
        say(stored("ca.crt") != before, "with a new CA")
    role = "/apis/rbac.authorization.k8s.io/v1/namespaces/gpugate-system" \
        "/roles/gpugate-certificates"
    rules = admin.request("GET", role)[1]["rules"]
    rules[0]["verbs"].remove("create")
    merge(role, {"rules": rules})
    with Calm("Secret deleted, create not granted"):
        admin.request("DELETE", SECRET)
        say(until(60, lambda: any(
            r.said("cannot be created") for r in replicas)), "it is told")
        say(not secret(), "gpugated may not create it")
        admin.request("POST", os.path.dirname(SECRET), {
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": "gpugate-tls"}})
        say(until(90, lambda: stored("tls.crt") and is_whole()),
            "an empty one is filled")


def wiped():
    load = Load(20)
    time.sleep(1)
    for path in CONFIGS:
        body = admin.request("GET", path)[1]
        for entry in body["webhooks"]:
            entry["clientConfig"].pop("caBundle", None)
        say(admin.request("PUT", path, body)[0] == 200, "wiped")
    begun = time.time()
    say(until(40, is_whole), "wiped bundles are healed")
    print(f"wiped bundles were healed after {time.time() - begun:.1f} s",
          flush=True)
    time.sleep(1.5)
    healed = time.time() - load.began
    time.sleep(3)
    load.end()
    late = [b for b in load.bad if b[0] > healed]
    say(not late, "admissions after that", len(late), late[:2])


def killed():
    """Test a replica that is killed while a new CA settles: the other one
    serves and completes the rotation."""
    for path in CONFIGS:
        body = admin.request("GET", path)[1]
        body["webhooks"] = body["webhooks"][1:]
        say(admin.request("PUT", path, body)[0] == 200, "one entry")
    time.sleep(1)
    before = stored("ca.crt")
    load, handshakes = Load(20), Handshakes()
    handshakes.watched.remove(replicas[0])
    merge(SECRET, {"data": {"ca.key": None}})
    until(40, lambda: stored("ca.crt") != before)
    replicas[0].stop(signal.SIGKILL)
    say(not is_whole(), "it was in the middle")
    say(until(40, is_whole), "the other goes on")
    replicas[0].start("--ca-life=900s", "--leaf-life=300s")
    say(until(60, replicas[0].ready), "it comes back",
        replicas[0].get("/readyz"))
    handshakes.watched.add(replicas[0])
    time.sleep(2)
    load.end()
    handshakes.end()
    say(not load.bad, "admissions", len(load.bad), load.bad[:2])
    say(not handshakes.bad, "handshakes", len(handshakes.bad),
        handshakes.bad[:2])
    print(f"one killed: {load.good} admissions, {len(load.bad)} failed",
          flush=True)


try:
    for test in (begin, rotate, quiet, broken, deleted, wiped, killed):
        test()
finally:
    for each in replicas:
        if each.process and each.process.poll() is None:
            each.stop()
if failed:
    for each in replicas:
        with open(each.log, encoding="utf-8") as lines:
            print("".join(lines.readlines()[-40:]))
print(f"self-managed: {passed} passed, {failed} failed")
sys.exit(failed > 0)
