# SPDX-License-Identifier: Apache-2.0
"""Both programs while calls of theirs fail.

usage: faults.py lint N GPUGATE FAULT_SO MANIFEST
       faults.py serve N GPUGATED FAULT_SO CERTS
"""
import collections
import http.client
import json
import mmap
import os
import random
import re
import ssl
import struct
import subprocess
import sys
import tempfile
import time

BUG_STATUS = 70
SEED = 20


class Faults:
    """The numbers that fault.c shares."""

    def __init__(self, folder, library):
        self.path = os.path.join(folder, "faults")
        with open(self.path, "wb") as file:
            file.write(bytes(4096))
        self.file = open(self.path, "r+b")
        self.map = mmap.mmap(self.file.fileno(), 4096)
        self.library = library

    def arm(self, on=1):
        self.map[:24] = struct.pack("<QQQ", on, 0, 0)

    def calls(self):
        return struct.unpack("<Q", self.map[8:16])[0]

    def failures(self):
        return struct.unpack("<Q", self.map[16:24])[0]

    def environment(self, **more):
        return dict(os.environ, LD_PRELOAD=self.library, FAULT_FILE=self.path,
                    **{k: str(v) for k, v in more.items()})


class Problems:
    def __init__(self):
        self.seen = collections.Counter()
        self.outcomes = collections.Counter()

    def add(self, text, where):
        self.seen[text] += 1
        if self.seen[text] <= 3:
            print("%s: %s" % (text, where))

    def end(self, what, failures):
        print("%s: %d failures injected, outcomes %s" %
              (what, failures, dict(self.outcomes)))
        return 1 if self.seen or not failures else 0


# --- the linter ------------------------------------------------------------

COMMANDS = {
    "report": ["--format", "json:out.json", "a.yaml"],
    "fix": ["--fix", "--unsafe-fixes", "--format", "concise", "a.yaml"],
    "baseline": ["--write-baseline", "base.json", "a.yaml"],
}


class Linter:
    def __init__(self, program, folder, faults, manifest):
        self.program, self.folder, self.faults = program, folder, faults
        with open(manifest, "rb") as file:
            self.manifest = file.read()

    def run(self, name, at, allocate=1):
        for entry in os.listdir(self.folder):
            os.unlink(os.path.join(self.folder, entry))
        with open(os.path.join(self.folder, "a.yaml"), "wb") as file:
            file.write(self.manifest)
        self.faults.arm()
        return subprocess.run(
            [self.program, "lint", "--isolated", "-j1"] + COMMANDS[name],
            cwd=self.folder, env=self.faults.environment(FAULT_AT=at,
                                        FAULT_ALLOCATE=allocate),
            capture_output=True, check=False)

    def files(self):
        found = {}
        for entry in sorted(os.listdir(self.folder)):
            with open(os.path.join(self.folder, entry), "rb") as file:
                found[entry] = file.read()
        return found


def check_lint(linter, problems, name, at, allocate, truth):
    status, files = truth
    result = linter.run(name, at, allocate)
    now = linter.files()
    where = "%s, call %d: %d, %s" % (name, at, result.returncode,
                                     result.stderr[-200:])
    problems.outcomes[result.returncode] += 1
    if result.returncode == -6:
        if b"out of memory" not in result.stderr:
            problems.add("aborted without a reason", where)
    elif result.returncode not in (2, status):
        problems.add("another status", where)
    if now.get("a.yaml") not in (linter.manifest, files["a.yaml"]):
        problems.add("half a manifest", where)
    # What was reported in order is whole.
    if result.returncode == status and now != files:
        problems.add("another result without an error", where)
    if now.get("base.json") not in (None, files.get("base.json")):
        problems.add("half a baseline", where)
    return linter.faults.failures()


def lint(n, program, library, manifest):
    problems, injected = Problems(), 0
    choose = random.Random(SEED)
    with tempfile.TemporaryDirectory() as top:
        folder = os.path.join(top, "work")
        os.mkdir(folder)
        linter = Linter(program, folder, Faults(top, library), manifest)
        for name in COMMANDS:
            for allocate in 0, 1:
                truth = (linter.run(name, 0, allocate).returncode,
                         linter.files())
                calls = linter.faults.calls()
                for i in range(n // len(COMMANDS) // 2):
                    # Few calls are not of memory: each of them in turn.
                    at = choose.randint(1, calls) if allocate else \
                        i % calls + 1
                    injected += check_lint(linter, problems, name, at,
                                           allocate, truth)
    return problems.end("lint", injected)


# --- the webhook -----------------------------------------------------------

POD = {"apiVersion": "v1", "kind": "Pod",
       "metadata": {"name": "p", "namespace": "a",
                    "annotations": {"notes": "n" * 20000}},
       "spec": {"containers": [{
           "name": "c", "image": "registry.example.com/a:1",
           "resources": {"limits": {"nvidia.com/gpu": "1"},
                         "requests": {"nvidia.com/gpu": "2"}}}]}}
REVIEW = json.dumps({
    "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
    "request": {"uid": "u", "operation": "CREATE", "namespace": "a",
                "name": "p", "userInfo": {"username": "alice"},
                "kind": {"group": "", "version": "v1", "kind": "Pod"},
                "object": POD}})


class Webhook:
    def __init__(self, program, folder, faults, certs):
        self.program, self.folder, self.faults = program, folder, faults
        self.certs = certs
        self.context = ssl.create_default_context(
            cafile=os.path.join(certs, "ca.crt"))

    def start(self, **faults):
        self.log = os.path.join(self.folder, "log")
        self.faults.arm(0)
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [self.program, "--listen", "127.0.0.1:0", "--probe-listen",
                 "127.0.0.1:0", "--live", "off", "--threads", "2",
                 "--tls-cert", os.path.join(self.certs, "tls.crt"),
                 "--tls-key", os.path.join(self.certs, "tls.key")],
                env=self.faults.environment(**faults), stderr=log)
        for _ in range(600):
            text = self.text()
            if '"msg":"ready"' in text:
                break
            time.sleep(0.02)
        self.port = int(re.search(r'"msg":"listening".*"port":(\d+)',
                                  text).group(1))
        self.faults.arm()

    def text(self):
        with open(self.log, encoding="utf-8") as log:
            return log.read()

    def ask(self):
        connection = http.client.HTTPSConnection(
            "localhost", self.port, timeout=20, context=self.context)
        try:
            connection.request("POST", "/validate", REVIEW,
                               {"Content-Type": "application/json"})
            reply = connection.getresponse()
            body = reply.read()
            if reply.status != 200:
                return str(reply.status)
            allowed = json.loads(body)["response"]["allowed"]
            return "allowed" if allowed else "denied"
        except (OSError, http.client.HTTPException):
            return "no answer"
        finally:
            connection.close()

    def stop(self):
        """None: it was alive."""
        status = self.process.poll()
        self.faults.map[:8] = struct.pack("<Q", 0)
        if status is None:
            self.process.kill()
            self.process.wait()
        return status


def check_end(webhook, problems, where):
    status = webhook.stop()
    problems.outcomes["alive" if status is None else status] += 1
    if status is None:
        return
    lines = webhook.text().splitlines()
    if status != BUG_STATUS or not lines:
        problems.add("ended with %d" % status, where)
    elif '"reason":"' not in lines[-1] and not any(
            '"a bug of gpugated' in line for line in lines):
        # The line itself may be what was not written.
        problems.outcomes["without its line"] += 1


def serve(n, program, library, certs):
    problems, injected, seed = Problems(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        webhook = Webhook(program, folder, Faults(folder, library), certs)
        while injected < n and seed < n:
            seed += 1
            # Memory ends the process, all else only a connection.
            memory = seed % 3 != 0
            webhook.start(FAULT_SEED=seed, FAULT_ALLOCATE=int(memory),
                          FAULT_EVERY=60 if memory else 12)
            where = "seed %d" % seed
            for _ in range(60):
                answer = webhook.ask()
                problems.outcomes[answer] += 1
                if answer == "allowed":
                    problems.add("allowed what is denied", where)
                if webhook.process.poll() is not None:
                    break
            injected += webhook.faults.failures()
            check_end(webhook, problems, where)
    return problems.end("serve", injected)


if __name__ == "__main__":
    run = {"lint": lint, "serve": serve}[sys.argv[1]]
    sys.exit(run(int(sys.argv[2]), *sys.argv[3:]))
